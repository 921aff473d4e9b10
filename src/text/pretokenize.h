// Cuts text into the pieces that are merged apart from each other: the published patterns as hand-written scanners.
#ifndef TF_TEXT_PRETOKENIZE_H
#define TF_TEXT_PRETOKENIZE_H

#include "text/tokenizer.h"

enum { PRETOKENIZE_LEVELS_MAX = 6 };

// One step of a pre-tokenizer: finds the stretches that its pattern matches; what lies between stays whole.
struct pretokenize_level {
    const char *pattern; // as a tokenizer.json writes it; NULL: the Digits step, one digit at a time
    size_t (*match)(const char *s, size_t n); // bytes of the match that begins at s[0..n), n >= 1; 0: none does
    unsigned run; // where there is no match, there is none up to the end of a run of these classes; 0: none known
};

// The levels of a kind in their order; *n is how many. Each cuts within the pieces of the one before.
const struct pretokenize_level *pretokenize_levels(enum pretokenizer kind, size_t *n);

// Bytes of the piece that a level makes at text[0..n), n >= 1: a match, or all up to the next one.
size_t pretokenize_piece(const struct pretokenize_level *level, const char *text, size_t n);

// A walk over the pieces of a text; they cover it in order, none is empty.
struct pretokenize {
    const struct pretokenize_level *levels;
    size_t n_levels;
    const char *text; // valid UTF-8, borrowed
    size_t n, at;
    size_t end[PRETOKENIZE_LEVELS_MAX]; // the current piece of each level ends here
};

void pretokenize_begin(struct pretokenize *p, enum pretokenizer kind, const char *text, size_t n);

// The next piece is text[*begin .. *begin + *n_piece); false at the end.
bool pretokenize_next(struct pretokenize *p, size_t *begin, size_t *n_piece);

#endif
