// Text of replies, and the watch for stop strings: both read ids in one way, so they agree on where a reply ends.
#include "server/reply_text.h"

#include "base/mem.h"

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

int reply_text_stopped(const struct reply_text *t) { return stopped_text_matched(&t->text); }
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
    return stopped_text_matched(&w->text) >= 0;
}
