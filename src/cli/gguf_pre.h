// What the names in tokenizer.ggml.pre stand for in the published tokenizer.json files.
#ifndef TF_CLI_GGUF_PRE_H
#define TF_CLI_GGUF_PRE_H

#include "text/split.h"
#include "text/tokenizer.h"

struct gguf_pre {
    const char *name;
    enum pretokenizer pretokenizer; // PRETOKENIZER_COUNT: the steps count
    enum normalizer normalizer;
    bool ignore_merges, add_bos;
    const struct split_step *steps;
    size_t n_steps;
};

// The row of that name, NULL for an unknown one.
const struct gguf_pre *gguf_pre_find(const char *name);

#endif
