// Attention over blocks of queries: what they all see is done side by side, the rest one by one in the same order.
#include "kernels/attention/attention_blocks.h"

#include <math.h>
#include <string.h>

struct block {
    const struct attention_steps *steps;
    const struct attention_args *a;
    uint32_t kv_head;
    struct attention_queries side; // the queries
    const struct attention_row *row[ATTENTION_QUERIES];
    uint32_t shared, longest; // slots of the prefix that all rows see; that any row sees
};

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Takes queries first, first+1, ... of the call's rows x group while there is room and their rows share a page table.
static void block_fill(struct block *b, uint32_t row_begin, uint32_t first, uint32_t end, float *scratch) {
    const struct attention_args *a = b->a;
    uint32_t group = a->heads / a->cache->kv_heads;
    struct attention_queries *side = &b->side;
    side->n = 0;
    b->shared = UINT32_MAX;
    b->longest = 0;
    uint32_t most = 0;
    for (uint32_t at = first; at < end && side->n < b->steps->queries; at++, side->n++) {
        uint32_t r = row_begin + at / group, head = b->kv_head * group + at % group;
        const struct attention_row *row = &a->rows[r];
        if (side->n && row->pages != b->row[0]->pages) break;
        b->row[side->n] = row;
        side->q[side->n] = a->q + (size_t)r * a->ldq + (size_t)head * a->cache->head_dim;
        side->y[side->n] = a->y + (size_t)r * a->ldy + (size_t)head * a->cache->value_dim;
        b->shared = least(b->shared, row->n_prefix);
        if (row->n_prefix > b->longest) b->longest = row->n_prefix;
        if (attention_visible(row) > most) most = attention_visible(row);
    }
    size_t stride = ((size_t)most / ATTENTION_TILE + 1) * ATTENTION_TILE;
    for (uint32_t i = 0; i < side->n; i++) side->score[i] = scratch + i * stride;
}

static void score_path(const struct block *b, uint32_t i) {
    const struct attention_row *row = b->row[i];
    const struct attention_cache *c = b->a->cache;
    for (uint32_t j = 0; j < row->n_path; j++) {
        const float *key = attention_key(c, row->pages, b->kv_head, row->path[j]);
        float s = 0.0f;
        for (uint32_t d = 0; d < c->head_dim; d++) s = fmaf(b->side.q[i][d], key[(size_t)d * ATTENTION_TILE], s);
        b->side.score[i][row->n_prefix + j] = s * b->a->scale;
    }
}

static void score(struct block *b) {
    b->side.dims = b->a->cache->head_dim;
    for (uint32_t at = 0; at < b->longest; at += ATTENTION_PAGE) {
        uint32_t slots = least(b->longest - at, ATTENTION_PAGE);
        const float *keys = attention_key(b->a->cache, b->row[0]->pages, b->kv_head, at);
        b->steps->score(&b->side, keys, (slots + ATTENTION_TILE - 1) / ATTENTION_TILE, at);
    }
    for (uint32_t i = 0; i < b->side.n; i++) score_path(b, i);
}

// Values of the slots [from, to), page by page, for the queries of `side`.
static void add_slots(const struct block *b, const struct attention_queries *side, uint32_t from, uint32_t to) {
    while (from < to) {
        uint32_t n = least(to - from, ATTENTION_PAGE - from % ATTENTION_PAGE);
        b->steps->add(side, attention_value(b->a->cache, b->row[0]->pages, b->kv_head, from), n, from);
        from += n;
    }
}

static void add(struct block *b) {
    const struct attention_cache *c = b->a->cache;
    b->side.dims = c->value_dim;
    for (uint32_t i = 0; i < b->side.n; i++) memset(b->side.y[i], 0, c->value_dim * sizeof(float));
    add_slots(b, &b->side, 0, b->shared);
    for (uint32_t i = 0; i < b->side.n; i++) {
        const struct attention_row *row = b->row[i];
        struct attention_queries one = {.n = 1, .dims = c->value_dim, .score = {b->side.score[i]}, .y = {b->side.y[i]}};
        add_slots(b, &one, b->shared, row->n_prefix);
        for (uint32_t j = 0; j < row->n_path; j++)
            b->steps->add(&one, attention_value(c, row->pages, b->kv_head, row->path[j]), 1, row->n_prefix + j);
    }
}

void attention_by_blocks(const struct attention_steps *steps, const struct attention_args *a, uint32_t kv_head,
                         const uint32_t rows[2], float *scratch) {
    struct block b = {.steps = steps, .a = a, .kv_head = kv_head, .side.scale = a->scale};
    uint32_t end = (rows[1] - rows[0]) * (a->heads / a->cache->kv_heads);
    for (uint32_t first = 0; first < end; first += b.side.n) {
        block_fill(&b, rows[0], first, end, scratch);
        score(&b);
        float share[ATTENTION_QUERIES];
        for (uint32_t i = 0; i < b.side.n; i++)
            share[i] = 1.0f / steps->weigh(b.side.score[i], attention_visible(b.row[i]));
        add(&b);
        for (uint32_t i = 0; i < b.side.n; i++)
            for (uint32_t d = 0; d < a->cache->value_dim; d++) b.side.y[i][d] *= share[i];
    }
}
