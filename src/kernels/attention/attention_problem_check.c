// Random attention problems in guarded, poisoned memory.
#include "kernels/attention/attention_check.h"

#include <string.h>

enum { Y_GAP = 5 };

// Page numbers in random order out of half as many again, so that a table is no plain sequence.
static uint32_t shuffle_pages(struct check *c, int32_t *pages, uint32_t n) {
    uint32_t all = n + n / 2 + 1;
    for (uint32_t i = 0, next = 0; i < n; i++, next++) {
        next += all - next > n - i && check_below(c, 2);
        uint32_t at = check_below(c, i + 1);
        pages[i] = pages[at];
        pages[at] = (int32_t)next;
    }
    return all;
}

// Row i's parent is a random earlier token of the window, or the last token before it.
static void hang_on_tree(struct check *c, struct attention_row *rows, uint32_t n, uint32_t first) {
    uint32_t *path = check_new(c, (size_t)n * n * sizeof *path, 4);
    if (!path) return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *own = path + (size_t)i * n, depth = 0;
        uint32_t parent = i ? check_below(c, i + 1) : 0; // 0 = none, else row parent - 1
        if (parent) depth = rows[parent - 1].n_path;
        if (parent) memcpy(own, rows[parent - 1].path, depth * sizeof *own);
        own[depth] = first + i;
        rows[i].path = own;
        rows[i].n_path = depth + 1;
        rows[i].n_prefix = first;
    }
}

static void fill(struct check *c, const struct attention_problem *p, const struct attention_shape *s) {
    size_t q = (size_t)s->rows * p->args.ldq;
    check_fill(c, p->keys, (size_t)p->tokens * s->kv_heads * s->head_dim, CHECK_DATA_PLAIN);
    check_fill(c, p->values, (size_t)p->tokens * s->kv_heads * s->value_dim, s->data);
    check_fill(c, p->q, q, s->data == CHECK_DATA_SPARSE ? s->data : CHECK_DATA_PLAIN);
    for (size_t i = 0; i < q; i++) p->q[i] *= s->sharpness;
}

struct attention_problem attention_problem_new(struct check *c, const struct attention_shape *s) {
    uint32_t heads = s->kv_heads * s->group, tokens = s->first + s->rows;
    uint32_t n_pages = (tokens + ATTENTION_PAGE - 1) / ATTENTION_PAGE;
    struct attention_problem p = {.cache = {NULL, NULL, s->kv_heads, s->head_dim, s->value_dim}, .tokens = tokens};
    struct attention_args *a = &p.args;
    a->ldq = heads * s->head_dim;
    a->ldy = heads * s->value_dim + Y_GAP;
    a->heads = heads;
    a->scale = 0.3f;
    p.y_floats = (size_t)(s->rows - 1) * a->ldy + (size_t)heads * s->value_dim;
    p.scratch_floats = attention_scratch_floats(&p.cache, heads, tokens, s->rows);
    p.pages = check_new(c, n_pages * sizeof *p.pages, 4);
    p.rows = check_new(c, s->rows * sizeof *p.rows, 8);
    p.q = check_new(c, (size_t)s->rows * a->ldq * sizeof(float), 4);
    p.keys = check_new(c, (size_t)tokens * s->kv_heads * s->head_dim * sizeof(float), 4);
    p.values = check_new(c, (size_t)tokens * s->kv_heads * s->value_dim * sizeof(float), 4);
    p.scratch = check_new(c, p.scratch_floats * sizeof(float), 4);
    a->y = check_new(c, p.y_floats * sizeof(float), 4);
    if (check_failed(c)) return p;
    uint32_t pages = shuffle_pages(c, p.pages, n_pages);
    p.cache.keys = check_new(c, pages * attention_key_page_floats(&p.cache) * sizeof(float), 64);
    p.cache.values = check_new(c, pages * attention_value_page_floats(&p.cache) * sizeof(float), 64);
    for (uint32_t r = 0; r < s->rows; r++)
        p.rows[r] = (struct attention_row){p.pages, NULL, s->first + r + 1, 0, s->first + r};
    if (s->tree) hang_on_tree(c, p.rows, s->rows, s->first);
    a->rows = p.rows;
    a->q = p.q;
    fill(c, &p, s);
    return p;
}

struct attention_problem attention_problem_other(struct check *c, const struct attention_problem *p) {
    struct attention_problem other = *p;
    other.args.y = check_new(c, p->y_floats * sizeof(float), 4);
    return other;
}

void attention_problem_store(const struct attention_problem *p, uint32_t from, uint32_t to) {
    const struct attention_cache *cache = &p->cache;
    uint32_t ldk = cache->kv_heads * cache->head_dim, ldv = cache->kv_heads * cache->value_dim;
    for (uint32_t t = from; t < to; t++) {
        struct attention_row row = {p->pages, NULL, t + 1, 0, t};
        struct attention_store_args a = {cache, &row, p->keys + (size_t)t * ldk, p->values + (size_t)t * ldv, ldk, ldv};
        attention_store(&a, 0, 1);
    }
}

void attention_problem_run(const struct attention_problem *p, attention_fn *fn, uint32_t begin, uint32_t end) {
    struct attention_args a = p->args;
    a.cache = &p->cache;
    for (uint32_t h = 0; h < p->cache.kv_heads; h++) fn(&a, h, begin, end, p->scratch);
}
