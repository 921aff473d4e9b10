// Checks of the linear kernels: gates 0 to 4 and edges, for every variant in linear.def; and their speed.
#include "kernels/linear/linear_check.h"

#include "kernels/linear/linear_tile.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool has_groups(enum linear_format f) { return f > LINEAR_BF16; }

// A width that the format takes, near `k`.
static uint32_t fitting(enum linear_format f, uint32_t k) {
    return has_groups(f) ? (k + LINEAR_GROUP - 1) / LINEAR_GROUP * LINEAR_GROUP : k;
}

// The problem's product by a variant, in a fresh y.
static const float *run(struct check *c, const struct linear_problem *p, linear_fn *fn) {
    struct linear_args a = linear_problem_other(c, p);
    if (check_failed(c)) return NULL;
    a.w = &p->w;
    fn(&a, 0, p->tiles);
    return a.y;
}

static void bits_of_shape(struct check *c, const struct linear_check_variant *v, const struct linear_shape *s) {
    struct linear_problem p = linear_problem_new(c, v->format, s);
    const float *want = run(c, &p, linear_select(v->format, ISA_REF)), *got = run(c, &p, v->fn);
    if (check_failed(c)) return;
    check_same(c, want, got, p.y_floats, "n %u, k %u, %u rows, data %d: y", s->n, s->k, s->rows, (int)s->data);
    check_forget(c);
}

static void bits(struct check *c, const void *variant) {
    const struct linear_check_variant *v = variant;
    static const uint32_t n[] = {1, 16, 23, 40, 70}, k[] = {1, 32, 61, 288, 300};
    static const uint32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 13, 30};
    for (size_t i = 0; i < COUNT(n) * COUNT(k) * COUNT(rows) && !check_failed(c); i++) {
        struct linear_shape s = {.n = n[i % COUNT(n)], .k = fitting(v->format, k[i / COUNT(n) % COUNT(k)])};
        s.rows = rows[i / COUNT(n) / COUNT(k)];
        s.data = (enum check_data)(i % CHECK_DATA_COUNT);
        s.odd_weights = i % 3 == 2;
        bits_of_shape(c, v, &s);
    }
    bits_of_shape(c, v, &(struct linear_shape){.n = 17, .k = fitting(v->format, 600), .rows = 211});
}

// An upper bound of |y - exact| for output o of row r, from the steps that linear.h names; half an ulp is u = 2^-24.
//   formats with groups: a code is off by at most half a step, plus 32767 times three roundings (below 0.01), times w;
//   the sum has two fused steps a group and three more roundings inside each term, relative to the terms' magnitude
//   32 * code * 32767 * scale * |d| and 32 * 32767 * scale * |m|
//   float formats: k fused steps, relative to the sum of |x w|
static double bound_of(const struct linear_problem *p, uint32_t o, uint32_t r, const float *w) {
    const struct linear_activations *x = &p->args.x;
    const double u = 0x1p-24;
    double magnitude = 0, quantised = 0;
    size_t k = p->w.k, groups = k / LINEAR_GROUP;
    if (!has_groups(p->w.format)) {
        for (size_t i = 0; i < k; i++) magnitude += fabs((double)x->x[r * k + i] * (double)w[i]);
        return 1.01 * u * (double)k * magnitude + (double)k * 0x1p-149;
    }
    double most_code = p->w.format == LINEAR_Q8_0 ? 128 : 15;
    for (size_t g = 0; g < groups; g++) {
        float d, m;
        double scale = (double)x->scale[r * groups + g], weights = 0;
        linear_problem_scales(&p->w, o, (uint32_t)g, &d, &m);
        for (size_t i = 0; i < LINEAR_GROUP; i++) weights += fabs((double)w[g * LINEAR_GROUP + i]);
        quantised += 0.51 * scale * weights;
        magnitude += 32 * 32767.0 * scale * (most_code * fabs((double)d) + fabs((double)m));
    }
    return quantised + 1.01 * u * (2 * (double)groups + 4) * magnitude + (double)k * 0x1p-120;
}

static void accuracy(struct check *c, const void *variant) {
    const struct linear_check_variant *v = variant;
    for (int data = 0; data < CHECK_DATA_COUNT && !check_failed(c); data++) {
        struct linear_shape s = {.n = 35, .k = fitting(v->format, 420), .rows = 9, .data = (enum check_data)data};
        struct linear_problem p = linear_problem_new(c, v->format, &s);
        const float *y = run(c, &p, v->fn);
        float *w = check_new(c, s.k * sizeof *w, 4);
        if (check_failed(c)) return;
        for (uint32_t o = 0; o < s.n; o++) {
            linear_row(&p.w, o, w);
            for (uint32_t r = 0; r < s.rows; r++) {
                double exact = 0;
                for (uint32_t i = 0; i < s.k; i++) exact += (double)p.args.x.x[r * s.k + i] * (double)w[i];
                check_near(c, exact, (double)y[r * s.n + o], bound_of(&p, o, r, w), "data %d, y[%u][%u]", data, r, o);
            }
        }
        check_forget(c);
    }
}

// Neighbours that try to leak: ordinary numbers, or NaN and infinities.
static void spoil(struct check *c, const struct linear_weight *w, const struct linear_activations *x, uint32_t rows) {
    float *values = (float *)x->x;
    for (size_t i = 0; i < (size_t)rows * w->k; i++) {
        if (check_below(c, 4) == 0) values[i] = check_below(c, 2) ? NAN : INFINITY;
    }
    if (has_groups(w->format)) linear_quantise_ref(x, w->k, 0, rows);
}

// Row 0 of the problem at place `at` among `width` rows.
static void row_in_company(struct check *c, const struct linear_check_variant *v, const struct linear_problem *p,
                           const float *alone, uint32_t width, uint32_t at) {
    struct linear_problem q = *p;
    bool spoilt = check_below(c, 2);
    q.args.n_rows = width;
    q.args.x = linear_problem_rows(c, &p->w, width, CHECK_DATA_WIDE);
    q.y_floats = (size_t)width * q.args.ldy;
    if (check_failed(c)) return;
    if (spoilt) spoil(c, &p->w, &q.args.x, width);
    linear_problem_copy_row(&p->w, &p->args.x, 0, &q.args.x, at);
    const float *y = run(c, &q, v->fn);
    if (check_failed(c)) return;
    check_same(c, alone, y + (size_t)at * q.args.ldy, p->w.n, "row %u of %u beside %s rows: y", at, width,
               spoilt ? "NaN" : "other");
}

static void rows(struct check *c, const void *variant) {
    const struct linear_check_variant *v = variant;
    static const uint32_t width[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 16, 25, 97, 129};
    for (size_t i = 0; i < COUNT(width) && !check_failed(c); i++) {
        uint32_t step = width[i] > 25 ? 31 : 1;
        for (uint32_t at = 0; at < width[i] && !check_failed(c); at += step) {
            struct linear_shape s = {.n = 37, .k = fitting(v->format, 96), .rows = 1, .data = CHECK_DATA_WIDE};
            struct linear_problem p = linear_problem_new(c, v->format, &s);
            const float *alone = run(c, &p, v->fn);
            if (check_failed(c)) return;
            row_in_company(c, v, &p, alone, width[i], at);
            check_forget(c);
        }
    }
}

struct part_job {
    const struct linear_args *args;
    linear_fn *fn;
    uint32_t tiles;
};

static void run_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    const struct part_job *j = context;
    (void)worker;
    j->fn(j->args, j->tiles * part / parts, j->tiles * (part + 1) / parts);
}

// Tile ranges cut at random, the last one first.
static void run_cut(struct check *c, const struct part_job *j) {
    for (uint32_t end = j->tiles; end > 0;) {
        uint32_t begin = check_below(c, end);
        j->fn(j->args, begin, end);
        end = begin;
    }
}

static void partition(struct check *c, const void *variant) {
    const struct linear_check_variant *v = variant;
    static const uint32_t n_rows[] = {1, 2, 4, 7, 50};
    for (size_t i = 0; i < COUNT(n_rows) && !check_failed(c); i++) {
        struct linear_shape s = {.n = 250, .k = fitting(v->format, 64), .rows = n_rows[i]};
        struct linear_problem p = linear_problem_new(c, v->format, &s);
        const float *whole = run(c, &p, v->fn);
        struct linear_args cut = linear_problem_other(c, &p), shared = linear_problem_other(c, &p);
        if (check_failed(c)) return;
        cut.w = shared.w = &p.w;
        run_cut(c, &(struct part_job){&cut, v->fn, p.tiles});
        check_same(c, whole, cut.y, p.y_floats, "%u rows, random tile ranges: y", s.rows);
        check_parallel(c, run_part, &(struct part_job){&shared, v->fn, p.tiles}, 7);
        check_same(c, whole, shared.y, p.y_floats, "%u rows, 7 parts on threads: y", s.rows);
        check_forget(c);
    }
}

// bias and residual inside the product against the same additions after it; then with y as its own residual.
static void fused_ends(struct check *c, const struct linear_check_variant *v, uint32_t n_rows) {
    struct linear_shape s = {.n = 37, .k = fitting(v->format, 64), .rows = n_rows};
    struct linear_problem p = linear_problem_new(c, v->format, &s);
    float *bias = check_new(c, s.n * sizeof *bias, 4), *residual = check_new(c, p.y_floats * sizeof *residual, 4);
    float *want = check_new(c, p.y_floats * sizeof *want, 4);
    const float *plain = run(c, &p, v->fn);
    struct linear_args in_place = linear_problem_other(c, &p);
    if (check_failed(c)) return;
    check_fill(c, bias, s.n, CHECK_DATA_PLAIN);
    check_fill(c, residual, p.y_floats, CHECK_DATA_WIDE);
    for (size_t i = 0; i < p.y_floats; i++) {
        float sum = plain[i] + bias[i % s.n];
        want[i] = residual[i] + sum;
        in_place.y[i] = residual[i];
    }
    p.w.bias = bias;
    p.args.residual = residual;
    const float *fused = run(c, &p, v->fn);
    if (check_failed(c)) return;
    check_same(c, want, fused, p.y_floats, "%u rows, bias and residual: y", n_rows);
    in_place.w = &p.w;
    in_place.residual = in_place.y;
    v->fn(&in_place, 0, p.tiles);
    check_same(c, want, in_place.y, p.y_floats, "%u rows, residual in place: y", n_rows);
    check_forget(c);
}

// One pass over all rows against passes of `width`.
static void cut_passes(struct check *c, const struct linear_check_variant *v, const struct linear_problem *p,
                       const float *whole, uint32_t width) {
    size_t k = p->w.k, groups = k / LINEAR_GROUP;
    struct linear_args a = linear_problem_other(c, p);
    if (check_failed(c)) return;
    for (uint32_t r = 0; r < p->args.n_rows; r += width) {
        struct linear_args piece = a;
        piece.w = &p->w;
        piece.n_rows = p->args.n_rows - r < width ? p->args.n_rows - r : width;
        piece.x.x += r * k;
        if (has_groups(p->w.format)) {
            piece.x.q += r * k;
            piece.x.scale += r * groups;
            piece.x.scaled_sum += r * groups;
        }
        piece.y += (size_t)r * a.ldy;
        v->fn(&piece, 0, p->tiles);
    }
    check_same(c, whole, a.y, p->y_floats, "passes of %u rows: y", width);
}

static void composition(struct check *c, const void *variant) {
    const struct linear_check_variant *v = variant;
    static const uint32_t n_rows[] = {1, 3, 8}, width[] = {1, 2, 7, 128, 129, 512};
    for (size_t i = 0; i < COUNT(n_rows) && !check_failed(c); i++) fused_ends(c, v, n_rows[i]);
    struct linear_shape s = {.n = 33, .k = fitting(v->format, 96), .rows = 600};
    struct linear_problem p = linear_problem_new(c, v->format, &s);
    const float *whole = run(c, &p, v->fn);
    for (size_t i = 0; i < COUNT(width) && !check_failed(c); i++) cut_passes(c, v, &p, whole, width[i]);
}

// Every tile range alone writes its own columns only; all inputs end at a guard page.
static void edges(struct check *c, const void *variant) {
    const struct linear_check_variant *v = variant;
    static const uint32_t n[] = {1, 15, 17, 31, 47, 64}, n_rows[] = {0, 1, 3, 5, 9};
    for (size_t i = 0; i < COUNT(n) * COUNT(n_rows) && !check_failed(c); i++) {
        struct linear_shape s = {.n = n[i % COUNT(n)], .k = fitting(v->format, 33), .rows = n_rows[i / COUNT(n)]};
        s.ldy = s.n + 3;
        struct linear_problem p = linear_problem_new(c, v->format, &s);
        if (check_failed(c)) return;
        p.args.w = &p.w;
        uint32_t begin = check_below(c, p.tiles), end = begin + check_below(c, p.tiles - begin + 1);
        v->fn(&p.args, begin, end);
        uint32_t from = begin * LINEAR_LANES, to = end * LINEAR_LANES < s.n ? end * LINEAR_LANES : s.n;
        if (to < from) to = from;
        for (uint32_t r = 0; r < s.rows; r++) {
            const float *y = p.args.y + (size_t)r * s.ldy;
            check_untouched(c, y, from, "n %u, tiles %u to %u, row %u, before: y", s.n, begin, end, r);
            check_untouched(c, y + to, s.ldy - to, "n %u, tiles %u to %u, row %u, after: y", s.n, begin, end, r);
        }
        check_forget(c);
    }
}

struct bench_job {
    struct linear_args args;
    linear_fn *fn;
    uint32_t tiles;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->args, 0, j->tiles);
}

// GMAC/s of `fn` on `tiles` tiles of the problem's weight.
static double speed(struct check *c, const struct linear_problem *p, linear_fn *fn, uint32_t n_rows, uint32_t tiles) {
    struct bench_job j = {p->args, fn, tiles};
    j.args.w = &p->w;
    j.args.n_rows = n_rows;
    j.args.ldy = n_rows == 1 ? p->w.n : tiles * LINEAR_LANES;
    return (double)n_rows * tiles * LINEAR_LANES * p->w.k / check_time_ns(c, run_bench, &j);
}

// One row streams a weight that no cache holds; more rows take a weight of one layer's size.
static void bench(struct check *c, const void *variant) {
    enum { ROWS = 512, K = 576, LAYER_TILES = 96, REF_TILES = 4, STREAM_BYTES = 192 << 20 };
    const struct linear_check_variant *v = variant;
    size_t tile_bytes;
    if (!linear_tile_bytes(v->format, K, &tile_bytes)) return;
    uint32_t tiles = (uint32_t)(STREAM_BYTES / tile_bytes);
    struct linear_shape s = {.n = tiles * LINEAR_LANES, .k = K, .rows = 1};
    struct linear_problem p = linear_problem_new(c, v->format, &s);
    p.args.x = linear_problem_rows(c, &p.w, ROWS, CHECK_DATA_PLAIN);
    float *y = check_new(c, (size_t)ROWS * LAYER_TILES * LINEAR_LANES * sizeof *y, 64);
    if (check_failed(c)) return;
    double one = speed(c, &p, v->fn, 1, tiles);
    p.args.y = y;
    double ref = speed(c, &p, linear_select(v->format, ISA_REF), 1, REF_TILES);
    check_line(c, "%-10s 1 row %.1f GB/s, %.1f GMAC/s (%.0f x ref); 2 rows %.1f, 4 %.1f, 16 %.1f, 128 %.1f, 512 %.1f",
               linear_format_name(v->format), one * (double)tile_bytes / (LINEAR_LANES * K), one, one / ref,
               speed(c, &p, v->fn, 2, LAYER_TILES), speed(c, &p, v->fn, 4, LAYER_TILES),
               speed(c, &p, v->fn, 16, LAYER_TILES), speed(c, &p, v->fn, 128, LAYER_TILES),
               speed(c, &p, v->fn, 512, LAYER_TILES));
}

#define LINEAR_VARIANT(symbol, isa, format)                                                        \
    static const struct linear_check_variant symbol##_variant = {symbol, LINEAR_##format};
#include "kernels/linear/linear.def"

static const struct check_kernel kernels[] = {
#define LINEAR_VARIANT(symbol, isa, format) {#format, isa, &symbol##_variant},
#include "kernels/linear/linear.def"
};

const struct check_family linear_check = {
    .name = "linear",
    .domain = "any n, any k (a multiple of 32 with scales), any rows",
    .gate = {bits, accuracy, rows, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = linear_faults,
    .n_faults = LINEAR_FAULTS,
};
