// The routes that generate: read, refuse or start, then answer whole or as a stream out of one course of events.
#include "base/json.h"
#include "base/mem.h"
#include "server/answer.h"
#include "server/generation.h"
#include "server/openai_reply.h"
#include "server/openai_stream.h"
#include "server/routes.h"
#include "server/server_state.h"

// WAIT_MS: how soon a client that left is noticed. PING_MS: silence that clients and proxies bear.
enum { WAIT_MS = 250, PING_MS = 10000, REPLY_BYTES_MAX = 1 << 30, BODY_MAX_EXTRA = 1 << 16 };

static enum status start(struct server *s, struct http_exchange *x, enum api_route route, struct generation **out,
                         struct api_error *e) {
    uint64_t arrived_ns = clock_now_ns(&s->serving.clock);
    size_t n;
    const char *body = http_body(x, &n);
    yyjson_doc *doc;
    struct err err = {0};
    if (json_parse("the body", body, n, &doc, &err) != STATUS_OK) return api_error_from(e, &err, NULL);
    struct request request;
    struct prompt prompt;
    enum status status = request_read(route, yyjson_doc_get_root(doc), &s->serving.defaults, &request, e);
    if (status == STATUS_OK) status = prompt_make(&s->serving, &request, &prompt, e);
    if (status == STATUS_OK) {
        const struct generation_order order = {&s->serving, s->worker, &request, &prompt, doc, arrived_ns};
        status = generation_start(&order, out, e);
    }
    if (status != STATUS_OK) yyjson_doc_free(doc);
    return status;
}

static void log_end(const struct server *s, const struct reply_facts *f) {
    log_line(s->log, LOG_LEVEL_INFO, "done %s: %llu prompt tokens, %llu reply tokens, token_sha %s, %s, %.3f s", f->id,
             (unsigned long long)f->prompt_tokens, (unsigned long long)f->stats.reply_tokens, f->stats.token_sha,
             openai_reply_finish(f), f->seconds);
}

static void log_failure(const struct server *s, const struct generation *g, const char *what) {
    log_line(s->log, LOG_LEVEL_INFO, "ended %s: %s", generation_facts(g)->id, what);
}

// The whole answer.

struct parts {
    struct buf thought, answer;
};

static void keep(void *context, enum reasoning_part part, const char *text, size_t n) {
    struct parts *w = context;
    buf_append(part == REASONING_THOUGHT ? &w->thought : &w->answer, text, n);
}

static void answer_whole(struct http_exchange *x, const struct reply_facts *f, const struct parts *w) {
    struct buf body;
    buf_init(&body, (size_t)REPLY_BYTES_MAX * 2 + BODY_MAX_EXTRA);
    const struct openai_text text = {w->thought.data, w->answer.data, w->thought.n, w->answer.n};
    openai_reply_write(f, &text, &body);
    if (body.failed == STATUS_OK) body.failed = w->thought.failed;
    if (body.failed == STATUS_OK) body.failed = w->answer.failed;
    answer_json(x, 200, &body);
    buf_fini(&body);
}

static void reply_whole(const struct server *s, struct http_exchange *x, struct generation *g) {
    struct parts w;
    struct api_error e = {0};
    buf_init(&w.thought, REPLY_BYTES_MAX);
    buf_init(&w.answer, REPLY_BYTES_MAX);
    const struct buf *echo = generation_echo(g);
    if (echo->n) buf_append(&w.answer, echo->data, echo->n);
    enum generation_state state = GENERATION_RUNS;
    bool gone = false;
    while (state == GENERATION_RUNS && !gone) {
        state = generation_next(g, WAIT_MS, keep, &w, &e);
        gone = state == GENERATION_RUNS && http_client_gone(x);
    }
    if (state == GENERATION_ENDED) {
        log_end(s, generation_facts(g));
        answer_whole(x, generation_facts(g), &w);
    } else {
        if (gone) api_error_answer(&e, 503, "cancelled", "the client left, or the server is stopping");
        log_failure(s, g, e.message);
        answer_error(x, &e);
    }
    generation_free(g);
    buf_fini(&w.thought);
    buf_fini(&w.answer);
}

// The stream.

struct stream_source {
    const struct server *server;
    struct generation *generation;
    struct openai_stream stream;
    uint64_t silent_since_ns;
    bool begun, over;
};

static void begin_stream(struct stream_source *t) {
    const struct buf *echo = generation_echo(t->generation);
    openai_stream_begin(&t->stream, echo->data, echo->n);
    t->begun = true;
    t->silent_since_ns = clock_now_ns(&t->server->serving.clock);
}

static enum http_more end_stream(struct stream_source *t, enum generation_state state, const struct api_error *e) {
    t->over = true;
    if (state == GENERATION_ENDED) {
        log_end(t->server, generation_facts(t->generation));
        openai_stream_end(&t->stream);
    } else {
        log_failure(t->server, t->generation, e->message);
        openai_stream_fail(&t->stream, e);
    }
    return HTTP_END;
}

static enum http_more next_piece(void *context, struct http_exchange *x, struct buf *out) {
    struct stream_source *t = context;
    const struct clock *clock = &t->server->serving.clock;
    t->stream.out = out;
    if (!t->begun) begin_stream(t);
    while (out->n == 0) {
        struct api_error e = {0};
        enum generation_state state =
            generation_next(t->generation, WAIT_MS, openai_stream_take, &t->stream, &e);
        if (state != GENERATION_RUNS) return end_stream(t, state, &e);
        openai_stream_flush(&t->stream);
        if (http_client_gone(x)) return HTTP_ABORT;
        bool silent = clock_ms_between(t->silent_since_ns, clock_now_ns(clock)) >= PING_MS;
        if (out->n == 0 && silent) openai_stream_ping(&t->stream);
    }
    t->silent_since_ns = clock_now_ns(clock);
    return HTTP_MORE;
}

static void close_stream(void *context) {
    struct stream_source *t = context;
    if (!t->over) log_failure(t->server, t->generation, "the client left");
    generation_free(t->generation);
    openai_stream_fini(&t->stream);
    mem_free(t);
}

static void reply_stream(const struct server *s, struct http_exchange *x, struct generation *g) {
    struct stream_source *t = mem_new(1, sizeof *t);
    if (!t) {
        struct api_error e = {0};
        const struct err err = {STATUS_NO_MEMORY, "no memory for a stream"};
        api_error_from(&e, &err, NULL);
        answer_error(x, &e);
        generation_free(g);
        return;
    }
    *t = (struct stream_source){.server = s, .generation = g};
    openai_stream_init(&t->stream, generation_facts(g));
    http_set_header(x, "Cache-Control", "no-cache");
    http_set_header(x, "X-Accel-Buffering", "no");
    const struct http_source source = {next_piece, close_stream, t};
    http_stream(x, 200, "text/event-stream", &source);
}

static void generate(struct server *s, struct http_exchange *x, enum api_route route) {
    struct generation *g;
    struct api_error e = {0};
    if (start(s, x, route, &g, &e) != STATUS_OK) {
        log_line(s->log, LOG_LEVEL_INFO, "refused: %s", e.message);
        answer_error(x, &e);
        return;
    }
    if (generation_request(g)->stream) {
        reply_stream(s, x, g);
    } else {
        reply_whole(s, x, g);
    }
}

void generate_chat(struct server *s, struct http_exchange *x, const char *tail) {
    (void)tail;
    generate(s, x, API_CHAT);
}

void generate_completion(struct server *s, struct http_exchange *x, const char *tail) {
    (void)tail;
    generate(s, x, API_COMPLETION);
}
