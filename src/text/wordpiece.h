// WordPiece: the longest token at each place of a word.
#ifndef TF_TEXT_WORDPIECE_H
#define TF_TEXT_WORDPIECE_H

#include "text/tokenizer.h"
#include "text/vocabulary.h"

enum { WORDPIECE_PREFIX_MAX = 64 };

struct wordpiece {
    const struct vocabulary *vocabulary; // borrowed
    char prefix[WORDPIECE_PREFIX_MAX];   // of tokens that continue a word
    size_t n_prefix, chars_max;
    int32_t unknown;
};

// Takes word_prefix, word_chars_max and unknown of `source`, which has to have an unknown token.
enum status wordpiece_init(struct wordpiece *w, const struct vocabulary *v, const struct tokenizer_source *source,
                           struct err *e) TF_MUST_CHECK;

// Appends the ids of one word (valid UTF-8): the unknown token alone where it is too long or some part has no token.
enum status wordpiece_encode(const struct wordpiece *w, const char *word, size_t n, struct ids *out,
                             struct err *e) TF_MUST_CHECK;

#endif
