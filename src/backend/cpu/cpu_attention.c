// The CPU ops on the paged cache: storing, attending and moving tokens.
#include "backend/cpu/cpu_backend.h"

#include "kernels/attention/attention_cache.h"

#include <string.h>

// Rows of one block share the keys they load; a job is cut finer where its rows are few.
enum { ROWS_A_BLOCK = 16, NS_A_KEY_VALUE = 8, WORTH_WAKING = 4000, STORE_COST = 1, PARTS_MAX = 60000 };

static struct attention_cache cache_of(const struct backend_cache *c) {
    return (struct attention_cache){.keys = cpu_pointer(c->keys),
                                    .values = cpu_pointer(c->values),
                                    .kv_heads = c->kv_heads,
                                    .head_dim = c->head_dim,
                                    .value_dim = c->value_dim};
}

static void translate_rows(struct cpu_backend *c, const struct backend_rows *rows) {
    for (uint32_t r = 0; r < rows->n; r++) {
        const struct backend_row *row = &rows->rows[r];
        c->rows[r] = (struct attention_row){.pages = rows->page_tables[row->table],
                                            .path = rows->paths ? rows->paths + row->path_at : NULL,
                                            .n_prefix = row->n_prefix,
                                            .n_path = row->n_path,
                                            .slot = row->slot};
    }
}

static void store_rows(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    attention_store(context, begin, end);
}

void cpu_store(struct backend *b, const struct op_store *op) {
    struct cpu_backend *c = cpu_of(b);
    struct attention_cache cache = cache_of(op->cache);
    translate_rows(c, op->rows);
    struct attention_store_args args = {.cache = &cache,
                                        .rows = c->rows,
                                        .keys = cpu_pointer(op->keys),
                                        .values = cpu_pointer(op->values),
                                        .ldk = op->ldk,
                                        .ldv = op->ldv};
    uint64_t cost = (uint64_t)cache.kv_heads * (cache.head_dim + cache.value_dim) * STORE_COST;
    cpu_for_rows(c, store_rows, &args, op->rows->n, cost);
}

void cpu_load(struct backend *b, const struct op_load *op) {
    struct attention_cache cache = cache_of(op->cache);
    (void)b;
    for (uint32_t r = 0; r < op->n; r++) {
        float *keys = (float *)cpu_pointer(op->keys) + (size_t)r * op->ldk;
        float *values = (float *)cpu_pointer(op->values) + (size_t)r * op->ldv;
        for (uint32_t h = 0; h < cache.kv_heads; h++) {
            const float *key = attention_key(&cache, op->pages, h, op->first + r);
            const float *value = attention_value(&cache, op->pages, h, op->first + r);
            for (uint32_t d = 0; d < cache.head_dim; d++) *keys++ = key[d * ATTENTION_TILE];
            memcpy(values + (size_t)h * cache.value_dim, value, cache.value_dim * sizeof *value);
        }
    }
}

struct attention_job {
    const struct cpu_backend *c;
    struct attention_args args;
    uint32_t rows, blocks;
    uint64_t units; // blocks x kv heads
};

static void attention_unit(const struct attention_job *j, uint64_t unit, uint32_t worker) {
    uint32_t kv_heads = j->args.cache->kv_heads;
    uint32_t block = j->blocks - 1 - (uint32_t)(unit / kv_heads); // later rows see more keys: the long units first
    uint32_t begin = (uint32_t)((uint64_t)j->rows * block / j->blocks);
    uint32_t end = (uint32_t)((uint64_t)j->rows * (block + 1) / j->blocks);
    float *scratch = j->c->attention_scratch + worker * j->c->attention_floats;
    j->c->attention(&j->args, (uint32_t)(unit % kv_heads), begin, end, scratch);
}

// A unit a part, unless there are more units than a pool takes parts.
static void attention_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    const struct attention_job *j = context;
    uint64_t end = j->units * (part + 1) / parts;
    for (uint64_t unit = j->units * part / parts; unit < end; unit++) attention_unit(j, unit, worker);
}

// About how long one thread takes, in nanoseconds.
static uint64_t attention_cost(const struct op_attention *op) {
    uint64_t keys = 0;
    for (uint32_t r = 0; r < op->rows->n; r++) keys += op->rows->rows[r].n_prefix + op->rows->rows[r].n_path;
    return keys * op->heads * (op->cache->head_dim + op->cache->value_dim) / 128 * NS_A_KEY_VALUE;
}

void cpu_attention(struct backend *b, const struct op_attention *op) {
    struct cpu_backend *c = cpu_of(b);
    struct attention_cache cache = cache_of(op->cache);
    translate_rows(c, op->rows);
    struct attention_job j = {.c = c,
                              .args = {.cache = &cache,
                                       .rows = c->rows,
                                       .q = cpu_pointer(op->q),
                                       .y = cpu_pointer(op->y),
                                       .ldq = op->ldq,
                                       .ldy = op->ldy,
                                       .heads = op->heads,
                                       .scale = op->scale},
                              .rows = op->rows->n,
                              .blocks = (op->rows->n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK};
    j.units = (uint64_t)j.blocks * cache.kv_heads;
    uint32_t parts = j.units < PARTS_MAX ? (uint32_t)j.units : PARTS_MAX;
    if (attention_cost(op) >= WORTH_WAKING) {
        pool_run(c->pool, attention_part, &j, parts);
        return;
    }
    for (uint32_t part = 0; part < parts; part++) attention_part(&j, part, parts, 0);
}

void cpu_move(struct backend *b, const struct op_move *op) {
    struct attention_cache cache = cache_of(op->cache);
    (void)b;
    attention_move(&cache, op->pages, op->from, op->to);
}
