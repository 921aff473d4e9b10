// Replies as text.
#include "cli/reply.h"

#include "text/detokenizer.h"
#include "text/stop.h"

#include <string.h>

// What one round may bring: far more than a window's tokens.
enum { ROUND_TOKENS_MAX = 64, REPLACEMENT_BYTES = 3 };

struct writer {
    const struct reply_request *request;
    struct detokenizer detokenizer;
    struct stop_matcher *stops;
    struct buf piece;   // text of one token
    struct buf visible; // text of the round, past the stop strings
    struct err err;
};

static bool is_end_id(const struct reply_request *r, int32_t token) {
    for (size_t i = 0; i < r->n_end_ids; i++) {
        if (r->end_ids[i] == token) return true;
    }
    return false;
}

// Runs inside the round, where nothing may allocate: both buffers have the room that writer_open gave them.
static enum accept accept_token(void *context, int32_t token, int32_t *forced) {
    struct writer *w = context;
    (void)forced;
    if (is_end_id(w->request, token)) return ACCEPT_CONTINUE;
    buf_reset(&w->piece);
    if (detokenizer_push(&w->detokenizer, token, &w->piece, &w->err) != STATUS_OK) return ACCEPT_STOP;
    return stop_push(w->stops, w->piece.data, w->piece.n, &w->visible) ? ACCEPT_STOP : ACCEPT_CONTINUE;
}

static size_t longest_token(const struct tokenizer *t) {
    size_t longest = 0, n;
    for (size_t id = 0; id < tokenizer_n_ids(t); id++) {
        if (tokenizer_bytes(t, (int32_t)id, &n) && n > longest) longest = n;
    }
    return longest;
}

static enum status writer_open(struct writer *w, const struct reply_request *r, struct err *e) {
    *w = (struct writer){.request = r};
    size_t piece = (longest_token(r->tokenizer) + sizeof w->detokenizer.held) * REPLACEMENT_BYTES + 1;
    size_t visible = piece * ROUND_TOKENS_MAX + STOP_BYTES_MAX;
    buf_init(&w->piece, piece);
    buf_init(&w->visible, visible);
    detokenizer_init(&w->detokenizer, r->tokenizer, true);
    size_t bytes[STOP_STRINGS_MAX];
    for (size_t i = 0; i < r->n_stops && i < STOP_STRINGS_MAX; i++) bytes[i] = strlen(r->stops[i]);
    TRY(stop_new(r->stops, bytes, r->n_stops, &w->stops, e));
    if (!buf_reserve(&w->piece, piece) || !buf_reserve(&w->visible, visible)) {
        return err_set(e, STATUS_NO_MEMORY, "no memory for the reply's text");
    }
    return STATUS_OK;
}

static void writer_close(struct writer *w) {
    stop_free(w->stops);
    buf_fini(&w->piece);
    buf_fini(&w->visible);
}

static void writer_flush(struct writer *w) {
    if (w->visible.n) w->request->text(w->request->context, w->visible.data, w->visible.n);
    buf_reset(&w->visible);
}

// The reply has ended: the tail of its text, unless a stop string cut it off.
static void writer_end(struct writer *w) {
    buf_reset(&w->piece);
    detokenizer_end(&w->detokenizer, &w->piece);
    stop_push(w->stops, w->piece.data, w->piece.n, &w->visible);
    stop_end(w->stops, &w->visible);
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
