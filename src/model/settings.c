// Reads what a family's description asks for, and refuses by name whatever would change the mathematics unseen.
#include "model/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FAMILY(symbol) extern const struct family symbol;
#include "model/families/families.def"
#undef FAMILY

static const struct family *const families[] = {
#define FAMILY(symbol) &symbol,
#include "model/families/families.def"
#undef FAMILY
};

enum { KEY_MAX = 160, DIM_MAX = 1 << 30 };

// A config with the prefix that its geometry keys stand behind ("llama." in GGUF, nothing in config.json).
struct reader {
    const struct config *config;
    const char *prefix; // n_prefix bytes and, in GGUF, a dot
    size_t n_prefix;
    char key[KEY_MAX];
};

static const char *full_key(struct reader *r, const char *key) {
    snprintf(r->key, sizeof r->key, "%.*s%s%s", (int)r->n_prefix, r->prefix, r->n_prefix ? "." : "", key);
    return r->key;
}

static bool text_is(const char *text, size_t n, const char *expected) {
    return n == strlen(expected) && memcmp(text, expected, n) == 0;
}

static bool listed(const char *const *list, const char *text, size_t n) {
    for (; *list; list++) {
        if (text_is(text, n, *list)) return true;
    }
    return false;
}

static enum status find_family(const struct config *c, const struct family **out, struct reader *r, struct err *e) {
    const char *key = config_is_gguf(c) ? "general.architecture" : "model_type";
    const char *text;
    size_t n;
    TRY(config_text(c, key, &text, &n, e));
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *f = families[i];
        if (!listed(config_is_gguf(c) ? f->gguf_archs : f->model_types, text, n)) continue;
        *out = f;
        *r = (struct reader){.config = c, .prefix = text, .n_prefix = config_is_gguf(c) ? n : 0};
        return STATUS_OK;
    }
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: no family here serves \"%.*s\"", config_file(c), key,
                   (int)(n < 80 ? n : 80), text);
}

static enum status refuse(const struct config *c, const char *key, const char *why, struct err *e) {
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: %s", config_file(c), key, why);
}

static enum status check_fixed(struct reader *r, const struct arch_fixed *f, struct err *e) {
    const char *key = full_key(r, f->key), *text;
    char why[128];
    size_t n;
    if (!config_has(r->config, key)) return STATUS_OK;
    if (f->text) {
        TRY(config_text(r->config, key, &text, &n, e));
        if (text_is(text, n, f->text)) return STATUS_OK;
        snprintf(why, sizeof why, "\"%.*s\" is not served, only \"%s\"", (int)(n < 40 ? n : 40), text, f->text);
        return refuse(r->config, key, why, e);
    }
    if (!f->has_number) return refuse(r->config, key, "this setting is not served", e);
    double number;
    TRY(config_f64(r->config, key, &number, e));
    if (number == f->number) return STATUS_OK;
    snprintf(why, sizeof why, "%g is not served, only %g", number, f->number);
    return refuse(r->config, key, why, e);
}

// The vocabulary of a GGUF file is its token list; the key vocab_size counts only without one.
static bool counts_tokens(const struct reader *r, const struct arch_setting *s) {
    return s->dim == DIM_VOCAB && config_is_gguf(r->config) && config_has(r->config, "tokenizer.ggml.tokens");
}

static enum status read_dim(struct reader *r, const struct arch_setting *s, struct arch *a, struct err *e) {
    const char *key = full_key(r, config_is_gguf(r->config) ? s->gguf : s->hf);
    uint64_t value = 0;
    if (counts_tokens(r, s)) {
        size_t n;
        key = "tokenizer.ggml.tokens";
        TRY(config_n(r->config, key, &n, e));
        value = n;
    } else if (s->otherwise == DIM_NONE || config_has(r->config, key)) {
        TRY(config_u64(r->config, key, &value, e));
    } else if (s->dim == DIM_HEAD) {
        if (a->dim[DIM_HIDDEN] % a->dim[DIM_HEADS]) {
            return refuse(r->config, key, "is missing, and the heads do not divide the hidden size", e);
        }
        value = a->dim[DIM_HIDDEN] / a->dim[DIM_HEADS];
    } else {
        value = a->dim[s->otherwise];
    }
    uint64_t most = s->dim == DIM_LAYERS ? LAYERS_MAX : DIM_MAX;
    if (value < 1 || value > most) {
        return err_set(e, STATUS_INVALID, "%s: %s: %llu is outside 1 to %llu", config_file(r->config), key,
                       (unsigned long long)value, (unsigned long long)most);
    }
    a->dim[s->dim] = value;
    return STATUS_OK;
}

static enum status derive_dims(struct reader *r, struct arch *a, struct err *e) {
    uint64_t *d = a->dim;
    d[DIM_Q] = d[DIM_HEADS] * d[DIM_HEAD];
    d[DIM_KV] = d[DIM_KV_HEADS] * d[DIM_HEAD];
    d[DIM_ROPE_PAIRS] = d[DIM_HEAD] / 2;
    if (d[DIM_Q] > DIM_MAX || d[DIM_KV] > DIM_MAX) {
        return err_set(e, STATUS_INVALID, "%s: heads of %llu values are too large", config_file(r->config),
                       (unsigned long long)d[DIM_HEAD]);
    }
    if (d[DIM_HEADS] % d[DIM_KV_HEADS]) {
        return err_set(e, STATUS_INVALID, "%s: %llu heads cannot share %llu kv heads evenly", config_file(r->config),
                       (unsigned long long)d[DIM_HEADS], (unsigned long long)d[DIM_KV_HEADS]);
    }
    if (d[DIM_HEAD] % 2) {
        return err_set(e, STATUS_INVALID, "%s: heads of %llu values cannot be turned in pairs",
                       config_file(r->config), (unsigned long long)d[DIM_HEAD]);
    }
    return STATUS_OK;
}

// A number that must be finite and positive; `otherwise` when the key is absent (NAN: it is required).
static enum status read_positive(const struct config *c, const char *key, double otherwise, double *out,
                                 struct err *e) {
    *out = otherwise;
    if (isnan(otherwise) || config_has(c, key)) TRY(config_f64(c, key, out, e));
    if (*out > 0 && isfinite(*out)) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: %s: must be a positive number", config_file(c), key);
}

static enum status read_bool(const struct config *c, const char *key, bool *out, struct err *e) {
    *out = false;
    return config_has(c, key) ? config_bool(c, key, out, e) : STATUS_OK;
}

// The length before scaling stands beside the other fields, or at the top, where it wins; else it is the context.
static enum status read_original_context(const struct config *c, const char *base, struct arch *a, struct err *e) {
    static const char *const name = "original_max_position_embeddings";
    char inside[KEY_MAX];
    snprintf(inside, sizeof inside, "%s.%s", base, name);
    const char *key = config_has(c, name) ? name : inside;
    return read_positive(c, key, (double)a->dim[DIM_CONTEXT], &a->rope.original_context, e);
}

static enum status read_llama3(const struct config *c, const char *base, struct arch *a, struct err *e) {
    struct arch_rope *rope = &a->rope;
    const struct {
        const char *name;
        double *to;
    } fields[] = {{"factor", &rope->factor},
                  {"low_freq_factor", &rope->low_freq_factor},
                  {"high_freq_factor", &rope->high_freq_factor}};
    char key[KEY_MAX];
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        snprintf(key, sizeof key, "%s.%s", base, fields[i].name);
        TRY(read_positive(c, key, NAN, fields[i].to, e));
    }
    TRY(read_original_context(c, base, a, e));
    if (rope->high_freq_factor > rope->low_freq_factor) return STATUS_OK;
    snprintf(key, sizeof key, "%s.high_freq_factor", base);
    return err_set(e, STATUS_INVALID, "%s: %s: must be above low_freq_factor", config_file(c), key);
}

// rope_parameters, or the older rope_scaling, which wins when it says anything.
static const char *find_rope(const struct config *c) {
    static const char *const keys[] = {"rope_scaling.rope_type", "rope_scaling.type", "rope_scaling.rope_theta",
                                       "rope_scaling.factor"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (config_has(c, keys[i])) return "rope_scaling";
    }
    return "rope_parameters";
}

static enum status read_hf_rope(const struct config *c, struct arch *a, struct err *e) {
    static const char *const nested[] = {"rope_parameters.full_attention", "rope_parameters.sliding_attention"};
    const char *base = find_rope(c), *type;
    char key[KEY_MAX];
    size_t n;
    for (size_t i = 0; i < 2; i++) {
        if (config_has(c, nested[i])) return refuse(c, nested[i], "rope by kind of layer is not served", e);
    }
    snprintf(key, sizeof key, "%s.rope_theta", base);
    TRY(read_positive(c, config_has(c, key) ? key : "rope_theta", 10000, &a->rope.theta, e));
    snprintf(key, sizeof key, "%s.rope_type", base);
    if (!config_has(c, key)) snprintf(key, sizeof key, "%s.type", base);
    if (!config_has(c, key)) return STATUS_OK;
    TRY(config_text(c, key, &type, &n, e));
    if (text_is(type, n, "default")) return STATUS_OK;
    if (text_is(type, n, "llama3")) return read_llama3(c, base, a, e);
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: \"%.*s\" is not served, only \"default\" and \"llama3\"",
                   config_file(c), key, (int)(n < 40 ? n : 40), type);
}

// Scaling arrives as a tensor of factors; the keys can only say what is already fixed.
static enum status read_gguf_rope(struct reader *r, struct arch *a, struct err *e) {
    static const char *const heads[] = {"rope.dimension_count", "attention.value_length"};
    TRY(read_positive(r->config, full_key(r, "rope.freq_base"), 10000, &a->rope.theta, e));
    for (size_t i = 0; i < 2; i++) {
        const char *key = full_key(r, heads[i]);
        uint64_t size = a->dim[DIM_HEAD];
        if (config_has(r->config, key)) TRY(config_u64(r->config, key, &size, e));
        if (size == a->dim[DIM_HEAD]) continue;
        return err_set(e, STATUS_UNSUPPORTED, "%s: %s: %llu is not served, only the head size %llu",
                       config_file(r->config), key, (unsigned long long)size, (unsigned long long)a->dim[DIM_HEAD]);
    }
    return STATUS_OK;
}

// layer_types names each layer's kind; without it all layers attend.
static enum status read_layer_kinds(const struct config *c, struct arch *a, struct err *e) {
    static const char *const key = "layer_types";
    size_t n, n_text;
    const char *text;
    memset(a->layer_kind, LAYER_ATTENTION, sizeof a->layer_kind);
    if (config_is_gguf(c) || !config_has(c, key)) return STATUS_OK;
    TRY(config_n(c, key, &n, e));
    if (n != a->dim[DIM_LAYERS]) return refuse(c, key, "its length is not the number of layers", e);
    for (size_t i = 0; i < n; i++) {
        TRY(config_text_at(c, key, i, &text, &n_text, e));
        if (!text_is(text, n_text, "full_attention")) {
            return err_set(e, STATUS_UNSUPPORTED, "%s: %s: layer %zu is \"%.*s\", which the %s family does not have",
                           config_file(c), key, i, (int)(n_text < 40 ? n_text : 40), text, a->family->name);
        }
    }
    return STATUS_OK;
}

static enum status read_hf_flags(const struct config *c, struct arch *a, struct err *e) {
    bool attention, mlp;
    TRY(read_bool(c, "tie_word_embeddings", &a->tied, e));
    TRY(read_bool(c, "attention_bias", &attention, e));
    TRY(read_bool(c, "mlp_bias", &mlp, e));
    a->bias[BIAS_ATTENTION] = attention ? PRESENCE_REQUIRED : PRESENCE_NONE;
    a->bias[BIAS_MLP] = mlp ? PRESENCE_REQUIRED : PRESENCE_NONE;
    return STATUS_OK;
}

// True when the head has a weight of its own in the files.
static bool has_head(const struct checkpoint *c, const struct family *f) {
    char name[KEY_MAX];
    for (uint32_t i = 0; i < f->n_tensors; i++) {
        if (f->tensors[i].role != ROLE_HEAD) continue;
        bool gguf = checkpoint_kind(c) == CHECKPOINT_GGUF;
        snprintf(name, sizeof name, "%s.weight", gguf ? f->tensors[i].gguf : f->tensors[i].hf);
        return checkpoint_find(c, name) != NULL;
    }
    return false;
}

enum status settings_read(const struct checkpoint *c, struct arch *out, struct err *e) {
    const struct config *config = checkpoint_config(c);
    struct reader r;
    struct arch a = {0};
    TRY(find_family(config, &a.family, &r, e));
    bool gguf = config_is_gguf(config);
    for (const struct arch_fixed *f = gguf ? a.family->gguf_fixed : a.family->hf_fixed; f->key; f++) {
        TRY(check_fixed(&r, f, e));
    }
    for (uint32_t i = 0; i < a.family->n_settings; i++) TRY(read_dim(&r, &a.family->settings[i], &a, e));
    TRY(derive_dims(&r, &a, e));
    double eps;
    TRY(read_positive(config, full_key(&r, gguf ? "attention.layer_norm_rms_epsilon" : "rms_norm_eps"),
                      gguf ? NAN : 1e-6, &eps, e));
    a.norm_eps = (float)eps;
    if (gguf) {
        TRY(read_gguf_rope(&r, &a, e));
        a.tied = true;
        a.bias[BIAS_ATTENTION] = a.bias[BIAS_MLP] = PRESENCE_OPTIONAL;
    } else {
        TRY(read_hf_rope(config, &a, e));
        TRY(read_hf_flags(config, &a, e));
    }
    a.tied = a.tied && !has_head(c, a.family);
    TRY(read_layer_kinds(config, &a, e));
    *out = a;
    return STATUS_OK;
}
