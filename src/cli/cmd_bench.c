// bench: prompt and decode speed beside what the memory gives.
#include "cli/id_list.h"
#include "cli/reply.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 1000 };

struct bench {
    struct session session;
    uint64_t prompt_tokens, decode_tokens, depth, runs;
    struct ids prompt, reply;
    double prompt_tps[RUNS_MAX], decode_tps[RUNS_MAX];
    double bytes_per_token; // weights, state and the mean of the cache that a decoded token reads
    double bandwidth;       // bytes a second
    char token_sha[13];     // of the measured reply
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, size_t n) {
    double sorted[RUNS_MAX];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, compare);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

// Ids spread over the vocabulary, the same in every run and build.
static enum status make_prompt(struct bench *b, struct err *e) {
    uint64_t n = b->prompt_tokens > b->depth ? b->prompt_tokens : b->depth;
    uint32_t vocab = b->session.model->geometry.vocab, state = 1;
    for (uint64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        TRY(ids_push(&b->prompt, (int32_t)((state >> 8) % vocab), e));
    }
    return STATUS_OK;
}

static enum status measure(struct bench *b, uint64_t n_prompt, uint64_t max_tokens, struct engine_stats *stats,
                           struct err *e) {
    struct engine_request request = {.prompt = b->prompt.at, .n_prompt = (size_t)n_prompt, .max_tokens = max_tokens};
    struct engine_event end;
    uint64_t stream;
    b->reply.n = 0;
    TRY(engine_submit(b->session.engine, &request, &stream, e));
    TRY(reply_ids(&b->session, stream, &b->reply, &end, e));
    *stats = end.stats;
    return STATUS_OK;
}

// One run: a prompt up to its first token, then a reply of decode_tokens behind `depth` tokens, its first not timed.
static enum status run_once(struct bench *b, double *prompt_tps, double *decode_tps, struct err *e) {
    struct engine_stats stats;
    TRY(measure(b, b->prompt_tokens, 1, &stats, e));
    *prompt_tps = (double)b->prompt_tokens * 1e3 / stats.prompt_ms;
    TRY(measure(b, b->depth, b->decode_tokens + 1, &stats, e));
    if (stats.reply_tokens != b->decode_tokens + 1) {
        return err_set(e, STATUS_TOO_LARGE, "depth and reply do not fit into the context of %u tokens",
                       b->session.model->geometry.context);
    }
    *decode_tps = (double)b->decode_tokens * 1e3 / stats.decode_ms;
    if (b->token_sha[0] && strcmp(b->token_sha, stats.token_sha) != 0) {
        return err_set(e, STATUS_INTERNAL, "two runs gave different tokens: %s and %s", b->token_sha, stats.token_sha);
    }
    memcpy(b->token_sha, stats.token_sha, sizeof b->token_sha);
    return STATUS_OK;
}

static enum status run_all(struct bench *b, const struct options *o, struct err *e) {
    struct session *s = &b->session;
    struct model_options options = session_model_options(o);
    struct model_info info;
    TRY(model_inspect(s->checkpoint, s->backend, &options, &info, e));
    double mean_depth = (double)b->depth + (double)b->decode_tokens / 2;
    b->bytes_per_token = (double)(info.token_read_bytes + info.state_bytes);
    b->bytes_per_token += mean_depth * (double)info.cache_token_bytes;
    model_info_fini(&info);
    TRY(session_load(s, o, e));
    TRY(make_prompt(b, e));
    double warm_prompt, warm_decode;
    TRY(run_once(b, &warm_prompt, &warm_decode, e));
    for (uint64_t i = 0; i < b->runs; i++) TRY(run_once(b, &b->prompt_tps[i], &b->decode_tps[i], e));
    b->bandwidth = s->backend->ops->read_bandwidth(s->backend, (size_t)(4 * cpu_last_cache_bytes()));
    return STATUS_OK;
}

static void print_list(const char *name, const double *values, size_t n) {
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < n; i++) printf(i ? ", %.2f" : "%.2f", values[i]);
    printf("]");
}

static void print_result(const struct bench *b, const struct options *o) {
    char device[128];
    b->session.backend->ops->describe(b->session.backend, device, sizeof device);
    size_t n = (size_t)b->runs;
    double decode = median(b->decode_tps, n), prompt = median(b->prompt_tps, n);
    double rate = decode * b->bytes_per_token;
    if (!options_has(o, FLAG_JSON)) {
        printf("%s\nprompt %.1f tok/s (%llu tokens), decode %.1f tok/s (%llu tokens behind %llu)\n", device, prompt,
               (unsigned long long)b->prompt_tokens, decode, (unsigned long long)b->decode_tokens,
               (unsigned long long)b->depth);
        printf("%.2f GB/s read while decoding, %.0f%% of %.2f GB/s; token_sha %s\n", rate * 1e-9,
               100 * rate / b->bandwidth, b->bandwidth * 1e-9, b->token_sha);
        return;
    }
    printf("{\"decode_tps\": %.2f, \"prompt_tps\": %.2f, \"gb_per_s\": %.3f, \"share_of_bandwidth\": %.4f, "
           "\"bandwidth_gb_per_s\": %.3f, \"threads\": %u, \"isa\": \"%s\", \"token_sha\": \"%s\", \"device\": \"%s\", "
           "\"prompt_tokens\": %llu, \"decode_tokens\": %llu, \"depth\": %llu, \"runs\": %llu",
           decode, prompt, rate * 1e-9, rate / b->bandwidth, b->bandwidth * 1e-9,
           (unsigned)options_count(o, FLAG_THREADS, cpu_count()),
           options_has(o, FLAG_ISA) ? options_text(o, FLAG_ISA) : isa_name(isa_best()), b->token_sha, device,
           (unsigned long long)b->prompt_tokens, (unsigned long long)b->decode_tokens, (unsigned long long)b->depth,
           (unsigned long long)b->runs);
    print_list("decode_tps_all", b->decode_tps, n);
    print_list("prompt_tps_all", b->prompt_tps, n);
    printf("}\n");
}

enum status cmd_bench(const struct options *o, struct command_error *e) {
    struct bench *b = mem_new(1, sizeof *b);
    if (!b) return err_set(&e->err, STATUS_NO_MEMORY, "no memory for the measurements");
    b->prompt_tokens = options_count(o, FLAG_PROMPT_TOKENS, 512);
    b->decode_tokens = options_count(o, FLAG_DECODE_TOKENS, 128);
    b->depth = options_count(o, FLAG_DEPTH, 1);
    b->runs = options_count(o, FLAG_RUNS, 5);
    enum status status = session_open(&b->session, o, o->operands[0], e);
    if (status == STATUS_OK) status = run_all(b, o, &e->err);
    if (status == STATUS_OK) print_result(b, o);
    session_close(&b->session);
    ids_fini(&b->prompt);
    ids_fini(&b->reply);
    mem_free(b);
    return status;
}
