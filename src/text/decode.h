// Decoders: what each token becomes in the text, and what the beginning and the end of a text change about it.
#ifndef TF_TEXT_DECODE_H
#define TF_TEXT_DECODE_H

#include "base/buf.h"
#include <stdbool.h>

// In the order in which steps may follow each other, with one exception: the three that edit each token (REPLACE,
// STRIP, METASPACE) come in any order among themselves.
enum decode_kind {
    DECODE_REPLACE,       // `text` by `with` in each token
    DECODE_STRIP,         // up to `start` and `stop` times `text`, one character, at the ends of each token
    DECODE_METASPACE,     // blanks for `text`; with `drop_first` none in the first token
    DECODE_WORDPIECE,     // `text` before a token continues a word, all others get a blank
    DECODE_BPE,           // `text` ends a word
    DECODE_BYTE_FALLBACK, // tokens written <0x41> are bytes
    DECODE_FUSE,          // from here on one text
    DECODE_BYTE_LEVEL     // alone: tokens are bytes in the byte alphabet
};

struct decode_step {
    enum decode_kind kind;
    bool drop_first, cleanup; // cleanup of WordPiece: blanks before punctuation and in contractions go
    size_t start, stop;
    const char *text, *with; // borrowed
    size_t n, n_with;
};

enum { DECODE_STEPS_MAX = 16 };

struct decoder {
    struct decode_step steps[DECODE_STEPS_MAX]; // that edit each token; their texts owned
    size_t n;
    bool byte_level, byte_fallback;
    bool spaced;       // no decoder at all: a blank between tokens
    bool last_differs; // the last token of a text is not decoded like others
    struct decode_step strip; // at the beginning of the whole text, n = 0 for nothing; its text owned
};

// Copies the steps; an order that is not supported is refused by name. Without steps a plain vocabulary has blanks
// between its tokens, one of bytes has none.
enum status decode_init(struct decoder *d, const struct decode_step *steps, size_t n, bool plain,
                        struct err *e) TF_MUST_CHECK;
void decode_fini(struct decoder *d);

// Where a token stands in the text.
enum decode_place { DECODE_FIRST = 1, DECODE_LAST = 2 };

// Appends what a token (its written form) becomes there, or with byte_fallback the one byte it stands for: then *byte
// is true. The strip of the whole text is left to the caller.
void decode_token(const struct decoder *d, const char *token, size_t n, unsigned place, struct buf *out, bool *byte);

#endif
