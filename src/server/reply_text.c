// Text of replies, and the watch for stop strings: both read ids in one way, so they agree on where a reply ends.
#include "server/reply_text.h"

#include "base/mem.h"

#include <string.h>

enum { REPLACEMENT_BYTES = 3 }; // a broken byte becomes U+FFFD

// Ids to text, up to stop strings.
struct stopped_text {
    const struct reply_rule *rule;
    struct detokenizer detokenizer;
    struct stop_matcher *stops;
    int32_t markers[2]; // of reasoning; -1 where it is no single token
    struct buf piece;   // text of one id
    struct buf text;    // what of it has passed the stop strings
};

static int32_t marker_id(const struct reply_rule *r, const char *marker) {
    return marker ? tokenizer_find(r->tokenizer, marker, strlen(marker)) : -1;
}

static enum status stopped_text_open(struct stopped_text *t, const struct reply_rule *r, struct err *e) {
    *t = (struct stopped_text){.rule = r};
    t->markers[0] = marker_id(r, r->think_open);
    t->markers[1] = marker_id(r, r->think_close);
    detokenizer_init(&t->detokenizer, r->tokenizer, true);
    size_t piece = (r->token_bytes + sizeof t->detokenizer.held) * REPLACEMENT_BYTES, longest = 0;
    for (size_t i = 0; i < r->n_stops; i++) {
        if (r->stop_bytes[i] > longest) longest = r->stop_bytes[i];
    }
    buf_init(&t->piece, piece);
    buf_init(&t->text, piece + longest);
    TRY(stop_new(r->stops, r->stop_bytes, r->n_stops, &t->stops, e));
    if (buf_reserve(&t->piece, piece) && buf_reserve(&t->text, piece + longest)) return STATUS_OK;
    return err_set(e, STATUS_NO_MEMORY, "no memory for the reply's text");
}

static void stopped_text_close(struct stopped_text *t) {
    stop_free(t->stops);
    buf_fini(&t->piece);
    buf_fini(&t->text);
}

static bool is_end_id(const struct reply_rule *r, int32_t id) {
    for (size_t i = 0; i < r->n_end_ids; i++) {
        if (r->end_ids[i] == id) return true;
    }
    return false;
}

// Leaves in t->text what became certain with this id. Never allocates.
static enum status stopped_text_push(struct stopped_text *t, int32_t id, struct err *e) {
    buf_reset(&t->piece);
    buf_reset(&t->text);
    bool end = is_end_id(t->rule, id);
    if (end && !t->rule->ignore_eos) return STATUS_OK;
    t->detokenizer.skip_special = !end && id != t->markers[0] && id != t->markers[1];
    TRY(detokenizer_push(&t->detokenizer, id, &t->piece, e));
    stop_push(t->stops, t->piece.data, t->piece.n, &t->text);
    return STATUS_OK;
}

static void stopped_text_end(struct stopped_text *t) {
    buf_reset(&t->piece);
    buf_reset(&t->text);
    detokenizer_end(&t->detokenizer, &t->piece);
    stop_push(t->stops, t->piece.data, t->piece.n, &t->text);
    stop_end(t->stops, &t->text);
}

size_t reply_rule_token_bytes(const struct tokenizer *t) {
    size_t longest = 0, n;
    for (size_t id = 0; id < tokenizer_n_ids(t); id++) {
        if (tokenizer_bytes(t, (int32_t)id, &n) && n > longest) longest = n;
    }
    return longest;
}

struct reply_text {
    struct stopped_text text;
    struct reasoning *reasoning;
    uint64_t thoughts;
};

enum status reply_text_new(const struct reply_rule *rule, struct reply_text **out, struct err *e) {
    struct reply_text *t = mem_new(1, sizeof *t);
    if (!t) return err_set(e, STATUS_NO_MEMORY, "no memory for the reply's text");
    enum status s = stopped_text_open(&t->text, rule, e);
    if (s == STATUS_OK) {
        s = reasoning_new(rule->think_open, rule->think_close, rule->opens_reasoning, &t->reasoning, e);
    }
    if (s != STATUS_OK) {
        reply_text_free(t);
        return s;
    }
    *out = t;
    return STATUS_OK;
}

void reply_text_free(struct reply_text *t) {
    if (!t) return;
    stopped_text_close(&t->text);
    reasoning_free(t->reasoning);
    mem_free(t);
}

enum status reply_text_push(struct reply_text *t, const int32_t *ids, size_t n, reasoning_sink *sink, void *context,
                            struct err *e) {
    for (size_t i = 0; i < n; i++) {
        bool thinks = reasoning_where(t->reasoning) == REASONING_THOUGHT;
        TRY(stopped_text_push(&t->text, ids[i], e));
        if (t->text.text.n) reasoning_feed(t->reasoning, t->text.text.data, t->text.text.n, sink, context);
        t->thoughts += thinks || reasoning_where(t->reasoning) == REASONING_THOUGHT;
    }
    return STATUS_OK;
}

void reply_text_end(struct reply_text *t, reasoning_sink *sink, void *context) {
    stopped_text_end(&t->text);
    if (t->text.text.n) reasoning_feed(t->reasoning, t->text.text.data, t->text.text.n, sink, context);
    reasoning_finish(t->reasoning, sink, context);
}

int reply_text_stopped(const struct reply_text *t) { return stop_matched(t->text.stops); }
uint64_t reply_text_thoughts(const struct reply_text *t) { return t->thoughts; }

struct stop_watch {
    struct stopped_text text;
};

enum status stop_watch_new(const struct reply_rule *rule, struct stop_watch **out, struct err *e) {
    struct stop_watch *w = mem_new(1, sizeof *w);
    if (!w) return err_set(e, STATUS_NO_MEMORY, "no memory for the reply's text");
    enum status s = stopped_text_open(&w->text, rule, e);
    if (s != STATUS_OK) {
        stop_watch_free(w);
        return s;
    }
    *out = w;
    return STATUS_OK;
}

void stop_watch_free(struct stop_watch *w) {
    if (!w) return;
    stopped_text_close(&w->text);
    mem_free(w);
}

bool stop_watch_complete(struct stop_watch *w, int32_t id) {
    // What fails here fails in the reader of the reply too, who reports it.
    if (stopped_text_push(&w->text, id, NULL) != STATUS_OK) return false;
    return stop_matched(w->text.stops) >= 0;
}
