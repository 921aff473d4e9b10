// Drawing one token quickly: candidates are cut by radix selection, noise is made only for ids that could still win.
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

enum { BLOCK = 64 };

// The largest of BLOCK logits, in eight chains; NaN is passed over.
static float largest_of_block(const float *x) {
    float lane[8], most = -INFINITY;
    for (int l = 0; l < 8; l++) lane[l] = -INFINITY;
    for (int i = 0; i < BLOCK; i += 8)
        for (int l = 0; l < 8; l++) lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
    for (int l = 0; l < 8; l++) most = lane[l] > most ? lane[l] : most;
    return most;
}

// The id of the largest logit, lower id on ties; 0 when there is nothing above -inf.
static uint32_t largest(const float *logits, uint32_t n) {
    float most = -INFINITY;
    uint32_t at = 0;
    for (uint32_t begin = 0; begin < n; begin += BLOCK) {
        uint32_t end = begin + BLOCK;
        if (end <= n && !(largest_of_block(logits + begin) > most)) continue;
        for (uint32_t id = begin; id < end && id < n; id++)
            if (logits[id] > most) most = logits[id], at = id;
    }
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

static uint32_t keep_from(struct draw_candidate *list, uint32_t n, uint64_t least_key) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].key >= least_key) list[kept++] = list[i];
    return kept;
}

// A logit that at least k ids reach: the k-th largest of the blocks' largest; -inf when there are fewer blocks.
static float reached_by(const float *logits, uint32_t n, uint32_t k, struct draw_candidate *list) {
    uint32_t blocks = n / BLOCK;
    if (k == 0 || k > blocks) return -INFINITY;
    for (uint32_t b = 0; b < blocks; b++)
        list[b] = (struct draw_candidate){draw_key(largest_of_block(logits + (size_t)b * BLOCK), b), 1};
    uint32_t block = draw_key_id(last_of_prefix(list, blocks, k, list + blocks));
    return largest_of_block(logits + (size_t)block * BLOCK);
}

// Sums of weights: of all that went through weigh(), and of what it kept.
struct sums {
    uint64_t all, kept;
};

// Weighs n candidates, the ids of `list` or else all from 0 on, and keeps in `list` those that could outlive top_p and
// min_p: what is left out by top_p weighs too little, all n together, to make the difference from all to need.
static uint32_t weigh(const struct draw_rule *rule, const float *logits, float most, struct draw_candidate *list,
                      uint32_t n, bool listed, struct sums *sums) {
    uint64_t least = draw_min_p_need(rule->min_p);
    uint32_t kept = 0;
    *sums = (struct sums){0};
    for (uint32_t begin = 0; begin < n; begin += BLOCK) {
        double part[BLOCK];
        uint32_t ids[BLOCK], in = n - begin < BLOCK ? n - begin : BLOCK;
        for (uint32_t i = 0; i < in; i++) {
            ids[i] = listed ? draw_key_id(list[begin + i].key) : begin + i;
            double scaled = draw_scaled(logits[ids[i]], most, rule->temperature);
            part[i] = scaled <= 0.0 ? scaled : -INFINITY; // NaN weighs nothing
        }
        math_exp64_row(part, part, in);
        for (uint32_t i = 0; i < in; i++) {
            uint64_t weight = draw_weight(part[i]);
            sums->all += weight;
            if (weight < least) continue;
            sums->kept += weight;
            list[kept++] = (struct draw_candidate){draw_key(logits[ids[i]], ids[i]), weight};
        }
        if (!draw_cuts_top_p(rule)) continue;
        uint64_t spare = sums->all - draw_top_p_need(rule->top_p, sums->all);
        if (spare / n > least) least = spare / n;
    }
    return kept;
}

// Fills `list` with what top_k, top_p and min_p leave, in no particular order.
static uint32_t cut(const struct draw_rule *rule, const float *logits, float most, struct draw_candidate *list) {
    uint32_t k = rule->top_k < rule->n_ids ? rule->top_k : 0, n = rule->n_ids;
    struct draw_candidate *spare = list + rule->n_ids;
    if (k) {
        float reached = reached_by(logits, rule->n_ids, k, list);
        n = 0;
        for (uint32_t id = 0; id < rule->n_ids; id++)
            if (!(logits[id] < reached)) list[n++] = (struct draw_candidate){draw_key(logits[id], id), 1};
        n = keep_from(list, n, last_of_prefix(list, n, k, spare));
    }
    struct sums sums;
    n = weigh(rule, logits, most, list, n, k, &sums);
    if (!draw_cuts_top_p(rule)) return n;
    uint64_t need = draw_top_p_need(rule->top_p, sums.all);
    if (sums.kept <= need) return n; // the prefix reaches past what min_p left
    return keep_from(list, n, last_of_prefix(list, n, need, spare));
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
