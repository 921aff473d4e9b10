// generate: token ids in, token ids out.
#include "cli/id_list.h"
#include "cli/model_text.h"
#include "cli/reply.h"
#include "cli/sampling.h"

#include <stdio.h>

static void print_json(const struct ids *ids, const struct engine_stats *stats) {
    printf("{\"ids\": [");
    for (size_t i = 0; i < ids->n; i++) printf(i ? ", %d" : "%d", ids->at[i]);
    printf("], \"token_sha\": \"%s\", \"timings\": {\"prompt_ms\": %.3f, \"decode_ms\": %.3f}, \"prefill_widths\": [",
           stats->token_sha, stats->prompt_ms, stats->decode_ms);
    for (size_t i = 0; i < stats->n_prefill_widths; i++) printf(i ? ", %u" : "%u", stats->prefill_widths[i]);
    printf("]}\n");
}

static void print_plain(const struct ids *ids) {
    for (size_t i = 0; i < ids->n; i++) printf(i ? ",%d" : "%d", ids->at[i]);
    printf("\n");
}

static enum status generate(struct session *s, const struct options *o, const struct ids *prompt, struct ids *reply,
                            struct err *e) {
    int32_t end_ids[END_IDS_MAX];
    struct engine_request request = {.prompt = prompt->at,
                                     .n_prompt = prompt->n,
                                     .max_tokens = options_count(o, FLAG_MAX_TOKENS, 0),
                                     .stop_ids = end_ids};
    if (options_has(o, FLAG_STOP_AT_EOS)) TRY(model_text_end_ids(s->checkpoint, NULL, end_ids, &request.n_stop_ids, e));
    sampling_from_flags(o, &request.rule);
    request.rule.seed = sampling_seed(o, prompt->at, prompt->n);
    uint64_t stream;
    struct engine_event end;
    TRY(session_load(s, o, e));
    TRY(session_check_ids(s, prompt->at, prompt->n, e));
    TRY(engine_submit(s->engine, &request, &stream, e));
    TRY(reply_ids(s, stream, reply, &end, e));
    if (options_has(o, FLAG_JSON)) {
        print_json(reply, &end.stats);
    } else {
        print_plain(reply);
    }
    return STATUS_OK;
}

enum status cmd_generate(const struct options *o, struct command_error *e) {
    struct session s = {0};
    struct ids prompt = {0}, reply = {0};
    enum status status = id_list_parse(options_text(o, FLAG_IDS), &prompt, &e->usage, &e->err);
    if (status == STATUS_OK) {
        e->usage = false;
        status = session_open(&s, o, o->operands[0], e);
    }
    if (status == STATUS_OK) status = generate(&s, o, &prompt, &reply, &e->err);
    session_close(&s);
    ids_fini(&prompt);
    ids_fini(&reply);
    return status;
}
