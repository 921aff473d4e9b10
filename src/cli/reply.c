// Replies as text.
#include "cli/reply.h"

#include "text/stopped_text.h"

#include <string.h>

// What one round may bring: far more than a window's tokens.
enum { ROUND_TOKENS_MAX = 64 };

struct writer {
    const struct reply_request *request;
    struct reply_rule rule;
    size_t stop_bytes[STOP_STRINGS_MAX];
    struct stopped_text text;
    struct buf visible; // text of the round
    struct err err;
};

// Runs inside the round, where nothing may allocate: the buffers have the room that writer_open gave them.
static enum accept accept_token(void *context, int32_t token, int32_t *forced) {
    struct writer *w = context;
    (void)forced;
    if (stopped_text_push(&w->text, token, &w->err) != STATUS_OK) return ACCEPT_STOP;
    buf_append(&w->visible, w->text.text.data, w->text.text.n);
    return stopped_text_matched(&w->text) >= 0 ? ACCEPT_STOP : ACCEPT_CONTINUE;
}

static enum status writer_open(struct writer *w, const struct reply_request *r, struct err *e) {
    *w = (struct writer){.request = r,
                         .rule = {.tokenizer = r->tokenizer,
                                  .token_bytes = reply_rule_token_bytes(r->tokenizer),
                                  .end_ids = r->end_ids,
                                  .n_end_ids = r->n_end_ids,
                                  .stops = r->stops,
                                  .stop_bytes = w->stop_bytes,
                                  .n_stops = r->n_stops}};
    for (size_t i = 0; i < r->n_stops && i < STOP_STRINGS_MAX; i++) w->stop_bytes[i] = strlen(r->stops[i]);
    TRY(stopped_text_open(&w->text, &w->rule, e));
    size_t visible = w->text.piece.limit * ROUND_TOKENS_MAX + STOP_BYTES_MAX;
    buf_init(&w->visible, visible);
    return buf_reserve(&w->visible, visible) ? STATUS_OK
                                             : err_set(e, STATUS_NO_MEMORY, "no memory for the reply's text");
}

static void writer_close(struct writer *w) {
    stopped_text_close(&w->text);
    buf_fini(&w->visible);
}

static void writer_flush(struct writer *w) {
    if (w->visible.n) w->request->text(w->request->context, w->visible.data, w->visible.n);
    buf_reset(&w->visible);
}

// The reply has ended: the tail of its text, unless a stop string cut it off.
static void writer_end(struct writer *w) {
    stopped_text_end(&w->text);
    buf_append(&w->visible, w->text.text.data, w->text.text.n);
    writer_flush(w);
}

static enum status run(struct session *s, struct writer *w, struct reply *out, struct err *e) {
    const struct reply_request *r = w->request;
    struct engine_request request = {.prompt = r->prompt,
                                     .n_prompt = r->n_prompt,
                                     .max_tokens = r->max_tokens,
                                     .rule = r->rule,
                                     .stop_ids = r->end_ids,
                                     .n_stop_ids = r->n_end_ids,
                                     .accept = accept_token,
                                     .accept_context = w};
    size_t n_ids = tokenizer_n_ids(r->tokenizer), vocab = s->model->geometry.vocab;
    request.rule.n_ids = (uint32_t)(n_ids < vocab ? n_ids : vocab);
    uint64_t stream;
    TRY(engine_submit(s->engine, &request, &stream, e));
    struct engine_event event = {.kind = EVENT_TOKEN};
    for (bool busy = true; event.kind != EVENT_END;) {
        if (!busy) return err_set(e, STATUS_INTERNAL, "the engine stopped without ending the reply");
        engine_round(s->engine, &busy);
        while (engine_next_event(s->engine, &event) && event.kind != EVENT_END) {}
        writer_flush(w);
        if (r->cancelled && r->cancelled(r->context)) engine_cancel(s->engine, stream);
    }
    writer_end(w);
    *out = (struct reply){.reason = event.reason, .stats = event.stats};
    out->stats.prefill_widths = NULL;
    if (event.reason == END_FAILED) *e = event.err;
    if (w->err.status != STATUS_OK) *e = w->err;
    return e->status;
}

enum status reply_run(struct session *s, const struct reply_request *r, struct reply *out, struct err *e) {
    struct writer w;
    enum status status = writer_open(&w, r, e);
    if (status == STATUS_OK) status = run(s, &w, out, e);
    writer_close(&w);
    return status;
}

enum status reply_ids(struct session *s, uint64_t stream, struct ids *ids, struct engine_event *end, struct err *e) {
    bool busy = true;
    while (busy) {
        engine_round(s->engine, &busy);
        while (engine_next_event(s->engine, end)) {
            if (end->stream != stream) continue;
            if (end->kind == EVENT_TOKEN) TRY(ids_push(ids, end->token, e));
            if (end->kind == EVENT_END) {
                if (end->reason == END_FAILED) *e = end->err;
                return e->status;
            }
        }
    }
    return err_set(e, STATUS_INTERNAL, "the engine stopped without ending the reply");
}
