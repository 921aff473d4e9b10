// Text to token ids and back, equal to Hugging Face's `tokenizers`: BPE, WordPiece and Unigram, with added tokens.
#ifndef TF_TEXT_TOKENIZER_H
#define TF_TEXT_TOKENIZER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct split_step;     // text/split.h
struct normalize_step; // text/normalize.h
struct decode_step;    // text/decode.h

// The pre-tokenizers known by hand. A source names one; the pattern in a tokenizer.json is matched against theirs.
enum pretokenizer {
    PRETOKENIZER_GPT2,
    PRETOKENIZER_SMOLLM, // digits one by one, then GPT-2
    PRETOKENIZER_LLAMA3,
    PRETOKENIZER_QWEN2,  // Qwen2, Qwen2.5, Qwen3
    PRETOKENIZER_QWEN35, // marks belong to words
    PRETOKENIZER_O200K,  // GPT-4o, GPT-OSS, Llama 4
    PRETOKENIZER_TEKKEN, // Mistral
    PRETOKENIZER_DEEPSEEK3,
    PRETOKENIZER_DEEPSEEK_CODER,
    PRETOKENIZER_DEEPSEEK_LLM,
    PRETOKENIZER_COUNT
};

enum normalizer { NORMALIZER_NONE, NORMALIZER_NFC };

struct added_token {
    const char *text;
    size_t n;
    int32_t id;
    bool special, lstrip, rstrip, single_word, normalized;
};

enum tokenizer_model { TOKENIZER_BPE, TOKENIZER_WORDPIECE, TOKENIZER_UNIGRAM };

// Everything a tokenizer is made of, from whichever file. All pointers are borrowed for tokenizer_new only. Zeroed
// fields give byte-level BPE with GPT-2's pre-tokenizer.
struct tokenizer_source {
    enum tokenizer_model model;
    bool plain_vocabulary; // tokens are written as their text, not in the byte alphabet

    const char *const *tokens; // [n_tokens] in the vocabulary's written form; NULL = no such id
    const size_t *token_bytes; // [n_tokens]
    size_t n_tokens;

    const char *const *merges; // [n_merges] "left right" in rank order
    const size_t *merge_bytes; // [n_merges]
    const size_t *merge_split; // [n_merges] offset of the byte between the parts; NULL: the first space after byte 0
    size_t n_merges;

    const double *scores; // [n_tokens] of Unigram

    const struct added_token *added;
    size_t n_added;

    enum pretokenizer pretokenizer;
    bool split_by_steps; // the steps count instead of `pretokenizer`; without any, text stays whole
    const struct split_step *split_steps;
    size_t n_split_steps;
    bool add_prefix_space; // a blank before text that has none, with GPT-2's pre-tokenizer

    enum normalizer normalizer; // or the steps, when there are any
    const struct normalize_step *normalize_steps;
    size_t n_normalize_steps;

    const struct decode_step *decode_steps; // none: bytes of a byte-level vocabulary; plain tokens with blanks between
    size_t n_decode_steps;

    bool ignore_merges; // a whole piece that is in the vocabulary is that token
    bool has_unknown;   // what has no token becomes the token `unknown`; without it, it is left out
    int32_t unknown;
    bool fuse_unknown;  // neighbours become one (Unigram: always)
    bool byte_fallback; // what has no token becomes the tokens <0x00> to <0xFF> of its bytes, where it has all of them

    const char *word_prefix; // of WordPiece: before tokens that continue a word; NULL: none
    size_t word_chars_max;   // of WordPiece: longer words are unknown

    const int32_t *before, *after; // ids that the post-processor puts round a text (BOS, EOS)
    size_t n_before, n_after;
};

struct tokenizer;

// Builds the lookup tables. Duplicate tokens, merges of unknown parts and ids out of range are refused by name.
enum status tokenizer_new(const struct tokenizer_source *source, struct tokenizer **out, struct err *e) TF_MUST_CHECK;
void tokenizer_free(struct tokenizer *t);

// Reads tokenizer.json (text, n bytes). Whatever it asks for that is not implemented is refused by name, never skipped.
enum status tokenizer_from_json(const char *text, size_t n, struct tokenizer **out, struct err *e) TF_MUST_CHECK;

size_t tokenizer_n_ids(const struct tokenizer *t);                    // 1 + the largest id
int32_t tokenizer_find(const struct tokenizer *t, const char *token, size_t n); // written form or added text; -1
bool tokenizer_is_special(const struct tokenizer *t, int32_t id);

enum tokenize_flags {
    TOKENIZE_PLAIN = 1,   // all of it is data: added tokens are not recognised in the text
    TOKENIZE_SPECIAL = 2, // put the post-processor's ids round it
};

// Growable list of ids. Free with ids_fini.
struct ids {
    int32_t *at;
    size_t n, cap;
};
void ids_fini(struct ids *ids);
enum status ids_push(struct ids *ids, int32_t id, struct err *e) TF_MUST_CHECK;

// Appends the ids of text[0..n) to `out`. Broken UTF-8 counts as U+FFFD per maximal bad part. Threads may share `t`.
enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n, unsigned flags, struct ids *out,
                             struct err *e) TF_MUST_CHECK;

// Bytes [begin, end) of a text.
struct text_span {
    size_t begin, end;
};

// As tokenizer_encode without flags, but the bytes in `data` (n_data spans, rising, apart from each other) are data:
// no added token is recognised that holds one of them. All else runs across the borders, so the ids equal those of
// tokenizer_encode wherever the data is free of added tokens. `text` must be valid UTF-8.
enum status tokenizer_encode_mixed(const struct tokenizer *t, const char *text, size_t n, const struct text_span *data,
                                   size_t n_data, struct ids *out, struct err *e) TF_MUST_CHECK;

// What an id adds to text that has begun, in bytes (not necessarily whole characters), or NULL for an unknown id. Owned
// by the tokenizer.
const char *tokenizer_bytes(const struct tokenizer *t, int32_t id, size_t *n);

struct buf;
// Appends the text of ids[0..n); broken parts become U+FFFD as in `tokenizers`. Unknown ids are an error.
enum status tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, bool skip_special,
                             struct buf *out, struct err *e) TF_MUST_CHECK;

#endif
