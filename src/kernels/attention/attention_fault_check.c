// Attention that is wrong on purpose: each kernel shows that a gate can go red.
#include "kernels/attention/attention_cache.h"
#include "kernels/attention/attention_check.h"
#include "kernels/math/math.h"

#include "base/float16.h"

#include <math.h>

// One way of being wrong.
struct fault {
    bool backwards;       // values are added from the last position
    bool chain_total;     // the total is one chain
    bool tile_max;        // the largest score of the first tile only
    bool half_weights;    // weights are rounded to bfloat16
    bool pages_in_order;  // the page table is not read
    bool hidden_keys;     // zero times the values up to the end of the last tile is added
    bool shortest_prefix; // all rows of a range see what its first row sees
    bool path_by_slot;    // a path's last two tokens swap places
    bool split_long;      // ranges of more than two rows total in one chain
    bool block_max;       // a row takes the largest score of the row before it too
    bool all_columns;     // the gap after a row is written
    bool long_scratch;    // one float past the scratch is written
};

static uint32_t slot_of(const struct fault *f, const struct attention_row *row, uint32_t p) {
    uint32_t n = attention_visible(row);
    if (f->path_by_slot && row->n_path > 1 && p + 2 >= n) p = p + 2 == n ? n - 1 : n - 2;
    return attention_slot(row, p);
}

struct place {
    const struct fault *f;
    const struct attention_args *a;
    const struct attention_row *row;
    uint32_t kv_head, head, r, n;
};

static const int32_t *pages_of(const struct place *w) {
    static const int32_t in_order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return w->f->pages_in_order ? in_order : w->row->pages;
}

static float largest_score(const struct place *w, float *score) {
    const struct attention_cache *c = w->a->cache;
    const float *q = w->a->q + (size_t)w->r * w->a->ldq + (size_t)w->head * c->head_dim;
    float most = -INFINITY;
    for (uint32_t p = 0; p < w->n; p++) {
        const float *key = attention_key(c, pages_of(w), w->kv_head, slot_of(w->f, w->row, p));
        float s = 0.0f;
        for (uint32_t d = 0; d < c->head_dim; d++) s = fmaf(q[d], key[(size_t)d * ATTENTION_TILE], s);
        score[p] = s * w->a->scale;
        if (!(w->f->tile_max && p >= ATTENTION_TILE) && score[p] > most) most = score[p];
    }
    return most;
}

static float weigh(const struct place *w, float *score, float most, bool chain) {
    float lane[ATTENTION_TILE] = {0};
    for (uint32_t p = 0; p < w->n; p++) {
        score[p] = math_exp(score[p] - most);
        if (w->f->half_weights) score[p] = bf16_to_float(float_to_bf16(score[p]));
        lane[chain ? 0 : p % ATTENTION_TILE] += score[p];
    }
    for (int half = ATTENTION_TILE / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

static void add_values(const struct place *w, const float *score, float share) {
    const struct attention_cache *c = w->a->cache;
    float *y = w->a->y + (size_t)w->r * w->a->ldy + (size_t)w->head * c->value_dim;
    uint32_t end = w->f->hidden_keys && !w->row->n_path ? (w->n + 15) / 16 * 16 : w->n;
    for (uint32_t d = 0; d < c->value_dim; d++) {
        float sum = 0.0f;
        for (uint32_t i = 0; i < end; i++) {
            uint32_t p = w->f->backwards ? end - 1 - i : i;
            uint32_t slot = p < w->n ? slot_of(w->f, w->row, p) : p;
            const float *value = attention_value(c, pages_of(w), w->kv_head, slot);
            sum = fmaf(p < w->n ? score[p] : 0.0f, value[d], sum);
        }
        y[d] = sum * share;
    }
}

static void wrong(const struct fault *f, const struct attention_args *a, uint32_t kv_head, const uint32_t rows[2],
                  float *scratch) {
    uint32_t group = a->heads / a->cache->kv_heads;
    float before = -INFINITY;
    for (uint32_t r = rows[0]; r < rows[1]; r++) {
        struct place w = {f, a, &a->rows[r], kv_head, 0, r, attention_visible(&a->rows[r])};
        if (f->shortest_prefix) w.n = attention_visible(&a->rows[rows[0]]);
        for (w.head = kv_head * group; w.head < (kv_head + 1) * group; w.head++) {
            float most = largest_score(&w, scratch), own = most;
            if (f->block_max && r > rows[0] && !(before <= most)) most = before;
            before = own;
            float total = weigh(&w, scratch, most, f->chain_total || (f->split_long && rows[1] - rows[0] > 2));
            add_values(&w, scratch, 1.0f / total);
        }
        if (f->all_columns) a->y[(size_t)r * a->ldy + (size_t)a->heads * a->cache->value_dim] = 0.0f;
    }
    if (f->long_scratch) scratch[attention_scratch_floats(a->cache, a->heads, a->rows[0].n_prefix, 1)] = 0.0f;
}

// X(name, gate, what is wrong)
#define FAULTS(X)                                                                                                      \
    X(backwards, BITS, "values are added from the last position")                                                      \
    X(chain_total, BITS, "the total is one chain")                                                                     \
    X(tile_max, BITS, "the largest score is looked for in the first tile only")                                        \
    X(half_weights, ACCURACY, "weights are rounded to bfloat16")                                                       \
    X(pages_in_order, COMPOSITION, "the page table is not read")                                                       \
    X(hidden_keys, COMPOSITION, "zero times the values up to the end of the last tile is added")                       \
    X(shortest_prefix, COMPOSITION, "all rows of a range see what its first row sees")                                 \
    X(path_by_slot, COMPOSITION, "the last two tokens of a path swap places")                                          \
    X(split_long, PARTITION, "ranges of more than two rows total in one chain")                                        \
    X(block_max, ROWS, "a row takes over the largest score of the row before it")                                      \
    X(all_columns, EDGES, "the gap after a row is written")                                                            \
    X(long_scratch, EDGES, "one float past the scratch is written")

#define X(flag, gate, does)                                                                                            \
    static void flag##_fn(const struct attention_args *a, uint32_t kv_head, uint32_t begin, uint32_t end,              \
                          float *scratch) {                                                                            \
        static const struct fault f = {.flag = true};                                                                  \
        wrong(&f, a, kv_head, (const uint32_t[]){begin, end}, scratch);                                                \
    }                                                                                                                  \
    static const struct attention_check_variant flag##_variant = {flag##_fn};
FAULTS(X)
#undef X

const struct check_fault attention_faults[ATTENTION_FAULTS] = {
#define X(flag, gate, does) {#flag, does, CHECK_GATE_##gate, &flag##_variant},
    FAULTS(X)
#undef X
};
