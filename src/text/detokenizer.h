// A stream of token ids turned into text that only ever grows by whole characters.
#ifndef TF_TEXT_DETOKENIZER_H
#define TF_TEXT_DETOKENIZER_H

#include "base/buf.h"
#include "text/tokenizer.h"

struct detokenizer {
    const struct tokenizer *tokenizer;
    char held[8]; // bytes of a character that is not whole yet
    size_t n_held;
    bool skip_special;
    bool begun;      // a token was taken
    int32_t waiting; // a token whose text depends on whether another follows; -1: none
    size_t to_strip; // characters that may still be dropped at the beginning of the text
};

void detokenizer_init(struct detokenizer *d, const struct tokenizer *t, bool skip_special);

// Appends to `out` the text that became certain with this id: whole characters only. The pieces joined with
// detokenizer_end's equal tokenizer_decode of all ids. An id without a token adds no text: a model may draw what its
// tokenizer leaves free. Allocates only when `out` has no room.
enum status detokenizer_push(struct detokenizer *d, int32_t id, struct buf *out, struct err *e) TF_MUST_CHECK;

// The reply is over: what is still held becomes U+FFFD.
void detokenizer_end(struct detokenizer *d, struct buf *out);

#endif
