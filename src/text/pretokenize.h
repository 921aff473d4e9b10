// Cuts text into the pieces that are merged apart from each other: the published patterns as hand-written scanners.
#ifndef TF_TEXT_PRETOKENIZE_H
#define TF_TEXT_PRETOKENIZE_H

#include "text/tokenizer.h"

// A walk over the pieces of a text; they cover it in order, none is empty.
struct pretokenize {
    enum pretokenizer kind;
    const char *text; // valid UTF-8, borrowed
    size_t n, at;
    size_t stretch_end; // no piece crosses it
};

void pretokenize_begin(struct pretokenize *p, enum pretokenizer kind, const char *text, size_t n);

// The next piece is text[*begin .. *begin + *n_piece); false at the end.
bool pretokenize_next(struct pretokenize *p, size_t *begin, size_t *n_piece);

// The regular expression of a kind as a tokenizer.json writes it. SmolLM's is GPT-2's, after Digits.
const char *pretokenize_pattern(enum pretokenizer kind);

#endif
