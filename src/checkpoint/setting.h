// One setting as config.c sees it, whether it came from JSON or from GGUF metadata.
#ifndef TF_CHECKPOINT_SETTING_H
#define TF_CHECKPOINT_SETTING_H

#include "checkpoint/config.h"

enum setting_kind {
    SETTING_NONE, // absent, or a JSON null
    SETTING_BOOL,
    SETTING_WHOLE,    // a whole number >= 0, in `whole`
    SETTING_NEGATIVE, // a whole number < 0, in `real`
    SETTING_REAL,
    SETTING_TEXT,
    SETTING_ARRAY,
    SETTING_OBJECT,
    SETTING_MISPLACED, // a part of the key before a dot names no object
};

struct setting {
    enum setting_kind kind;
    bool truth;
    uint64_t whole;
    double real;       // of any number
    const char *text;  // TEXT: n bytes; terminated unless it is an element of a GGUF array
    size_t n;          // ARRAY: elements
    const void *array; // ARRAY: what its source needs to find an element
};

// Settings over a GGUF file's metadata, which the config then owns; `path` is copied.
struct gguf_meta;
enum status config_over_gguf(const char *path, struct gguf_meta *meta, struct config **out,
                             struct err *e) TF_MUST_CHECK;

#endif
