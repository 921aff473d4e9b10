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
    int32_t of_byte[256];                // the token of a single byte (of a plain vocabulary: of ASCII), or -1
    int32_t fallback[256];               // the token <0x00> to <0xFF> of a byte, or -1
    int32_t unknown;                     // what a symbol without a token becomes, or -1: it is left out
    bool fuse_unknown;                   // unknown neighbours become one
    bool ignore_merges;                  // a piece that is a token is that token
    struct bpe_spare *spare;             // the words met lately, for whoever encodes next
};

// Memory that merging reuses from piece to piece, and the words it met lately; one a thread. Starts zeroed. What is
// met lately changes no ids, only the time they take.
struct bpe_scratch {
    struct bpe_symbol *symbols;
    struct bpe_candidate *candidates;
    struct bpe_run *runs;
    size_t cap; // bytes of the longest piece there is room for
    struct bpe_word *words;
};

// Takes the merges of `source` and what it says of unknown symbols. A merge with a part or a
// result that is no token is refused.
enum status bpe_init(struct bpe *b, const struct vocabulary *v, const struct tokenizer_source *source,
                     struct err *e) TF_MUST_CHECK;
void bpe_fini(struct bpe *b);
void bpe_scratch_fini(const struct bpe *b, struct bpe_scratch *s); // leaves the words to the next one

// Appends the ids of one piece (n >= 1 bytes, valid UTF-8 for a plain vocabulary). n log n.
enum status bpe_encode(const struct bpe *b, const char *piece, size_t n, struct bpe_scratch *s, struct ids *out,
                       struct err *e) TF_MUST_CHECK;

// The ids of the piece's symbols (bytes, or characters of a plain vocabulary) without any merge.
enum status bpe_spell(const struct bpe *b, const char *piece, size_t n, struct bpe_scratch *s, struct ids *out,
                      struct err *e) TF_MUST_CHECK;

#endif
