// Reply ids to text, up to stop strings.
#include "text/stopped_text.h"

#include <string.h>

enum { REPLACEMENT_BYTES = 3 }; // a broken byte becomes U+FFFD

static int32_t marker_id(const struct reply_rule *r, const char *marker) {
    return marker ? tokenizer_find(r->tokenizer, marker, strlen(marker)) : -1;
}

enum status stopped_text_open(struct stopped_text *t, const struct reply_rule *r, struct err *e) {
    *t = (struct stopped_text){.rule = r};
    t->markers[0] = marker_id(r, r->think_open);
    t->markers[1] = marker_id(r, r->think_close);
    detokenizer_init(&t->detokenizer, r->tokenizer, true);
    TRY(stop_new(r->stops, r->stop_bytes, r->n_stops, &t->stops, e)); // it bounds their number and length
    size_t piece = (r->token_bytes + sizeof t->detokenizer.held) * REPLACEMENT_BYTES, longest = 0;
    for (size_t i = 0; i < r->n_stops; i++) {
        if (r->stop_bytes[i] > longest) longest = r->stop_bytes[i];
    }
    buf_init(&t->piece, piece);
    buf_init(&t->text, piece + longest);
    if (buf_reserve(&t->piece, piece) && buf_reserve(&t->text, piece + longest)) return STATUS_OK;
    return err_set(e, STATUS_NO_MEMORY, "no memory for the reply's text");
}

void stopped_text_close(struct stopped_text *t) {
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

enum status stopped_text_push(struct stopped_text *t, int32_t id, struct err *e) {
    buf_reset(&t->piece);
    buf_reset(&t->text);
    bool end = is_end_id(t->rule, id);
    if (end && !t->rule->ignore_eos) return STATUS_OK;
    t->detokenizer.skip_special = !end && id != t->markers[0] && id != t->markers[1];
    TRY(detokenizer_push(&t->detokenizer, id, &t->piece, e));
    stop_push(t->stops, t->piece.data, t->piece.n, &t->text);
    return STATUS_OK;
}

void stopped_text_end(struct stopped_text *t) {
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

int stopped_text_matched(const struct stopped_text *t) { return stop_matched(t->stops); }
