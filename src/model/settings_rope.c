// Rotary settings in every spelling: rope_parameters, the older rope_scaling, keys at the top, GGUF metadata.
#include "model/settings_reader.h"

#include <math.h>
#include <stdio.h>

// The length before scaling stands beside the other fields, or at the top, where it wins; else it is the context.
static enum status read_original_context(struct settings_reader *r, const char *base, struct arch *a, struct err *e) {
    static const char *const name = "original_max_position_embeddings";
    char inside[SETTINGS_KEY_MAX];
    snprintf(inside, sizeof inside, "%s.%s", base, name);
    const char *key = settings_has(r, name) ? name : inside;
    return settings_positive(r, key, (double)a->dim[DIM_CONTEXT], &a->rope.original_context, e);
}

static enum status read_llama3(struct settings_reader *r, const char *base, struct arch *a, struct err *e) {
    struct arch_rope *rope = &a->rope;
    const struct {
        const char *name;
        double *to;
    } fields[] = {{"factor", &rope->factor},
                  {"low_freq_factor", &rope->low_freq_factor},
                  {"high_freq_factor", &rope->high_freq_factor}};
    char key[SETTINGS_KEY_MAX];
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        snprintf(key, sizeof key, "%s.%s", base, fields[i].name);
        TRY(settings_positive(r, key, NAN, fields[i].to, e));
    }
    TRY(read_original_context(r, base, a, e));
    if (rope->high_freq_factor > rope->low_freq_factor) return STATUS_OK;
    snprintf(key, sizeof key, "%s.high_freq_factor", base);
    return err_set(e, STATUS_INVALID, "%s: %s: must be above low_freq_factor", config_file(r->config),
                   settings_key(r, key));
}

// rope_parameters, or the older rope_scaling, which wins when it says anything.
static const char *find_rope(struct settings_reader *r) {
    static const char *const keys[] = {"rope_scaling.rope_type", "rope_scaling.type", "rope_scaling.rope_theta",
                                       "rope_scaling.factor", "rope_scaling.partial_rotary_factor"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (settings_has(r, keys[i])) return "rope_scaling";
    }
    return "rope_parameters";
}

// A number beside the other rotary settings, else at the top.
static enum status read_beside(struct settings_reader *r, const char *base, const char *name, double otherwise,
                               double *out, struct err *e) {
    char inside[SETTINGS_KEY_MAX];
    snprintf(inside, sizeof inside, "%s.%s", base, name);
    return settings_positive(r, settings_has(r, inside) ? inside : name, otherwise, out, e);
}

static enum status read_type(struct settings_reader *r, const char *base, struct arch *a, struct err *e) {
    const char *type;
    char key[SETTINGS_KEY_MAX];
    size_t n;
    snprintf(key, sizeof key, "%s.rope_type", base);
    if (!settings_has(r, key)) snprintf(key, sizeof key, "%s.type", base);
    if (!settings_has(r, key)) return STATUS_OK;
    TRY(config_text(r->config, settings_key(r, key), &type, &n, e));
    if (settings_text_is(type, n, "default")) return STATUS_OK;
    if (settings_text_is(type, n, "llama3")) return read_llama3(r, base, a, e);
    return err_set(e, STATUS_UNSUPPORTED, "%s: %s: \"%.*s\" is not served, only \"default\" and \"llama3\"",
                   config_file(r->config), settings_key(r, key), (int)(n < 40 ? n : 40), type);
}

static enum status read_hf(struct settings_reader *r, struct arch *a, double *share, struct err *e) {
    static const char *const nested[] = {"rope_parameters.full_attention", "rope_parameters.sliding_attention",
                                         "rope_parameters.linear_attention"};
    const char *base = find_rope(r);
    double partial = a->family->partial_rotary;
    TRY(read_beside(r, base, "rope_theta", 10000, &a->rope.theta, e));
    for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++) {
        if (settings_has(r, nested[i]))
            return settings_refuse(r, nested[i], "rope by kind of layer is not served", e);
    }
    if (partial > 0) TRY(read_beside(r, base, "partial_rotary_factor", partial, share, e));
    return read_type(r, base, a, e);
}

// Scaling arrives as a tensor of factors; the keys can only say what is already fixed.
static enum status read_gguf(struct settings_reader *r, struct arch *a, struct err *e) {
    static const char *const heads[] = {"rope.dimension_count", "attention.value_length"};
    TRY(settings_positive(r, "rope.freq_base", 10000, &a->rope.theta, e));
    for (size_t i = 0; i < 2; i++) {
        const char *key = settings_key(r, heads[i]);
        uint64_t size = a->dim[DIM_HEAD];
        if (config_has(r->config, key)) TRY(config_u64(r->config, key, &size, e));
        if (size == a->dim[DIM_HEAD]) continue;
        return err_set(e, STATUS_UNSUPPORTED, "%s: %s: %llu is not served, only the head size %llu",
                       config_file(r->config), key, (unsigned long long)size, (unsigned long long)a->dim[DIM_HEAD]);
    }
    return STATUS_OK;
}

// The turned values of a head, counted as transformers counts them: rounded down, then paired up.
static enum status count_pairs(const struct settings_reader *r, double share, struct arch *a, struct err *e) {
    uint64_t head = a->dim[DIM_HEAD];
    uint64_t turned = share <= 1 ? (uint64_t)((double)head * share) : head + 1;
    uint64_t pairs = turned / 2 + turned % 2;
    if (turned == 0 || 2 * pairs > head) {
        return err_set(e, STATUS_INVALID, "%s: %llu values of a head of %llu cannot be turned in pairs",
                       config_file(r->config), (unsigned long long)turned, (unsigned long long)head);
    }
    a->rope.dims = (uint32_t)turned;
    a->dim[DIM_ROPE_PAIRS] = pairs;
    return STATUS_OK;
}

// No pair turns by more than a radian a token, or little more: angles are exact up to 2^31.
static enum status check_speed(const struct settings_reader *r, const struct arch *a, struct err *e) {
    const struct arch_rope *rope = &a->rope;
    const char *theta = config_is_gguf(r->config) ? "rope.freq_base" : "rope_theta";
    bool slow = rope->theta >= 1;
    if (slow && (rope->factor == 0 || rope->factor >= 1)) return STATUS_OK;
    return err_set(e, STATUS_INVALID, "%s: %s: %g is under 1", config_file(r->config), slow ? "factor" : theta,
                   slow ? rope->factor : rope->theta);
}

enum status settings_read_rope(struct settings_reader *r, struct arch *a, struct err *e) {
    double share = 1;
    TRY(config_is_gguf(r->config) ? read_gguf(r, a, e) : read_hf(r, a, &share, e));
    TRY(check_speed(r, a, e));
    return count_pairs(r, share, a, e);
}
