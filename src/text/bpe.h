// Byte-pair merging of one piece of text: always the pair of lowest rank next, the leftmost of equals.
#ifndef TF_TEXT_BPE_H
#define TF_TEXT_BPE_H

#include "text/tokenizer.h"
#include "text/vocabulary.h"

struct bpe_merge {
    uint64_t pair; // left id << 32 | right id
    uint32_t rank; // BPE_NO_MERGE = free slot
    int32_t id;    // of the merged token
};

struct bpe {
    const struct vocabulary *vocabulary; // borrowed
    struct bpe_merge *merges;            // open addressing
    uint32_t shift;                      // 64 - log2(slots)
    int32_t of_byte[256];                // the token of a single byte, or -1
    bool ignore_merges;                  // a piece that is a token is that token
};

// Memory that merging reuses from piece to piece, and the words it met lately; one a thread. Starts zeroed.
struct bpe_scratch {
    struct bpe_symbol *symbols;
    struct bpe_candidate *candidates;
    struct bpe_run *runs;
    size_t cap; // bytes of the longest piece there is room for
    struct bpe_word *words;
};

// Takes the merges and ignore_merges of `source`. A merge with a part or a result that is no token is refused.
enum status bpe_init(struct bpe *b, const struct vocabulary *v, const struct tokenizer_source *source,
                     struct err *e) TF_MUST_CHECK;
void bpe_fini(struct bpe *b);
void bpe_scratch_fini(struct bpe_scratch *s);

// Appends the ids of one piece (n >= 1 bytes). Bytes without a token of their own are left out. n log n.
enum status bpe_encode(const struct bpe *b, const char *piece, size_t n, struct bpe_scratch *s, struct ids *out,
                       struct err *e) TF_MUST_CHECK;

#endif
