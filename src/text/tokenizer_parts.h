// What a tokenizer is made of; private to the files that build it, encode and decode.
#ifndef TF_TEXT_TOKENIZER_PARTS_H
#define TF_TEXT_TOKENIZER_PARTS_H

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/decode.h"
#include "text/normalize.h"
#include "text/split.h"
#include "text/unigram.h"
#include "text/vocabulary.h"
#include "text/wordpiece.h"

// A text for every id, one behind the other.
struct decoded_texts {
    char *bytes;
    uint32_t *begin; // [n_ids + 1]; NULL: there are none
};

struct tokenizer {
    struct vocabulary vocabulary; // added tokens included
    struct added_matcher raw;        // looked for in the text as it came
    struct added_matcher normalized; // looked for in what is left of it once normalized
    struct normalizer_chain normalizer;

    enum pretokenizer pretokenizer; // by hand; PRETOKENIZER_COUNT: the chain counts
    struct split_chain chain;
    bool add_prefix_space;

    enum tokenizer_model model;
    struct bpe bpe;
    struct wordpiece wordpiece;
    struct unigram unigram;
    int32_t unknown; // -1: there is none
    struct ids before, after;

    struct decoder decoder;
    struct added_token *respelled; // [n_respelled] added tokens with their normalized texts (owned), where these differ
    size_t n_respelled;
    // What each id adds to a text that has begun; not made where that is the vocabulary's bytes.
    struct decoded_texts decoded;
    struct decoded_texts first; // the same at the beginning of a text; not made with the decoder ByteLevel
};

// What an id adds to a text that has not begun, else as tokenizer_bytes. Detokenizing allocates nothing through these.
const char *tokenizer_first_bytes(const struct tokenizer *t, int32_t id, size_t *n);

// The token that a decoder sees for a known id.
const char *tokenizer_decoded_token(const struct tokenizer *t, int32_t id, size_t *n);

#endif
