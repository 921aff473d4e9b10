// Drawing one token quickly: candidates are cut by radix selection, and noise is made only for ids that could still win.
#include "kernels/draw/draw_steps.h"

double draw_noise(uint64_t hash) {
    double e;
    if (hash >> 63)
        e = -math_log64((double)(0 - hash) * 0x1p-64);
    else
        e = -math_log1p64(-((double)hash * 0x1p-64));
    return -math_log64(e);
}

double draw_gumbel(uint64_t seed, uint64_t token_index, uint32_t id) {
    return draw_noise(draw_hash(draw_stem(seed, token_index), id));
}

size_t draw_scratch_bytes(uint32_t n_ids) { return 2 * (size_t)n_ids * sizeof(struct draw_candidate); }

// The id of the largest logit, lower id on ties; 0 when there is nothing above -inf.
static uint32_t largest(const float *logits, uint32_t n) {
    float most = -INFINITY;
    uint32_t at = 0;
    for (uint32_t id = 0; id < n; id++)
        if (logits[id] > most) most = logits[id], at = id;
    return at;
}

// The argmax being looked for.
struct contest {
    double temperature, best;
    uint64_t stem;
    float most;
    uint32_t winner;
};

// Noise is at most -log w, and w has that many leading zeros: most ids are turned away without a logarithm.
static inline void compete(struct contest *c, uint32_t id, float logit) {
    double scaled = draw_scaled(logit, c->most, c->temperature);
    uint64_t hash = draw_hash(c->stem, id);
    double noise_limit = (double)(__builtin_clzll(hash) + 1) * 0.6931472; // a little over log 2
    if (!(scaled + noise_limit >= c->best)) return;
    double score = scaled + draw_noise(hash);
    if (score > c->best || (score == c->best && id < c->winner)) c->best = score, c->winner = id;
}

// The smallest key of the shortest prefix, by descending key, whose weights add up to `need` (at least 1 and at most
// their total). Digit by digit from the top: keys that share the digits found so far are gathered in `spare`.
static uint64_t last_of_prefix(const struct draw_candidate *list, uint32_t n, uint64_t need,
                               struct draw_candidate *spare) {
    uint64_t found = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        uint64_t sum[256] = {0};
        for (uint32_t i = 0; i < n; i++) sum[list[i].key >> shift & 255] += list[i].weight;
        uint32_t digit = 255;
        while (digit && sum[digit] < need) need -= sum[digit--];
        found |= (uint64_t)digit << shift;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++)
            if ((list[i].key >> shift & 255) == digit) spare[kept++] = list[i];
        list = spare;
        n = kept;
    }
    return found;
}

static uint32_t keep_from(struct draw_candidate *list, uint32_t n, uint64_t least_key, uint64_t least_weight) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].key >= least_key && list[i].weight >= least_weight) list[kept++] = list[i];
    return kept;
}

// Fills `list` with what top_k, top_p and min_p leave, in no particular order.
static uint32_t cut(const struct draw_rule *rule, const float *logits, float most, struct draw_candidate *list) {
    uint32_t n = rule->n_ids;
    struct draw_candidate *spare = list + n;
    for (uint32_t id = 0; id < n; id++) list[id] = (struct draw_candidate){draw_key(logits[id], id), 1};
    if (rule->top_k && rule->top_k < n) n = keep_from(list, n, last_of_prefix(list, n, rule->top_k, spare), 0);

    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        list[i].weight = draw_weight(logits[draw_key_id(list[i].key)], most, rule->temperature);
        total += list[i].weight;
    }
    uint64_t least = 0;
    if (draw_cuts_top_p(rule)) least = last_of_prefix(list, n, draw_top_p_need(rule->top_p, total), spare);
    return keep_from(list, n, least, draw_min_p_need(rule->min_p));
}

int32_t draw_token(const struct draw_rule *rule, const float *logits, uint64_t token_index, void *scratch) {
    uint32_t first = largest(logits, rule->n_ids);
    float most = logits[first];
    if (!(rule->temperature > 0.0) || !isfinite(most)) return (int32_t)first;

    // The largest logit is in every cut; letting it compete first raises the bar for the rest.
    struct contest c = {rule->temperature, -INFINITY, draw_stem(rule->seed, token_index), most, first};
    compete(&c, first, most);
    if (!rule->top_k && !draw_cuts_top_p(rule) && !(rule->min_p > 0.0)) {
        for (uint32_t id = 0; id < rule->n_ids; id++) compete(&c, id, logits[id]);
        return (int32_t)c.winner;
    }
    struct draw_candidate *list = scratch;
    uint32_t n = cut(rule, logits, most, list);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = draw_key_id(list[i].key);
        compete(&c, id, logits[id]);
    }
    return (int32_t)c.winner;
}
