// The plain meaning of drawing: sort all ids, cut the list three times, let every survivor compete.
#include "kernels/draw/draw_steps.h"

static void sort_descending(struct draw_candidate *list, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        struct draw_candidate moving = list[i];
        uint32_t at = i;
        for (; at && list[at - 1].key < moving.key; at--) list[at] = list[at - 1];
        list[at] = moving;
    }
}

static uint32_t cut_top_p(const struct draw_candidate *list, uint32_t n, double top_p) {
    uint64_t total = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++) total += list[i].weight;
    uint64_t need = draw_top_p_need(top_p, total);
    uint32_t kept = 0;
    while (kept < n && sum < need) sum += list[kept++].weight;
    return kept;
}

int32_t draw_token_ref(const struct draw_rule *rule, const float *logits, uint64_t token_index, void *scratch) {
    struct draw_candidate *list = scratch;
    uint32_t n = rule->n_ids;
    for (uint32_t id = 0; id < n; id++) list[id].key = draw_key(logits[id], id);
    sort_descending(list, n);
    float most = logits[draw_key_id(list[0].key)];
    if (!(rule->temperature > 0.0) || !isfinite(most)) return (int32_t)draw_key_id(list[0].key);

    if (rule->top_k && rule->top_k < n) n = rule->top_k;
    for (uint32_t i = 0; i < n; i++) {
        double scaled = draw_scaled(logits[draw_key_id(list[i].key)], most, rule->temperature);
        list[i].weight = isnan(scaled) ? 0 : draw_weight(math_exp64(scaled));
    }
    if (draw_cuts_top_p(rule)) n = cut_top_p(list, n, rule->top_p);

    double best = -INFINITY;
    uint32_t winner = 0;
    for (uint32_t i = 0; i < n && list[i].weight >= draw_min_p_need(rule->min_p); i++) {
        uint32_t id = draw_key_id(list[i].key);
        double score = draw_scaled(logits[id], most, rule->temperature) + draw_gumbel(rule->seed, token_index, id);
        if (score > best || (score == best && id < winner)) best = score, winner = id;
    }
    return (int32_t)winner;
}
