// The paged cache of attention: sizes, storing and moving tokens; and the choice among the variants.
#include "kernels/attention/attention_cache.h"

#include <string.h>

size_t attention_key_page_floats(const struct attention_cache *c) {
    return (size_t)c->kv_heads * ATTENTION_PAGE * c->head_dim;
}

size_t attention_value_page_floats(const struct attention_cache *c) {
    return (size_t)c->kv_heads * ATTENTION_PAGE * c->value_dim;
}

size_t attention_scratch_floats(const struct attention_cache *c, uint32_t heads, uint32_t n_keys, uint32_t rows) {
    size_t queries = (size_t)rows * (heads / c->kv_heads);
    size_t tiles = (size_t)n_keys / ATTENTION_TILE + 1;
    return (queries < ATTENTION_QUERIES ? queries : ATTENTION_QUERIES) * tiles * ATTENTION_TILE;
}

void attention_store(const struct attention_store_args *a, uint32_t row_begin, uint32_t row_end) {
    const struct attention_cache *c = a->cache;
    for (uint32_t r = row_begin; r < row_end; r++) {
        const struct attention_row *row = &a->rows[r];
        for (uint32_t h = 0; h < c->kv_heads; h++) {
            const float *key = a->keys + (size_t)r * a->ldk + (size_t)h * c->head_dim;
            const float *value = a->values + (size_t)r * a->ldv + (size_t)h * c->value_dim;
            float *to = attention_key(c, row->pages, h, row->slot);
            for (uint32_t d = 0; d < c->head_dim; d++) to[(size_t)d * ATTENTION_TILE] = key[d];
            memcpy(attention_value(c, row->pages, h, row->slot), value, c->value_dim * sizeof *value);
        }
    }
}

void attention_move(const struct attention_cache *c, const int32_t *pages, uint32_t from, uint32_t to) {
    if (from == to) return;
    for (uint32_t h = 0; h < c->kv_heads; h++) {
        const float *key = attention_key(c, pages, h, from);
        float *moved = attention_key(c, pages, h, to);
        for (uint32_t d = 0; d < c->head_dim; d++)
            moved[(size_t)d * ATTENTION_TILE] = key[(size_t)d * ATTENTION_TILE];
        memcpy(attention_value(c, pages, h, to), attention_value(c, pages, h, from), c->value_dim * sizeof(float));
    }
}

attention_fn *attention_select(enum isa isa) {
    attention_fn *best = attention_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/attention/attention.def"
#undef VARIANT
    return best;
}
