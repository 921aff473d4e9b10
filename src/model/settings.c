// Reads what a family's description asks for, and refuses by name whatever would change the mathematics unseen.
#include "model/settings.h"

#include "model/settings_reader.h"

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

// With one tap nothing would tell a converted checkpoint from another.
enum { DIM_MAX = 1 << 30, TAPS_MAX = 8 };

const char *settings_key(struct settings_reader *r, const char *key) {
    snprintf(r->key, sizeof r->key, "%.*s%s%s", (int)r->n_prefix, r->prefix, r->n_prefix ? "." : "", key);
    return r->key;
}

bool settings_has(struct settings_reader *r, const char *key) { return config_has(r->config, settings_key(r, key)); }

enum status settings_refuse(struct settings_reader *r, const char *key, const char *why, struct err *e) {
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: %s", config_file(r->config), settings_key(r, key), why);
}

enum status settings_positive(struct settings_reader *r, const char *key, double otherwise, double *out,
                              struct err *e) {
    const char *full = settings_key(r, key);
    *out = otherwise;
    if (isnan(otherwise) || config_has(r->config, full)) TRY(config_f64(r->config, full, out, e));
    if (*out > 0 && isfinite(*out)) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: %s: must be a positive number", config_file(r->config), full);
}

static bool listed(const char *const *list, const char *text, size_t n) {
    for (; *list; list++) {
        if (settings_text_is(text, n, *list)) return true;
    }
    return false;
}

static enum status unknown_family(const struct config *c, const char *key, const char *text, size_t n, struct err *e) {
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: no family here serves \"%.*s\"", config_file(c), key,
                   (int)(n < 80 ? n : 80), text);
}

// Settings inside an object of config.json: it must be of the same family.
static enum status enter_nested(const struct family *f, struct settings_reader *r, struct err *e) {
    const char *text;
    size_t n;
    if (!f->hf_nested || !config_has(r->config, f->hf_nested)) return STATUS_OK;
    r->prefix = f->hf_nested;
    r->n_prefix = strlen(f->hf_nested);
    const char *key = settings_key(r, "model_type");
    if (!config_has(r->config, key)) return STATUS_OK;
    TRY(config_text(r->config, key, &text, &n, e));
    return listed(f->model_types, text, n) ? STATUS_OK : unknown_family(r->config, key, text, n, e);
}

static enum status find_family(const struct config *c, const struct family **out, struct settings_reader *r,
                               struct err *e) {
    const char *key = config_is_gguf(c) ? "general.architecture" : "model_type";
    const char *text;
    size_t n;
    TRY(config_text(c, key, &text, &n, e));
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *f = families[i];
        if (!listed(config_is_gguf(c) ? f->gguf_archs : f->model_types, text, n)) continue;
        *out = f;
        *r = (struct settings_reader){.config = c, .prefix = text, .n_prefix = config_is_gguf(c) ? n : 0};
        return config_is_gguf(c) ? STATUS_OK : enter_nested(f, r, e);
    }
    return unknown_family(c, key, text, n, e);
}

static enum status check_text(const struct config *c, const char *key, const struct arch_fixed *f, struct err *e) {
    const char *text;
    size_t n;
    TRY(config_text(c, key, &text, &n, e));
    if (settings_text_is(text, n, f->text) || (f->or_text && settings_text_is(text, n, f->or_text))) return STATUS_OK;
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: \"%.*s\" is not served, only \"%s\"", config_file(c), key,
                   (int)(n < 40 ? n : 40), text, f->text);
}

static enum status check_value(const struct config *c, const char *key, const struct arch_fixed *f, struct err *e) {
    if (!config_has(c, key)) return STATUS_OK;
    if (f->text) return check_text(c, key, f, e);
    if (f->has_number) {
        double number;
        TRY(config_f64(c, key, &number, e));
        if (number == f->number) return STATUS_OK;
        return err_set(e, STATUS_UNSUPPORTED, "%s: %s: %g is not served, only %g", config_file(c), key, number,
                       f->number);
    }
    if (f->has_truth) {
        bool truth;
        TRY(config_bool(c, key, &truth, e));
        if (truth == f->truth) return STATUS_OK;
        return err_set(e, STATUS_UNSUPPORTED, "%s: %s: %s is not served", config_file(c), key,
                       truth ? "true" : "false");
    }
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: this setting is not served", config_file(c), key);
}

// In config.json the key is looked for beside the nested settings too: a quantised checkpoint says so at the top.
static enum status check_fixed(struct settings_reader *r, const struct arch_fixed *f, struct err *e) {
    if (!config_is_gguf(r->config)) TRY(check_value(r->config, f->key, f, e));
    return check_value(r->config, settings_key(r, f->key), f, e);
}

// The vocabulary of a GGUF file is its token list; the key vocab_size counts only without one.
static bool counts_tokens(const struct settings_reader *r, const struct arch_setting *s) {
    return s->dim == DIM_VOCAB && config_is_gguf(r->config) && config_has(r->config, "tokenizer.ggml.tokens");
}

static enum status read_dim(struct settings_reader *r, const struct arch_setting *s, struct arch *a, struct err *e) {
    const char *key = settings_key(r, config_is_gguf(r->config) ? s->gguf : s->hf);
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
            return settings_refuse(r, s->hf, "is missing, and the heads do not divide the hidden size", e);
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

// The key of a dim, for messages.
static const char *key_of(struct settings_reader *r, const struct arch *a, enum dim dim) {
    const struct arch_setting *s = a->family->settings;
    while (s->dim != dim) s++;
    return settings_key(r, config_is_gguf(r->config) ? s->gguf : s->hf);
}

static enum status check_shared(struct settings_reader *r, const struct arch *a, enum dim heads, enum dim others,
                                struct err *e) {
    if (a->dim[heads] % a->dim[others] == 0) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: %s: %llu heads cannot share %llu %s heads evenly", config_file(r->config),
                   key_of(r, a, heads), (unsigned long long)a->dim[heads], (unsigned long long)a->dim[others],
                   others == DIM_KV_HEADS ? "kv" : "key");
}

static enum status check_most(struct settings_reader *r, const struct arch *a, enum dim product, enum dim setting,
                              struct err *e) {
    if (a->dim[product] <= DIM_MAX) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: %s: heads of %llu values are too large", config_file(r->config),
                   key_of(r, a, setting), (unsigned long long)a->dim[setting]);
}

static enum status derive_delta_dims(struct settings_reader *r, struct arch *a, struct err *e) {
    uint64_t *d = a->dim, taps = d[DIM_DELTA_TAPS];
    if (taps == 0) return STATUS_OK; // a family without such layers
    d[DIM_DELTA_VALUES] = d[DIM_DELTA_V_HEADS] * d[DIM_DELTA_V];
    d[DIM_DELTA_CHANNELS] = 2 * d[DIM_DELTA_K_HEADS] * d[DIM_DELTA_K] + d[DIM_DELTA_VALUES];
    TRY(check_most(r, a, DIM_DELTA_VALUES, DIM_DELTA_V, e));
    TRY(check_most(r, a, DIM_DELTA_CHANNELS, DIM_DELTA_K, e));
    TRY(check_shared(r, a, DIM_DELTA_V_HEADS, DIM_DELTA_K_HEADS, e));
    if (taps > 1 && taps <= TAPS_MAX) return STATUS_OK;
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: %llu taps are not served, only 2 to %d", config_file(r->config),
                   key_of(r, a, DIM_DELTA_TAPS), (unsigned long long)taps, TAPS_MAX);
}

static enum status derive_dims(struct settings_reader *r, struct arch *a, struct err *e) {
    uint64_t *d = a->dim;
    d[DIM_Q] = d[DIM_HEADS] * d[DIM_HEAD];
    d[DIM_Q_GATED] = 2 * d[DIM_Q];
    d[DIM_KV] = d[DIM_KV_HEADS] * d[DIM_HEAD];
    TRY(check_most(r, a, DIM_Q_GATED, DIM_HEAD, e));
    TRY(check_most(r, a, DIM_KV, DIM_HEAD, e));
    TRY(check_shared(r, a, DIM_HEADS, DIM_KV_HEADS, e));
    return derive_delta_dims(r, a, e);
}

// False where the key is absent.
static enum status read_bool(const struct config *c, const char *key, bool *out, struct err *e) {
    *out = false;
    return config_has(c, key) ? config_bool(c, key, out, e) : STATUS_OK;
}

static const char *const kind_names[LAYER_KIND_COUNT] = {
    [LAYER_ATTENTION] = "full_attention",
    [LAYER_DELTA] = "linear_attention",
};

static bool find_kind(const struct family *f, const char *text, size_t n, uint8_t *out) {
    for (uint8_t kind = 0; kind < LAYER_KIND_COUNT; kind++) {
        if (!f->layers[kind].n_steps || !settings_text_is(text, n, kind_names[kind])) continue;
        *out = kind;
        return true;
    }
    return false;
}

// layer_types names each layer's kind.
static enum status read_layer_types(struct settings_reader *r, struct arch *a, struct err *e) {
    const char *key = settings_key(r, "layer_types"), *text;
    size_t n, n_text;
    TRY(config_n(r->config, key, &n, e));
    if (n != a->dim[DIM_LAYERS])
        return settings_refuse(r, "layer_types", "its length is not the number of layers", e);
    for (size_t i = 0; i < n; i++) {
        TRY(config_text_at(r->config, key, i, &text, &n_text, e));
        if (!find_kind(a->family, text, n_text, &a->layer_kind[i])) {
            return err_set(e, STATUS_UNSUPPORTED, "%s: %s: layer %zu is \"%.*s\", which the %s family does not have",
                           config_file(r->config), key, i, (int)(n_text < 40 ? n_text : 40), text, a->family->name);
        }
    }
    return STATUS_OK;
}

// Every layer of so many attends.
static enum status read_interval(struct settings_reader *r, struct arch *a, struct err *e) {
    const char *key = settings_key(r, "full_attention_interval");
    uint64_t interval = a->family->interval ? a->family->interval : 1;
    if (a->family->interval && config_has(r->config, key)) TRY(config_u64(r->config, key, &interval, e));
    if (interval == 0) return settings_refuse(r, "full_attention_interval", "must be at least 1", e);
    for (uint64_t i = 0; i < a->dim[DIM_LAYERS]; i++) {
        a->layer_kind[i] = (i + 1) % interval ? LAYER_DELTA : LAYER_ATTENTION;
    }
    return STATUS_OK;
}

static enum status read_layer_kinds(struct settings_reader *r, struct arch *a, struct err *e) {
    bool listed_kinds = !config_is_gguf(r->config) && settings_has(r, "layer_types");
    TRY(listed_kinds ? read_layer_types(r, a, e) : read_interval(r, a, e));
    for (uint64_t i = 0; i < a->dim[DIM_LAYERS]; i++) {
        a->layer_place[i] = (uint16_t)a->n_kind[a->layer_kind[i]]++;
    }
    return STATUS_OK;
}

// Nested settings may leave the tie to the top.
static enum status read_hf_flags(struct settings_reader *r, struct arch *a, struct err *e) {
    static const char *const tie = "tie_word_embeddings";
    bool nested, attention, mlp;
    TRY(read_bool(r->config, tie, &a->tied, e));
    TRY(read_bool(r->config, settings_key(r, tie), &nested, e));
    TRY(read_bool(r->config, settings_key(r, "attention_bias"), &attention, e));
    TRY(read_bool(r->config, settings_key(r, "mlp_bias"), &mlp, e));
    a->tied = a->tied || nested;
    a->bias[BIAS_ATTENTION] = attention ? PRESENCE_REQUIRED : PRESENCE_NONE;
    a->bias[BIAS_MLP] = mlp ? PRESENCE_REQUIRED : PRESENCE_NONE;
    return STATUS_OK;
}

// True when the weight of a role outside the layers is stored under these names.
static bool is_stored(const struct checkpoint *c, const struct family *f, enum role role,
                      const struct arch_names *names) {
    char name[SETTINGS_KEY_MAX];
    for (uint32_t i = 0; i < f->n_tensors; i++) {
        const struct arch_tensor *t = &f->tensors[i];
        if (t->role != role) continue;
        bool gguf = checkpoint_kind(c) == CHECKPOINT_GGUF;
        const char *before = gguf ? "" : role == ROLE_HEAD ? names->head : names->body;
        snprintf(name, sizeof name, "%s%s.weight", before, gguf ? t->gguf : t->hf);
        return checkpoint_find(c, name) != NULL;
    }
    return false;
}

// The first names under which the embedding is stored; the family's first where there are none.
static const struct arch_names *find_names(const struct checkpoint *c, const struct family *f) {
    const struct arch_names *names = f->hf_names;
    while (names->body && !is_stored(c, f, ROLE_EMBED, names)) names++;
    return names->body ? names : f->hf_names;
}

// Norms add it in float, where it must still be there.
static enum status read_norm_eps(struct settings_reader *r, struct arch *a, struct err *e) {
    bool gguf = config_is_gguf(r->config);
    const char *key = gguf ? "attention.layer_norm_rms_epsilon" : "rms_norm_eps";
    double eps;
    TRY(settings_positive(r, key, gguf ? NAN : 1e-6, &eps, e));
    a->norm_eps = (float)eps;
    if (a->norm_eps > 0 && isfinite(a->norm_eps)) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: %s: %g is no positive number in float32", config_file(r->config),
                   settings_key(r, key), eps);
}

enum status settings_parse(const struct config *config, struct arch *out, struct err *e) {
    struct settings_reader r;
    struct arch a = {0};
    TRY(find_family(config, &a.family, &r, e));
    bool gguf = config_is_gguf(config);
    for (const struct arch_fixed *f = gguf ? a.family->gguf_fixed : a.family->hf_fixed; f->key; f++) {
        TRY(check_fixed(&r, f, e));
    }
    for (uint32_t i = 0; i < a.family->n_settings; i++) TRY(read_dim(&r, &a.family->settings[i], &a, e));
    TRY(derive_dims(&r, &a, e));
    TRY(settings_read_rope(&r, &a, e));
    TRY(read_norm_eps(&r, &a, e));
    if (gguf) {
        a.tied = true;
        a.bias[BIAS_ATTENTION] = a.bias[BIAS_MLP] = PRESENCE_OPTIONAL;
    } else {
        TRY(read_hf_flags(&r, &a, e));
    }
    TRY(read_layer_kinds(&r, &a, e));
    *out = a;
    return STATUS_OK;
}

enum status settings_read(const struct checkpoint *c, struct arch *out, struct err *e) {
    TRY(settings_parse(checkpoint_config(c), out, e));
    out->names = find_names(c, out->family);
    out->tied = out->tied && !is_stored(c, out->family, ROLE_HEAD, out->names);
    return STATUS_OK;
}
