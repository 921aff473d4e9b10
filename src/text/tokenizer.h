// Text to token ids and back: byte-level BPE with added tokens, equal to Hugging Face's `tokenizers` on every input.
#ifndef TF_TEXT_TOKENIZER_H
#define TF_TEXT_TOKENIZER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The pre-tokenizers known by hand. A source names one; the pattern in a tokenizer.json is matched against theirs.
enum pretokenizer {
    PRETOKENIZER_GPT2,
    PRETOKENIZER_SMOLLM, // digits one by one, then GPT-2
    PRETOKENIZER_LLAMA3,
    PRETOKENIZER_QWEN2, // Qwen2, Qwen2.5, Qwen3
    PRETOKENIZER_COUNT
};

enum normalizer { NORMALIZER_NONE, NORMALIZER_NFC };

struct added_token {
    const char *text;
    size_t n;
    int32_t id;
    bool special, lstrip, rstrip, single_word, normalized;
};

// Everything a tokenizer is made of, from whichever file. All pointers are borrowed for tokenizer_new only.
struct tokenizer_source {
    const char *const *tokens; // [n_tokens] in the vocabulary's written form (byte-level characters); NULL = no such id
    const size_t *token_bytes; // [n_tokens]
    size_t n_tokens;

    const char *const *merges; // [n_merges] "left right" in rank order
    const size_t *merge_bytes; // [n_merges]
    const size_t *merge_split; // [n_merges] offset of the byte between the parts; NULL: the first space after byte 0
    size_t n_merges;

    const struct added_token *added;
    size_t n_added;

    enum pretokenizer pretokenizer;
    enum normalizer normalizer;
    bool add_prefix_space;
    bool ignore_merges; // a whole piece that is in the vocabulary is that token
    // What the file would have done about a byte without a token ("unk_token"): refused by this name when there is such
    // a byte. NULL: such bytes are left out.
    const char *fallback;

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

// Bytes of one id (not necessarily whole characters), or NULL for an unknown one. Owned by the tokenizer.
const char *tokenizer_bytes(const struct tokenizer *t, int32_t id, size_t *n);

struct buf;
// Appends the text of ids[0..n); broken parts become U+FFFD as in `tokenizers`. Unknown ids are an error.
enum status tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, bool skip_special,
                             struct buf *out, struct err *e) TF_MUST_CHECK;

#endif
