// Requests to jobs, and jobs to text and figures.
#include "server/generation.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct generation {
    const struct serving *serving;
    yyjson_doc *doc;
    struct request request;
    struct prompt prompt;
    struct reply_rule rule;
    struct reply_text *text;
    struct stop_watch *watch; // the worker's thread alone uses it while there is a job
    struct job *job;          // NULL: a reply of no tokens, which is over at once
    struct reply_facts facts;
    uint64_t arrived_ns;
    bool has_first;
};

static enum status refuse_overflow(const struct generation *g, uint64_t asked, struct api_error *e) {
    const uint32_t context = g->serving->context;
    const char *field = g->request.route == API_CHAT ? "messages" : "prompt";
    size_t n = g->prompt.ids.n;
    if (asked <= 1) {
        return api_error_refuse(e, "context_length_exceeded", field,
                                "This model's maximum context length is %" PRIu32 " tokens. However, the prompt has "
                                "%zu tokens and leaves no room for a reply; shorten it to at most %" PRIu32 " tokens.",
                                context, n, context - (uint32_t)asked);
    }
    uint64_t prompt_room = asked < context ? context - asked : 0, reply_room = n < context ? context - n : 0;
    return api_error_refuse(e, "context_length_exceeded", field,
                            "This model's maximum context length is %" PRIu32 " tokens. However, the prompt has %zu "
                            "tokens and the reply asks for %" PRIu64 ". Beside such a reply a prompt of at most "
                            "%" PRIu64 " tokens fits, beside this prompt a reply of at most %" PRIu64 ".",
                            context, n, asked, prompt_room, reply_room);
}

// A reply that was asked for keeps its room; the server's own limit gives way to the prompt.
static enum status check_room(const struct generation *g, struct api_error *e) {
    uint64_t asked = g->request.limited ? g->request.max_tokens : 1, n = g->prompt.ids.n;
    if (n <= g->serving->context && asked <= g->serving->context - n) return STATUS_OK;
    return refuse_overflow(g, asked, e);
}

static void write_id(enum api_route route, char *out, size_t size) {
    uint64_t r[2] = {0};
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r) r[0] = (uint64_t)(uintptr_t)out;
    snprintf(out, size, "%s%016" PRIx64 "%016" PRIx64, route == API_CHAT ? "chatcmpl-" : "cmpl-", r[0], r[1]);
}

// The asked name when it is one of ours, else the first: what answers is named truly.
static const char *model_name(const struct serving *s, const char *asked) {
    for (size_t i = 0; asked && i < s->n_names; i++) {
        if (strcmp(asked, s->names[i]) == 0) return s->names[i];
    }
    return s->names[0];
}

static const char *think_marker(const struct generation *g, bool open) {
    const struct chat_facts *facts = g->serving->chat && g->request.route == API_CHAT
                                         ? chat_template_facts(g->serving->chat) : NULL;
    if (!facts) return NULL;
    return open ? facts->think_open : facts->think_close;
}

static void set_rule(struct generation *g) {
    const struct serving *s = g->serving;
    const struct request *r = &g->request;
    g->rule = (struct reply_rule){.tokenizer = s->tokenizer,
                                  .token_bytes = s->token_bytes,
                                  .end_ids = s->end_ids,
                                  .n_end_ids = s->n_end_ids,
                                  .ignore_eos = r->ignore_eos,
                                  .stops = r->stops,
                                  .stop_bytes = r->stop_bytes,
                                  .n_stops = r->n_stops,
                                  .think_open = think_marker(g, true),
                                  .think_close = think_marker(g, false),
                                  .opens_reasoning = g->prompt.opens_reasoning};
}

static void set_facts(struct generation *g) {
    const struct serving *s = g->serving;
    const struct request *r = &g->request;
    g->facts = (struct reply_facts){.route = r->route,
                                    .created = (int64_t)time(NULL),
                                    .model = model_name(s, r->model),
                                    .arithmetic = s->arithmetic,
                                    .thinking = g->rule.think_close && r->thinking != THINKING_OFF,
                                    .effort = r->effort,
                                    .date = g->prompt.date[0] ? g->prompt.date : NULL,
                                    .sampled = r->rule.temperature > 0,
                                    .include_usage = r->include_usage,
                                    .context = s->context,
                                    .prompt_tokens = g->prompt.ids.n};
    write_id(r->route, g->facts.id, sizeof g->facts.id);
}

static enum accept judge(void *context, int32_t token, int32_t *forced) {
    struct generation *g = context;
    (void)forced;
    return stop_watch_complete(g->watch, token) ? ACCEPT_STOP : ACCEPT_CONTINUE;
}

static enum status submit(struct generation *g, struct worker *w, struct err *e) {
    const struct serving *s = g->serving;
    const struct request *r = &g->request;
    size_t n_ids = tokenizer_n_ids(s->tokenizer);
    struct engine_request request = {.prompt = g->prompt.ids.at,
                                     .n_prompt = g->prompt.ids.n,
                                     .max_tokens = r->limited ? r->max_tokens : s->max_tokens,
                                     .rule = r->rule,
                                     .stop_ids = s->end_ids,
                                     .n_stop_ids = r->ignore_eos ? 0 : s->n_end_ids};
    request.rule.n_ids = n_ids < s->vocab ? (uint32_t)n_ids : s->vocab;
    if (!r->seeded) request.rule.seed = engine_default_seed(request.prompt, request.n_prompt);
    if (r->n_stops) {
        TRY(stop_watch_new(&g->rule, &g->watch, e));
        request.accept = judge;
        request.accept_context = g;
    }
    return worker_submit(w, &request, &g->job, e);
}

static void end_empty(struct generation *g) {
    g->facts.reason = END_LENGTH;
    g->facts.stats.prompt_tokens = g->prompt.ids.n;
    engine_token_sha(NULL, 0, g->facts.stats.token_sha);
}

static enum status start(struct generation *g, struct worker *w, struct api_error *e) {
    TRY(check_room(g, e));
    set_rule(g);
    set_facts(g);
    struct err err = {0};
    enum status s = reply_text_new(&g->rule, &g->text, &err);
    if (s == STATUS_OK && g->request.limited && g->request.max_tokens == 0) {
        end_empty(g);
    } else if (s == STATUS_OK) {
        s = submit(g, w, &err);
    }
    return s == STATUS_OK ? STATUS_OK : api_error_from(e, &err, NULL);
}

enum status generation_start(const struct generation_order *order, struct generation **out, struct api_error *e) {
    struct generation *g = mem_new(1, sizeof *g);
    if (!g) {
        prompt_fini(order->prompt);
        const struct err err = {STATUS_NO_MEMORY, "no memory for a reply"};
        return api_error_from(e, &err, NULL);
    }
    g->serving = order->serving;
    g->request = *order->request;
    g->prompt = *order->prompt;
    g->arrived_ns = order->arrived_ns;
    enum status status = start(g, order->worker, e);
    if (status != STATUS_OK) {
        generation_free(g);
        return status;
    }
    g->doc = order->doc;
    *out = g;
    return STATUS_OK;
}

void generation_free(struct generation *g) {
    if (!g) return;
    if (g->job) job_free(g->job);
    stop_watch_free(g->watch);
    reply_text_free(g->text);
    prompt_fini(&g->prompt);
    yyjson_doc_free(g->doc);
    mem_free(g);
}

static void take_end(struct generation *g, const struct job_event *event) {
    struct reply_facts *f = &g->facts;
    f->reason = event->reason;
    f->stats = event->stats;
    f->thought_tokens = reply_text_thoughts(g->text);
    int stop = event->reason == END_STOP_TEXT ? reply_text_stopped(g->text) : -1;
    if (stop >= 0) {
        f->stop = g->request.stops[stop];
        f->stop_bytes = g->request.stop_bytes[stop];
    }
    f->seconds = f->first_s + event->stats.decode_ms * 1e-3;
}

static enum generation_state fail(const struct job_event *event, struct api_error *e) {
    if (event->reason == END_CANCELLED) {
        api_error_answer(e, 503, "server_stopping", "the server is stopping");
    } else {
        api_error_from(e, &event->err, NULL);
    }
    return GENERATION_FAILED;
}

enum generation_state generation_next(struct generation *g, uint32_t timeout_ms, reasoning_sink *sink, void *context,
                                      struct api_error *e) {
    struct job_event event = {.kind = JOB_END, .reason = g->facts.reason, .stats = g->facts.stats};
    struct err err = {0};
    if (g->job) job_wait(g->job, timeout_ms, &event);
    if (event.kind == JOB_TOKENS) {
        if (!g->has_first) g->facts.first_s = clock_ms_between(g->arrived_ns, clock_now_ns(&g->serving->clock)) * 1e-3;
        g->has_first = true;
        if (reply_text_push(g->text, event.tokens, event.n, sink, context, &err) == STATUS_OK) return GENERATION_RUNS;
        api_error_from(e, &err, NULL);
        return GENERATION_FAILED;
    }
    if (event.kind == JOB_NOTHING) return GENERATION_RUNS;
    if (event.reason == END_CANCELLED || event.reason == END_FAILED) return fail(&event, e);
    reply_text_end(g->text, sink, context);
    take_end(g, &event);
    return GENERATION_ENDED;
}

const struct reply_facts *generation_facts(const struct generation *g) { return &g->facts; }
const struct buf *generation_echo(const struct generation *g) { return &g->prompt.echo; }
const struct request *generation_request(const struct generation *g) { return &g->request; }
