// Draw rules from flags and files.
#include "cli/sampling.h"

#include "engine/engine.h"

static enum status optional_number(const struct config *c, const char *key, double *out, struct err *e) {
    return config_has(c, key) ? config_f64(c, key, out, e) : STATUS_OK;
}

static enum status optional_top_k(const struct config *c, const char *key, struct draw_rule *rule, struct err *e) {
    double top_k = 0;
    TRY(optional_number(c, key, &top_k, e));
    rule->top_k = top_k >= 1 && top_k <= UINT32_MAX ? (uint32_t)top_k : 0;
    return STATUS_OK;
}

// A reply that lacks what the checkpoint was tuned with should not be a riddle.
static void tell_what_is_left_out(const struct config *c, const struct log *log) {
    static const struct {
        const char *key;
        double off;
    } settings[] = {{"repetition_penalty", 1}, {"encoder_repetition_penalty", 1},       {"no_repeat_ngram_size", 0},
                    {"typical_p", 1},          {"epsilon_cutoff", 0},                   {"eta_cutoff", 0},
                    {"penalty_alpha", 0},      {"general.sampling.penalty_repeat", 1}};
    for (size_t i = 0; c && i < sizeof settings / sizeof settings[0]; i++) {
        double x = settings[i].off;
        if (config_has(c, settings[i].key) && config_f64(c, settings[i].key, &x, NULL) == STATUS_OK &&
            (x < settings[i].off || x > settings[i].off)) {
            log_line(log, LOG_LEVEL_WARN, "the checkpoint recommends %s %.15g, which is not served yet",
                     settings[i].key, x);
        }
    }
}

enum status sampling_recommended(const struct checkpoint *c, const struct log *log, struct draw_rule *rule,
                                 struct err *e) {
    *rule = (struct draw_rule){0};
    bool gguf = checkpoint_kind(c) == CHECKPOINT_GGUF;
    const struct config *g = gguf ? checkpoint_config(c) : checkpoint_generation_config(c);
    tell_what_is_left_out(g, log);
    if (gguf) {
        TRY(optional_number(g, "general.sampling.temp", &rule->temperature, e));
        TRY(optional_number(g, "general.sampling.top_p", &rule->top_p, e));
        TRY(optional_number(g, "general.sampling.min_p", &rule->min_p, e));
        return optional_top_k(g, "general.sampling.top_k", rule, e);
    }
    if (!g) return STATUS_OK;
    bool sample = config_has(g, "temperature");
    if (config_has(g, "do_sample")) TRY(config_bool(g, "do_sample", &sample, e));
    if (!sample) return STATUS_OK;
    rule->temperature = 1;
    TRY(optional_number(g, "temperature", &rule->temperature, e));
    TRY(optional_number(g, "top_p", &rule->top_p, e));
    TRY(optional_number(g, "min_p", &rule->min_p, e));
    return optional_top_k(g, "top_k", rule, e);
}

void sampling_from_flags(const struct options *o, struct draw_rule *rule) {
    rule->temperature = options_number(o, FLAG_TEMPERATURE, rule->temperature);
    double top_p = options_number(o, FLAG_TOP_P, -1);
    if (top_p >= 0) rule->top_p = draw_top_p(top_p);
    rule->min_p = options_number(o, FLAG_MIN_P, rule->min_p);
    rule->top_k = (uint32_t)options_count(o, FLAG_TOP_K, rule->top_k);
}

uint64_t sampling_seed(const struct options *o, const int32_t *prompt, size_t n) {
    return options_count(o, FLAG_SEED, engine_default_seed(prompt, n));
}
