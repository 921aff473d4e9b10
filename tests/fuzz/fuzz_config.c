// Fuzz target: the text of a config.json, asked for settings in every type and read as a model's.
#include "checkpoint/config.h"
#include "model/settings.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static const char *const keys[] = {
    "model_type",    "hidden_size", "rope_theta", "rope_scaling.factor", "eos_token_id", "architectures",
    "layer_types",   "a",           "a.b.c",      "text_config.rope_parameters.partial_rotary_factor",
};

static void ask(const struct config *c, const char *key) {
    uint64_t u;
    double f;
    bool b;
    const char *text;
    size_t n = 0, n_ids, length;
    int32_t ids[8];
    struct err e = {0};
    bool absent = config_u64(c, key, &u, &e) == STATUS_NOT_FOUND;
    if (absent == config_has(c, key)) abort();
    if ((config_f64(c, key, &f, NULL) == STATUS_NOT_FOUND) != absent) abort();
    if ((config_bool(c, key, &b, NULL) == STATUS_NOT_FOUND) != absent) abort();
    if (config_text(c, key, &text, &length, NULL) == STATUS_OK && text[length] != '\0') abort();
    if (config_ids(c, key, ids, 8, &n_ids, NULL) == STATUS_OK && n_ids > 8) abort();
    if (config_n(c, key, &n, NULL) != STATUS_OK) n = 0;
    for (size_t i = 0; i < n && i < 64; i++) {
        if (config_u64_at(c, key, i, &u, NULL) == STATUS_NOT_FOUND) abort();
        if (config_text_at(c, key, i, &text, &length, NULL) == STATUS_OK && text[length] != '\0') abort();
    }
}

// Whatever was accepted holds together.
static void read_as_model(const struct config *c) {
    static struct arch a;
    struct err e = {0};
    if (settings_parse(c, &a, &e) != STATUS_OK) {
        if (!e.message[0]) abort();
        return;
    }
    const uint64_t *d = a.dim;
    if (d[DIM_LAYERS] < 1 || d[DIM_LAYERS] > LAYERS_MAX || !(a.rope.theta > 0)) abort();
    if (d[DIM_HEADS] % d[DIM_KV_HEADS] || d[DIM_ROPE_PAIRS] < 1 || 2 * d[DIM_ROPE_PAIRS] > d[DIM_HEAD]) abort();
    if (a.n_kind[LAYER_ATTENTION] + (uint64_t)a.n_kind[LAYER_DELTA] != d[DIM_LAYERS]) abort();
    if (a.n_kind[LAYER_DELTA] && (d[DIM_DELTA_V_HEADS] % d[DIM_DELTA_K_HEADS] || d[DIM_DELTA_TAPS] < 2)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct config *c;
    struct err e = {0};
    enum status status = config_parse("f", (const char *)data, n, &c, &e);
    if ((status == STATUS_OK) != (e.message[0] == '\0') || (status == STATUS_OK) != (c != NULL)) abort();
    for (size_t i = 0; c && i < sizeof keys / sizeof keys[0]; i++) ask(c, keys[i]);
    if (c) read_as_model(c);
    config_free(c);
    return 0;
}
