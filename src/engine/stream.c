// A stream's memory, the rules that end it, and its figures.
#include "engine/stream.h"

#include "base/mem.h"

#include <string.h>

void stream_free(struct stream *s) {
    if (!s) return;
    mem_free(s->tokens);
    mem_free(s->pages);
    mem_free(s->prefill_widths);
    mem_free((void *)s->request.stop_ids);
    mem_free(s);
}

enum status stream_new(const struct engine_request *r, size_t context, struct stream **out, struct err *e) {
    struct stream *s = mem_new(1, sizeof *s);
    if (!s) return err_set(e, STATUS_NO_MEMORY, "no memory for a stream");
    s->request = *r;
    s->n_prompt = s->n_tokens = r->n_prompt;
    size_t room = context - r->n_prompt;
    s->n_tokens_max = r->n_prompt + (r->max_tokens && r->max_tokens < room ? (size_t)r->max_tokens : room);
    s->tokens = mem_new(s->n_tokens_max, sizeof *s->tokens);
    s->prefill_widths = mem_new(s->n_prompt, sizeof *s->prefill_widths);
    int32_t *stop_ids = mem_new(r->n_stop_ids, sizeof *stop_ids);
    s->request.stop_ids = stop_ids;
    if (!s->tokens || !s->prefill_widths || !stop_ids) {
        stream_free(s);
        return err_set(e, STATUS_NO_MEMORY, "no memory for a stream of %zu tokens", r->n_prompt);
    }
    memcpy(s->tokens, r->prompt, r->n_prompt * sizeof *s->tokens);
    if (r->n_stop_ids) memcpy(stop_ids, r->stop_ids, r->n_stop_ids * sizeof *stop_ids);
    s->request.prompt = s->tokens;
    *out = s;
    return STATUS_OK;
}

static bool is_stop_id(const struct stream *s, int32_t token) {
    for (size_t i = 0; i < s->request.n_stop_ids; i++)
        if (s->request.stop_ids[i] == token) return true;
    return false;
}

static bool end(struct stream *s, enum end_reason reason) {
    s->reason = reason;
    return false;
}

bool stream_commit(struct stream *s, int32_t token, bool *forced, const struct stream_sink *sink) {
    for (*forced = false;; *forced = true) {
        s->tokens[s->n_tokens++] = token;
        sink->token(sink->context, s, token);
        int32_t next = -1;
        enum accept verdict = ACCEPT_CONTINUE;
        if (s->request.accept) verdict = s->request.accept(s->request.accept_context, token, &next);
        if (is_stop_id(s, token)) return end(s, END_STOP_TOKEN);
        if (verdict == ACCEPT_STOP) return end(s, END_STOP_TEXT);
        if (s->n_tokens == s->n_tokens_max) {
            bool asked = s->request.max_tokens && s->n_tokens - s->n_prompt == s->request.max_tokens;
            return end(s, asked ? END_LENGTH : END_CONTEXT);
        }
        if (verdict != ACCEPT_FORCE) return true;
        token = next;
    }
}

void stream_stats(const struct stream *s, struct engine_stats *out) {
    *out = (struct engine_stats){
        .prompt_tokens = s->n_prompt,
        .reply_tokens = s->n_tokens - s->n_prompt,
        .rounds = s->rounds,
        .prefill_widths = s->prefill_widths,
        .n_prefill_widths = s->n_prefill_widths,
    };
    uint64_t first = s->first_token_ns ? s->first_token_ns : s->ended_ns;
    out->prompt_ms = clock_ms_between(s->submitted_ns, first);
    out->decode_ms = clock_ms_between(first, s->ended_ns);
    engine_token_sha(s->tokens + s->n_prompt, s->n_tokens - s->n_prompt, out->token_sha);
}
