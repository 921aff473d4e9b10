// Checks of attention: its gates and speed.
#include "kernels/attention/attention_check.h"

#include "kernels/attention/attention_cache.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static attention_fn *fn_of(const void *variant) { return ((const struct attention_check_variant *)variant)->fn; }

// Heads, dims and key counts around the borders of tiles, pages and blocks of queries.
static const struct attention_shape shapes[] = {
    {1, 1, 4, 4, 0, 1, CHECK_DATA_PLAIN, 1, false},      {2, 3, 64, 64, 0, 20, CHECK_DATA_PLAIN, 1, false},
    {1, 2, 20, 12, 14, 4, CHECK_DATA_OUTLIER, 4, false}, {1, 4, 64, 64, 60, 9, CHECK_DATA_PLAIN, 16, false},
    {1, 5, 80, 80, 126, 4, CHECK_DATA_WIDE, 1, false},   {1, 6, 16, 8, 191, 2, CHECK_DATA_PLAIN, 1, false},
    {3, 7, 32, 32, 33, 3, CHECK_DATA_SPARSE, 1, false},  {2, 8, 128, 128, 64, 2, CHECK_DATA_PLAIN, 4, false},
    {1, 9, 24, 40, 500, 13, CHECK_DATA_PLAIN, 1, false}, {1, 1, 64, 64, 255, 17, CHECK_DATA_OUTLIER, 1, false},
    {1, 3, 32, 32, 5, 9, CHECK_DATA_PLAIN, 1, true},     {2, 2, 64, 64, 63, 12, CHECK_DATA_PLAIN, 4, true},
    {1, 4, 16, 16, 0, 7, CHECK_DATA_PLAIN, 1, true},     {1, 2, 1, 1, 31, 3, CHECK_DATA_PLAIN, 1, false},
};

static void bits(struct check *c, const void *variant) {
    for (size_t i = 0; i < COUNT(shapes) && !check_failed(c); i++) {
        struct attention_problem want = attention_problem_new(c, &shapes[i]), got = attention_problem_other(c, &want);
        if (check_failed(c)) return;
        attention_problem_store(&want, 0, want.tokens);
        attention_problem_run(&want, attention_ref, 0, shapes[i].rows);
        attention_problem_run(&got, fn_of(variant), 0, shapes[i].rows);
        check_same(c, want.args.y, got.args.y, want.y_floats, "shape %zu: y", i);
        check_forget(c);
    }
}

// One query against double precision. With u = 2^-24, a score's sum is off by dims u of the sum of magnitudes, its
// scaling and the subtraction of the largest by u each; so a weight is off by twice the worst of these and exp's 2 u.
// The total adds n/16 + 5 roundings, the chain of values n, the quotient and the last product 2.
static void near_exact(struct check *c, const struct attention_problem *p, uint32_t r, uint32_t head) {
    const struct attention_cache *cache = &p->cache;
    const struct attention_row *row = &p->rows[r];
    const float *q = p->q + (size_t)r * p->args.ldq + (size_t)head * cache->head_dim;
    uint32_t n = attention_visible(row), kv_head = head / (p->args.heads / cache->kv_heads);
    double score[1024], most = -INFINITY, worst = 0, least = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        const float *key = attention_key(cache, row->pages, kv_head, attention_slot(row, i));
        double sum = 0, magnitude = 0;
        for (uint32_t d = 0; d < cache->head_dim; d++) {
            double term = (double)q[d] * (double)key[(size_t)d * ATTENTION_TILE];
            sum += term;
            magnitude += fabs(term);
        }
        score[i] = sum * (double)p->args.scale;
        most = fmax(most, score[i]);
        least = fmin(least, score[i]);
        worst = fmax(worst, (cache->head_dim + 2) * magnitude * (double)p->args.scale);
    }
    double relative = 2 * (worst + most - least + 2) + n / 16.0 + 5 + n + 2;
    for (uint32_t d = 0; d < cache->value_dim; d++) {
        double total = 0, sum = 0, magnitude = 0;
        for (uint32_t i = 0; i < n; i++) {
            const float *value = attention_value(cache, row->pages, kv_head, attention_slot(row, i));
            double e = exp(score[i] - most), term = e * (double)value[d];
            total += e;
            sum += term;
            magnitude += fabs(term);
        }
        double got = (double)p->args.y[(size_t)r * p->args.ldy + (size_t)head * cache->value_dim + d];
        check_near(c, sum / total, got, 1.01 * 0x1p-24 * relative * magnitude / total + 0x1p-120,
                   "%u keys, head %u, y[%u]", n, head, d);
    }
}

static void accuracy(struct check *c, const void *variant) {
    for (size_t i = 0; i < COUNT(shapes) && !check_failed(c); i++) {
        struct attention_problem p = attention_problem_new(c, &shapes[i]);
        if (check_failed(c)) return;
        attention_problem_store(&p, 0, p.tokens);
        attention_problem_run(&p, fn_of(variant), 0, shapes[i].rows);
        for (uint32_t r = 0; r < shapes[i].rows; r++)
            for (uint32_t h = 0; h < p.args.heads; h++) near_exact(c, &p, r, h);
        check_forget(c);
    }
}

// One row alone, then at every place among rows of NaN queries: some see more of its stream, some a stream of NaN.
static void rows(struct check *c, const void *variant) {
    enum { ROWS = 7 };
    for (size_t i = 0; i < COUNT(shapes) * ROWS && !check_failed(c); i++) {
        struct attention_shape s = shapes[i % COUNT(shapes)];
        uint32_t at = (uint32_t)(i / COUNT(shapes));
        s.rows = ROWS;
        struct attention_problem among = attention_problem_new(c, &s), alone = attention_problem_other(c, &among);
        if (check_failed(c)) return;
        attention_problem_store(&among, 0, among.tokens);
        size_t y = (size_t)at * among.args.ldy;
        attention_problem_run(&alone, fn_of(variant), at, at + 1);
        int32_t *other_pages = check_new(c, 16 * sizeof *other_pages, 4);
        for (uint32_t j = 0; j < 16; j++) other_pages[j] = among.pages[0];
        for (uint32_t r = 0; r < ROWS; r++) {
            if (r == at) continue;
            check_poison(among.q + (size_t)r * among.args.ldq, among.args.ldq);
            if (check_below(c, 3) == 0) among.rows[r].pages = other_pages;
        }
        attention_problem_run(&among, fn_of(variant), 0, ROWS);
        check_same(c, alone.args.y + y, among.args.y + y, among.args.heads * s.value_dim,
                   "shape %zu, row alone and at place %u: y", i % COUNT(shapes), at);
        check_forget(c);
    }
}

struct parts {
    const struct attention_problem *p;
    attention_fn *fn;
    uint32_t border[6];
    float *scratch; // a stretch a part
};

static void run_part(void *context, uint32_t part, uint32_t n, uint32_t worker) {
    (void)n, (void)worker;
    const struct parts *j = context;
    struct attention_args a = j->p->args;
    a.cache = &j->p->cache;
    uint32_t range = part / a.cache->kv_heads, kv_head = part % a.cache->kv_heads;
    j->fn(&a, kv_head, j->border[range], j->border[range + 1], j->scratch + part * j->p->scratch_floats);
}

static void partition(struct check *c, const void *variant) {
    enum { RANGES = 5 };
    for (size_t i = 0; i < COUNT(shapes) && !check_failed(c); i++) {
        const struct attention_shape *s = &shapes[i];
        struct attention_problem whole = attention_problem_new(c, s), cut = attention_problem_other(c, &whole);
        size_t floats = (size_t)s->kv_heads * RANGES * whole.scratch_floats;
        struct parts parts = {.p = &cut, .fn = fn_of(variant), .border = {[RANGES] = s->rows}};
        parts.scratch = check_new(c, floats * sizeof(float), 4);
        if (check_failed(c)) return;
        attention_problem_store(&whole, 0, whole.tokens);
        attention_problem_run(&whole, parts.fn, 0, s->rows);
        for (uint32_t b = RANGES - 1; b > 0; b--) parts.border[b] = check_below(c, parts.border[b + 1] + 1);
        check_parallel(c, run_part, &parts, s->kv_heads * RANGES);
        check_same(c, whole.args.y, cut.args.y, whole.y_floats, "shape %zu, cut into parts: y", i);
        check_forget(c);
    }
}

// A prompt of 512 rows in one pass; the rows one by one, each before anything after it was stored, its slots poison.
static void prompt_is_decode(struct check *c, attention_fn *fn) {
    static const uint32_t counts[] = {1, 2, 16, 17, 64, 65, 128, 129, 512};
    const struct attention_shape s = {1, 3, 16, 16, 0, 512, CHECK_DATA_PLAIN, 4, false};
    struct attention_problem decode = attention_problem_new(c, &s), prompt = attention_problem_other(c, &decode);
    if (check_failed(c)) return;
    for (size_t i = 0; i < COUNT(counts); i++) {
        attention_problem_store(&decode, i ? counts[i - 1] : 0, counts[i]);
        attention_problem_run(&decode, fn, counts[i] - 1, counts[i]);
    }
    attention_problem_run(&prompt, fn, 0, s.rows);
    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t at = (size_t)(counts[i] - 1) * prompt.args.ldy;
        check_same(c, decode.args.y + at, prompt.args.y + at, prompt.args.heads * s.value_dim,
                   "row with %u keys, decoded and in a prompt: y", counts[i]);
    }
    check_forget(c);
}

// Token `from` of one problem becomes token `to` of the other.
static void copy_token(const struct attention_problem *a, uint32_t from, const struct attention_problem *b,
                       uint32_t to) {
    size_t k = (size_t)a->cache.kv_heads * a->cache.head_dim, v = (size_t)a->cache.kv_heads * a->cache.value_dim;
    memcpy(b->keys + to * k, a->keys + from * k, k * sizeof(float));
    memcpy(b->values + to * v, a->values + from * v, v * sizeof(float));
}

// Every row of a tree gives what the last row of a plain stream of the same tokens gives, on other pages; and so does
// its path once it was moved to the slots after the prefix.
static void tree_is_serial(struct check *c, attention_fn *fn, const struct attention_shape *s, uint32_t r) {
    struct attention_problem tree = attention_problem_new(c, s), moved = attention_problem_other(c, &tree);
    if (check_failed(c)) return;
    attention_problem_store(&tree, 0, tree.tokens);
    attention_problem_run(&tree, fn, 0, s->rows);
    const struct attention_row *row = &tree.rows[r];
    uint32_t n = attention_visible(row), width = tree.args.heads * s->value_dim;
    struct attention_shape plain = *s;
    plain.tree = false;
    plain.rows = 1;
    plain.first = n - 1;
    struct attention_problem serial = attention_problem_new(c, &plain);
    if (check_failed(c)) return;
    for (uint32_t i = 0; i < n; i++) copy_token(&tree, attention_slot(row, i), &serial, i);
    memcpy(serial.q, tree.q + (size_t)r * tree.args.ldq, tree.args.ldq * sizeof(float));
    attention_problem_store(&serial, 0, n);
    attention_problem_run(&serial, fn, 0, 1);
    const float *y = tree.args.y + (size_t)r * tree.args.ldy;
    check_same(c, serial.args.y, y, width, "row %u, serial and in a tree: y", r);
    for (uint32_t j = 0; j < row->n_path; j++) attention_move(&tree.cache, tree.pages, row->path[j], s->first + j);
    tree.rows[r] = (struct attention_row){tree.pages, NULL, n, 0, n - 1};
    attention_problem_run(&moved, fn, r, r + 1);
    check_same(c, y, moved.args.y + (size_t)r * tree.args.ldy, width, "row %u, its path moved: y", r);
    check_forget(c);
}

static void composition(struct check *c, const void *variant) {
    prompt_is_decode(c, fn_of(variant));
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (uint32_t r = 0; shapes[i].tree && r < shapes[i].rows && !check_failed(c); r++)
            tree_is_serial(c, fn_of(variant), &shapes[i], r);
}

// A part writes its heads of its rows and nothing else; scratch, queries and cache end where memory does.
static void edges(struct check *c, const void *variant) {
    for (size_t i = 0; i < COUNT(shapes) && !check_failed(c); i++) {
        const struct attention_shape *s = &shapes[i];
        struct attention_problem p = attention_problem_new(c, s);
        if (check_failed(c)) return;
        attention_problem_store(&p, 0, p.tokens);
        struct attention_args a = p.args;
        a.cache = &p.cache;
        uint32_t r = s->rows / 2, own = s->group * s->value_dim, last = s->kv_heads - 1;
        size_t floats = attention_scratch_floats(&p.cache, a.heads, attention_visible(&p.rows[r]), 1);
        float *scratch = check_new(c, floats * sizeof *scratch, 4);
        if (check_failed(c)) return;
        fn_of(variant)(&a, last, r, r + 1, scratch);
        size_t begin = (size_t)r * a.ldy + (size_t)last * own;
        check_untouched(c, a.y, begin, "shape %zu, before the part: y", i);
        check_untouched(c, a.y + begin + own, p.y_floats - begin - own, "shape %zu, after the part: y", i);
        attention_problem_run(&p, fn_of(variant), 0, s->rows);
        for (r = 0; r + 1 < s->rows; r++)
            check_untouched(c, a.y + (size_t)r * a.ldy + (size_t)a.heads * s->value_dim,
                            a.ldy - (size_t)a.heads * s->value_dim, "shape %zu, between rows: y", i);
        check_forget(c);
    }
}

struct bench_job {
    struct attention_problem p;
    attention_fn *fn;
    uint32_t rows;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    attention_problem_run(&j->p, j->fn, 0, j->rows);
}

// The default model's geometry: decoding far into a text, and a prompt.
static void bench(struct check *c, const void *variant) {
    static const struct attention_shape timed[] = {{3, 3, 64, 64, 1023, 1, CHECK_DATA_PLAIN, 1, false},
                                                   {3, 3, 64, 64, 8191, 1, CHECK_DATA_PLAIN, 1, false},
                                                   {3, 3, 64, 64, 0, 512, CHECK_DATA_PLAIN, 1, false},
                                                   {3, 3, 64, 64, 3968, 128, CHECK_DATA_PLAIN, 1, false}};
    for (size_t i = 0; i < COUNT(timed); i++) {
        const struct attention_shape *s = &timed[i];
        struct bench_job j = {attention_problem_new(c, s), fn_of(variant), s->rows};
        if (check_failed(c)) return;
        attention_problem_store(&j.p, 0, j.p.tokens);
        double seen = 0, ns = check_time_ns(c, run_bench, &j);
        for (uint32_t r = 0; r < s->rows; r++) seen += j.p.rows[r].n_prefix;
        double bytes = (double)j.p.tokens * s->kv_heads * (s->head_dim + s->value_dim) * sizeof(float);
        check_line(c, "attention        %4u rows, %5u keys: %.3f ms, %.1f GFLOP/s, cache read at %.1f GB/s", s->rows,
                   j.p.tokens, ns * 1e-6, seen * j.p.args.heads * 2 * (s->head_dim + s->value_dim) / ns, bytes / ns);
        check_forget(c);
    }
}

#define VARIANT(fn, isa) static const struct attention_check_variant fn##_variant = {fn};
#include "kernels/attention/attention.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"paged", isa, &fn##_variant},
#include "kernels/attention/attention.def"
#undef VARIANT
};

const struct check_family attention_check = {
    .name = "attention",
    .domain = "heads % kv_heads == 0, any dims, rows, pages and paths",
    .gate = {bits, accuracy, rows, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = attention_faults,
    .n_faults = ATTENTION_FAULTS,
};
