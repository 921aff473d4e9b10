// The tokens of a vocabulary as the bytes they stand for, found by id or by bytes.
#ifndef TF_TEXT_VOCABULARY_H
#define TF_TEXT_VOCABULARY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VOCABULARY_IDS_MAX = 1 << 24, // far above any published one; keeps a wild id from taking all memory
    VOCABULARY_TOKEN_MAX = 4096,  // bytes of a written token or merge; published ones stay under 600
};

struct vocabulary_slot {
    uint32_t tag; // upper half of the hash
    int32_t id;   // -1 = free
};

enum {
    VOCABULARY_KNOWN = 1,    // there is such a token
    VOCABULARY_VERBATIM = 2, // written with a character outside the byte alphabet, so it stands for itself
    VOCABULARY_ADDED = 4,    // not in the model's own vocabulary: merging never gives it (set by the tokenizer)
    VOCABULARY_SPECIAL = 8,  // a control token (set by the tokenizer)
    VOCABULARY_BYTE = 16,    // decodes to one byte of a character (set by the tokenizer)
    VOCABULARY_RESPELLED = 32, // an added token that decodes to its normalized text (set by the tokenizer)
};

struct vocabulary {
    char *bytes;     // all tokens' bytes, one after another
    uint32_t *begin; // [n_ids + 1]
    uint8_t *flags;  // [n_ids] VOCABULARY_* bits
    size_t n_ids;
    struct vocabulary_slot *slots; // open addressing
    uint32_t shift;                // 64 - log2(slots)
    bool plain;                    // tokens are written as their text, not in the byte alphabet
    size_t longest;                // bytes of the longest token
};

// tokens[i] (token_bytes[i] bytes) is the written form of id i, or NULL where there is none; `plain` tokens are
// written as their text. Two ids that are written alike are refused.
enum status vocabulary_init(struct vocabulary *v, const char *const *tokens, const size_t *token_bytes, size_t n_ids,
                            bool plain, struct err *e) TF_MUST_CHECK;
void vocabulary_fini(struct vocabulary *v);

// The bytes that a written token stands for, into out[0..n) (never longer than the written form); returns how many.
// *verbatim: some character is outside the byte alphabet, and out is the written form itself.
size_t vocabulary_from_written(const struct vocabulary *v, const char *written, size_t n, char *out,
                               bool *verbatim);

// The same of text in the byte alphabet, for any vocabulary; and one byte as the alphabet writes it, 1 or 2 bytes.
size_t vocabulary_from_alphabet(const char *written, size_t n, char *out, bool *verbatim);
size_t vocabulary_write_byte(uint8_t byte, char out[4]);

// The id of a token by its written form, or -1.
int32_t vocabulary_find_written(const struct vocabulary *v, const char *written, size_t n);

// The id of these bytes, or -1. `verbatim` tells a token written " " from one written as the alphabet's space.
int32_t vocabulary_find(const struct vocabulary *v, const char *bytes, size_t n, bool verbatim);

#endif
