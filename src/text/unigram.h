// Unigram: the tokens of a piece whose scores have the largest sum.
#ifndef TF_TEXT_UNIGRAM_H
#define TF_TEXT_UNIGRAM_H

#include "text/tokenizer.h"
#include "text/vocabulary.h"

struct unigram {
    const struct vocabulary *vocabulary; // borrowed
    double *scores;                      // [n_ids] owned
    double unknown_score;
    int32_t unknown; // -1: there is none, and a text that needs it is an error
    int32_t fallback[256]; // the token <0x00> to <0xFF> of a byte, or -1
};

// What encoding reuses from piece to piece; one a thread. Starts zeroed.
struct unigram_scratch {
    struct unigram_node *nodes;
    size_t cap;
};

// Takes scores, unknown and byte_fallback of `source`.
enum status unigram_init(struct unigram *u, const struct vocabulary *v, const struct tokenizer_source *source,
                         struct err *e) TF_MUST_CHECK;
void unigram_fini(struct unigram *u);
void unigram_scratch_fini(struct unigram_scratch *s);

// Appends the ids of one piece (valid UTF-8). Time is linear in n and in the length of the longest token.
enum status unigram_encode(const struct unigram *u, const char *piece, size_t n, struct unigram_scratch *s,
                           struct ids *out, struct err *e) TF_MUST_CHECK;

#endif
