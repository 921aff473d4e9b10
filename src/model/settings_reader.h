// Reading settings by the keys of their format, shared by the files that read them.
#ifndef TF_MODEL_SETTINGS_READER_H
#define TF_MODEL_SETTINGS_READER_H

#include "checkpoint/config.h"
#include "model/arch.h"

enum { SETTINGS_KEY_MAX = 160 };

// A config with what its keys stand behind: the architecture in GGUF, in config.json nothing or an object.
struct settings_reader {
    const struct config *config;
    const char *prefix; // n_prefix bytes; a dot follows where there are any
    size_t n_prefix;
    char key[SETTINGS_KEY_MAX];
};

// The whole key; good until the next call for this reader.
const char *settings_key(struct settings_reader *r, const char *key);
bool settings_has(struct settings_reader *r, const char *key);

// STATUS_UNSUPPORTED with file and whole key.
enum status settings_refuse(struct settings_reader *r, const char *key, const char *why, struct err *e) TF_MUST_CHECK;

// A number that must be finite and positive; `otherwise` when the key is absent (NAN: it is required).
enum status settings_positive(struct settings_reader *r, const char *key, double otherwise, double *out,
                              struct err *e) TF_MUST_CHECK;

// Rotary settings into a->rope and DIM_ROPE_PAIRS; the head size and the context are read already.
enum status settings_read_rope(struct settings_reader *r, struct arch *a, struct err *e) TF_MUST_CHECK;

static inline bool settings_text_is(const char *text, size_t n, const char *expected) {
    size_t i = 0;
    while (i < n && expected[i] && text[i] == expected[i]) i++;
    return i == n && !expected[i];
}

#endif
