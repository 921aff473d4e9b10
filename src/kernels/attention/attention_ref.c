// The plain meaning of attention: one query at a time, every sum in the order that the contract names.
#include "kernels/attention/attention_cache.h"
#include "kernels/math/math.h"

#include <math.h>

// score[p] of every visible key; gives the largest.
static float score_keys(const struct attention_args *a, const struct attention_row *row, uint32_t kv_head,
                        const float *q, float *score) {
    float most = -INFINITY;
    for (uint32_t p = 0; p < attention_visible(row); p++) {
        const float *key = attention_key(a->cache, row->pages, kv_head, attention_slot(row, p));
        float s = 0.0f;
        for (uint32_t d = 0; d < a->cache->head_dim; d++) s = fmaf(q[d], key[(size_t)d * ATTENTION_TILE], s);
        score[p] = s * a->scale;
        most = score[p] > most ? score[p] : most;
    }
    return most;
}

// score[p] becomes exp(score[p] - most); gives their total.
static float weigh(float *score, uint32_t n, float most) {
    float lane[ATTENTION_TILE] = {0};
    for (uint32_t p = 0; p < n; p++) {
        score[p] = math_exp(score[p] - most);
        lane[p % ATTENTION_TILE] += score[p];
    }
    for (int half = ATTENTION_TILE / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

void attention_ref(const struct attention_args *a, uint32_t kv_head, uint32_t row_begin, uint32_t row_end,
                   float *scratch) {
    const struct attention_cache *c = a->cache;
    uint32_t group = a->heads / c->kv_heads;
    for (uint32_t r = row_begin; r < row_end; r++) {
        const struct attention_row *row = &a->rows[r];
        for (uint32_t h = kv_head * group; h < (kv_head + 1) * group; h++) {
            float *y = a->y + (size_t)r * a->ldy + (size_t)h * c->value_dim;
            float most = score_keys(a, row, kv_head, a->q + (size_t)r * a->ldq + (size_t)h * c->head_dim, scratch);
            float share = 1.0f / weigh(scratch, attention_visible(row), most);
            for (uint32_t d = 0; d < c->value_dim; d++) y[d] = 0.0f;
            for (uint32_t p = 0; p < attention_visible(row); p++) {
                const float *value = attention_value(c, row->pages, kv_head, attention_slot(row, p));
                for (uint32_t d = 0; d < c->value_dim; d++) y[d] = fmaf(scratch[p], value[d], y[d]);
            }
            for (uint32_t d = 0; d < c->value_dim; d++) y[d] *= share;
        }
    }
}
