// Where a stored token's key and value lie in the paged cache.
#ifndef TF_KERNELS_ATTENTION_ATTENTION_CACHE_H
#define TF_KERNELS_ATTENTION_ATTENTION_CACHE_H

#include "kernels/attention/attention.h"

enum {
    ATTENTION_QUERIES = 8, // most queries (a row's head) that a variant takes side by side
};

// The slot of the token that row `r` sees at position `p`.
static inline uint32_t attention_slot(const struct attention_row *r, uint32_t p) {
    return p < r->n_prefix ? p : r->path[p - r->n_prefix];
}

static inline uint32_t attention_visible(const struct attention_row *r) { return r->n_prefix + r->n_path; }

// First dim of the key in `slot`; its next dims follow at steps of ATTENTION_TILE floats.
static inline float *attention_key(const struct attention_cache *c, const int32_t *pages, uint32_t kv_head,
                                   uint32_t slot) {
    size_t page = (size_t)pages[slot / ATTENTION_PAGE], place = slot % ATTENTION_PAGE;
    size_t tile = (page * c->kv_heads + kv_head) * (ATTENTION_PAGE / ATTENTION_TILE) + place / ATTENTION_TILE;
    return c->keys + tile * c->head_dim * ATTENTION_TILE + place % ATTENTION_TILE;
}

static inline float *attention_value(const struct attention_cache *c, const int32_t *pages, uint32_t kv_head,
                                     uint32_t slot) {
    size_t page = (size_t)pages[slot / ATTENTION_PAGE], place = slot % ATTENTION_PAGE;
    return c->values + ((page * c->kv_heads + kv_head) * ATTENTION_PAGE + place) * c->value_dim;
}

#endif
