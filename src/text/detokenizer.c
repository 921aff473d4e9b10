// Detokenizer: bytes of a character that is not whole yet are held; everything else is text at once.
#include "text/detokenizer.h"

#include "base/utf8.h"
#include "text/tokenizer_parts.h"

#include <string.h>

static const char REPLACEMENT[] = "\xef\xbf\xbd";

void detokenizer_init(struct detokenizer *d, const struct tokenizer *t, bool skip_special) {
    *d = (struct detokenizer){
        .tokenizer = t, .skip_special = skip_special, .waiting = -1, .to_strip = t->decoder.strip.start};
}

// --- byte-level vocabularies: any bytes, broken ones by maximal parts ---

static void push_bytes(struct detokenizer *d, const char *bytes, size_t n, struct buf *out) {
    // Complete what is held, at most to the four bytes of one character, until nothing is.
    while (d->n_held > 0 && n > 0) {
        d->held[d->n_held++] = *bytes++;
        n--;
        size_t whole = utf8_whole_prefix(d->held, d->n_held);
        utf8_append_lossy(out, d->held, whole);
        memmove(d->held, d->held + whole, d->n_held - whole);
        d->n_held -= whole;
    }
    size_t whole = utf8_whole_prefix(bytes, n);
    utf8_append_lossy(out, bytes, whole);
    memcpy(d->held + d->n_held, bytes + whole, n - whole);
    d->n_held += n - whole;
}

// --- all others: text, and single bytes among it ---

// Text for good, but for what is dropped at its beginning.
static void put(struct detokenizer *d, const char *text, size_t n, struct buf *out) {
    const struct decode_step *s = &d->tokenizer->decoder.strip;
    for (; d->to_strip && n >= s->n && memcmp(text, s->text, s->n) == 0; d->to_strip--) text += s->n, n -= s->n;
    if (n) d->to_strip = 0;
    buf_append(out, text, n);
}

// The first held byte begins no character: it is given up.
static void give_up_byte(struct detokenizer *d, struct buf *out) {
    put(d, REPLACEMENT, sizeof REPLACEMENT - 1, out);
    memmove(d->held, d->held + 1, --d->n_held);
}

static void push_byte(struct detokenizer *d, char byte, struct buf *out) {
    d->held[d->n_held++] = byte;
    while (d->n_held && utf8_whole_prefix(d->held, d->n_held)) {
        uint32_t c;
        bool bad;
        size_t length = utf8_next(d->held, d->n_held, &c, &bad);
        if (bad) {
            give_up_byte(d, out);
            continue;
        }
        put(d, d->held, length, out);
        memmove(d->held, d->held + length, d->n_held - length);
        d->n_held -= length;
    }
}

static void push_text(struct detokenizer *d, const char *text, size_t n, struct buf *out) {
    while (d->n_held) give_up_byte(d, out);
    put(d, text, n, out);
}

static void push_token(struct detokenizer *d, int32_t id, struct buf *out) {
    size_t n;
    const char *text = (d->begun ? tokenizer_bytes : tokenizer_first_bytes)(d->tokenizer, id, &n);
    if (d->tokenizer->vocabulary.flags[id] & VOCABULARY_BYTE) push_byte(d, text[0], out);
    else push_text(d, text, n, out);
    d->begun = true;
}

// The last token of a text that decodes it unlike others.
static void push_last(struct detokenizer *d, int32_t id, struct buf *out) {
    struct buf text;
    bool byte;
    size_t n;
    const char *token = tokenizer_decoded_token(d->tokenizer, id, &n);
    buf_init(&text, out->limit);
    decode_token(&d->tokenizer->decoder, token, n, DECODE_LAST | (d->begun ? 0 : DECODE_FIRST), &text, &byte);
    if (text.failed != STATUS_OK) out->failed = text.failed;
    else if (byte) push_byte(d, text.data[0], out);
    else push_text(d, text.n ? text.data : "", text.n, out);
    buf_fini(&text);
}

enum status detokenizer_push(struct detokenizer *d, int32_t id, struct buf *out, struct err *e) {
    const struct decoder *decoder = &d->tokenizer->decoder;
    size_t n;
    const char *bytes = tokenizer_bytes(d->tokenizer, id, &n);
    if (!bytes) return STATUS_OK;
    if (d->skip_special && tokenizer_is_special(d->tokenizer, id)) return STATUS_OK;
    if (decoder->byte_level) {
        push_bytes(d, bytes, n, out);
    } else if (decoder->last_differs) {
        if (d->waiting >= 0) push_token(d, d->waiting, out);
        d->waiting = id;
    } else {
        push_token(d, id, out);
    }
    return out->failed == STATUS_OK ? STATUS_OK : err_set(e, out->failed, "the decoded text does not fit");
}

void detokenizer_end(struct detokenizer *d, struct buf *out) {
    if (d->waiting >= 0) push_last(d, d->waiting, out);
    d->waiting = -1;
    if (d->tokenizer->decoder.byte_level) utf8_append_lossy(out, d->held, d->n_held);
    else
        while (d->n_held) give_up_byte(d, out);
    d->n_held = 0;
}

enum status tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, bool skip_special,
                             struct buf *out, struct err *e) {
    struct detokenizer d;
    detokenizer_init(&d, t, skip_special);
    for (size_t i = 0; i < n; i++) {
        size_t n_bytes;
        if (!tokenizer_bytes(t, ids[i], &n_bytes))
            return err_set(e, STATUS_INVALID, "the tokenizer has no token %d", ids[i]);
        TRY(detokenizer_push(&d, ids[i], out, e));
    }
    detokenizer_end(&d, out);
    return out->failed == STATUS_OK ? STATUS_OK : err_set(e, out->failed, "the decoded text does not fit");
}
