// Detokenizer: bytes of a character that is not whole yet are held; everything else is text at once.
#include "text/detokenizer.h"

#include "base/utf8.h"

#include <string.h>

void detokenizer_init(struct detokenizer *d, const struct tokenizer *t, bool skip_special) {
    *d = (struct detokenizer){.tokenizer = t, .skip_special = skip_special};
}

enum status detokenizer_push(struct detokenizer *d, int32_t id, struct buf *out, struct err *e) {
    size_t n;
    const char *bytes = tokenizer_bytes(d->tokenizer, id, &n);
    if (!bytes) return err_set(e, STATUS_INVALID, "the tokenizer has no token %d", id);
    if (d->skip_special && tokenizer_is_special(d->tokenizer, id)) return STATUS_OK;
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
    return out->failed == STATUS_OK ? STATUS_OK : err_set(e, out->failed, "the decoded text does not fit");
}

void detokenizer_end(struct detokenizer *d, struct buf *out) {
    utf8_append_lossy(out, d->held, d->n_held);
    d->n_held = 0;
}

enum status tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, bool skip_special,
                             struct buf *out, struct err *e) {
    struct detokenizer d;
    detokenizer_init(&d, t, skip_special);
    for (size_t i = 0; i < n; i++) TRY(detokenizer_push(&d, ids[i], out, e));
    detokenizer_end(&d, out);
    return out->failed == STATUS_OK ? STATUS_OK : err_set(e, out->failed, "the decoded text does not fit");
}
