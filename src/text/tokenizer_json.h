// Reading tokenizer.json: what the files that read its parts share.
#ifndef TF_TEXT_TOKENIZER_JSON_H
#define TF_TEXT_TOKENIZER_JSON_H

#include "base/arena.h"
#include "base/json.h"
#include "text/decode.h"
#include "text/normalize.h"
#include "text/split.h"
#include "text/tokenizer.h"

enum { TOKENIZER_JSON_STEPS_MAX = 64 };

struct tokenizer_json {
    struct tokenizer_source source;
    struct arena arena;
    struct ids before, after;
    struct normalize_step normalize[TOKENIZER_JSON_STEPS_MAX];
    struct split_step split[TOKENIZER_JSON_STEPS_MAX];
    struct decode_step decode[TOKENIZER_JSON_STEPS_MAX];
    bool has_template;
    bool byte_level; // a ByteLevel pre-tokenizer was read
    struct err *e;
};

// Fill the steps of `source`; a part that is not implemented is refused by name.
enum status tokenizer_json_normalizer(struct tokenizer_json *r, yyjson_val *v) TF_MUST_CHECK;
enum status tokenizer_json_pretokenizer(struct tokenizer_json *r, yyjson_val *v) TF_MUST_CHECK;
enum status tokenizer_json_decoder(struct tokenizer_json *r, yyjson_val *v) TF_MUST_CHECK;

// --- getters ---

static inline bool tokenizer_json_is(yyjson_val *object, const char *type) {
    return yyjson_equals_str(yyjson_obj_get(object, "type"), type);
}

static inline bool tokenizer_json_absent(yyjson_val *v) { return !v || yyjson_is_null(v); }

// The type of a part for a message, never NULL.
const char *tokenizer_json_type(yyjson_val *object);

// A flag of `where`; absent means `fallback`.
enum status tokenizer_json_flag(struct tokenizer_json *r, yyjson_val *object, const char *where, const char *key,
                                bool fallback, bool *out) TF_MUST_CHECK;

// A text of `where`, which has to be there.
enum status tokenizer_json_text(struct tokenizer_json *r, yyjson_val *object, const char *where, const char *key,
                                const char **out, size_t *n) TF_MUST_CHECK;

// A whole number of `where`, at most 1,000,000; absent means `fallback`.
enum status tokenizer_json_number(struct tokenizer_json *r, yyjson_val *object, const char *where, const char *key,
                                  size_t fallback, size_t *out) TF_MUST_CHECK;

#endif
