// Every place that may name an end-of-sequence id.
#include "model/load.h"

// Adds the ids under `key` that are not listed yet.
static enum status add_ids(const struct config *c, const char *key, int32_t *ids, size_t cap, size_t *n,
                           struct err *e) {
    enum { IDS_MAX = 64 };
    int32_t found[IDS_MAX];
    size_t n_found;
    TRY(config_ids(c, key, found, IDS_MAX, &n_found, e));
    for (size_t i = 0; i < n_found; i++) {
        size_t at = 0;
        while (at < *n && ids[at] != found[i]) at++;
        if (at < *n) continue;
        if (*n == cap) return err_set(e, STATUS_TOO_LARGE, "%s: %s: more than %zu end ids", config_file(c), key, cap);
        ids[(*n)++] = found[i];
    }
    return STATUS_OK;
}

enum status model_end_ids(const struct checkpoint *c, int32_t *ids, size_t cap, size_t *n, struct err *e) {
    static const char *const gguf[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    const struct config *config = checkpoint_config(c), *generation = checkpoint_generation_config(c);
    *n = 0;
    if (config_is_gguf(config)) {
        for (size_t i = 0; i < sizeof gguf / sizeof gguf[0]; i++) TRY(add_ids(config, gguf[i], ids, cap, n, e));
        return STATUS_OK;
    }
    TRY(add_ids(config, "eos_token_id", ids, cap, n, e));
    TRY(add_ids(config, "text_config.eos_token_id", ids, cap, n, e));
    return generation ? add_ids(generation, "eos_token_id", ids, cap, n, e) : STATUS_OK;
}
