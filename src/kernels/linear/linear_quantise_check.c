// Checks of the quantiser of activations: its gates, planted faults and speed.
#include "kernels/check.h"

#include "base/float16.h"
#include "kernels/linear/linear_tile.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct variant {
    linear_quantise_fn *fn;
};

static struct linear_activations activations_new(struct check *c, uint32_t rows, uint32_t k, uint32_t ldx) {
    size_t count = (size_t)rows * k, groups = count / LINEAR_GROUP;
    struct linear_activations a = {.ldx = ldx};
    a.x = check_new(c, ((size_t)(rows - 1) * ldx + k) * sizeof(float), 4);
    a.q = check_new(c, count * sizeof *a.q, 4);
    a.scale = check_new(c, groups * sizeof *a.scale, 4);
    a.scaled_sum = check_new(c, groups * sizeof *a.scaled_sum, 4);
    return a;
}

// Outputs of its own for the same x.
static struct linear_activations activations_other(struct check *c, const struct linear_activations *a, uint32_t rows,
                                                   uint32_t k) {
    struct linear_activations other = activations_new(c, rows, k, a->ldx);
    other.x = a->x;
    return other;
}

// Codes compared as pairs, by their bits.
static void same(struct check *c, const struct linear_activations *want, const struct linear_activations *got,
                 uint32_t rows, uint32_t k, const char *what) {
    size_t count = (size_t)rows * k;
    for (size_t i = 0; i < count; i++) {
        if (want->q[i] == got->q[i]) continue;
        check_fail(c, "%s: q[%zu] of %a: expected %d, got %d", what, i, (double)want->x[i], want->q[i], got->q[i]);
        return;
    }
    check_same(c, want->scale, got->scale, count / LINEAR_GROUP, "%s: scale", what);
    check_same(c, want->scaled_sum, got->scaled_sum, count / LINEAR_GROUP, "%s: scaled_sum", what);
}

// Values whose codes fall half way between two integers, on both sides of zero: m is 32767 times a power of two.
static void fill_ties(struct check *c, float *x, size_t n) {
    float unit = ldexpf(1.0f, (int)check_below(c, 40) - 20);
    for (size_t i = 0; i < n; i++) x[i] = unit * ((float)(int)check_below(c, 2000) - 1000.0f + 0.5f);
    for (size_t i = 0; i < n; i += LINEAR_GROUP) x[i] = 32767.0f * unit;
}

// NaN, infinities, and groups around the smallest magnitude that has a scale.
static void fill_odd(struct check *c, float *x, size_t n) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, LINEAR_TINY, -0x1.fffffep-101f, 3.4e38f, 1e-45f, -0.0f};
    for (size_t i = 0; i < n; i++) x[i] = i / LINEAR_GROUP % 2 ? check_real(c) * LINEAR_TINY : check_real(c);
    for (size_t g = 0; g < n / LINEAR_GROUP; g++) {
        if (check_below(c, 3)) x[g * LINEAR_GROUP + check_below(c, LINEAR_GROUP)] = odd[check_below(c, 8)];
    }
}

static void bits(struct check *c, const void *variant) {
    const struct variant *v = variant;
    enum { KINDS = CHECK_DATA_COUNT + 2, ROWS = 5 };
    for (uint32_t i = 0; i < 8 * KINDS && !check_failed(c); i++) {
        uint32_t k = LINEAR_GROUP * (1 + i % 7);
        struct linear_activations want = activations_new(c, ROWS, k, k), got = activations_other(c, &want, ROWS, k);
        if (check_failed(c)) return;
        float *x = (float *)want.x;
        if (i % KINDS < CHECK_DATA_COUNT) check_fill(c, x, (size_t)ROWS * k, (enum check_data)(i % KINDS));
        else if (i % KINDS == CHECK_DATA_COUNT) fill_ties(c, x, (size_t)ROWS * k);
        else fill_odd(c, x, (size_t)ROWS * k);
        linear_quantise_ref(&want, k, 0, ROWS);
        v->fn(&got, k, 0, ROWS);
        same(c, &want, &got, ROWS, k, "against the reference");
        check_forget(c);
    }
}

// |x - scale * q| is at most half a step, and 32767 roundings of x * (32767 / m) and of m / 32767: below 0.51 steps.
static void accuracy(struct check *c, const void *variant) {
    const struct variant *v = variant;
    enum { ROWS = 20, K = 10 * LINEAR_GROUP };
    for (int data = 0; data < CHECK_DATA_COUNT && !check_failed(c); data++) {
        struct linear_activations a = activations_new(c, ROWS, K, K);
        if (check_failed(c)) return;
        check_fill(c, (float *)a.x, (size_t)ROWS * K, (enum check_data)data);
        v->fn(&a, K, 0, ROWS);
        for (size_t g = 0; g < (size_t)ROWS * K / LINEAR_GROUP; g++) {
            double m = 0, sum = 0;
            for (size_t i = g * LINEAR_GROUP; i < (g + 1) * LINEAR_GROUP; i++) {
                m = fmax(m, fabs((double)a.x[i]));
                sum += a.q[i];
            }
            for (size_t i = g * LINEAR_GROUP; i < (g + 1) * LINEAR_GROUP; i++)
                check_near(c, (double)a.x[i], a.q[i] * (double)a.scale[g], 0.51 / 32767 * m + 0x1p-100, "x[%zu]", i);
            check_near(c, sum * (double)a.scale[g], (double)a.scaled_sum[g], fabs(sum) * m * 0x1p-38, "sum of %zu", g);
        }
        check_forget(c);
    }
}

// One row is quantised alone and among rows of NaN: equal codes. Ranges of rows make what one call makes.
static void rows(struct check *c, const void *variant) {
    const struct variant *v = variant;
    enum { ROWS = 9, K = 3 * LINEAR_GROUP };
    for (uint32_t at = 0; at < ROWS && !check_failed(c); at++) {
        struct linear_activations whole = activations_new(c, ROWS, K, K), alone = activations_new(c, 1, K, K);
        if (check_failed(c)) return;
        float *x = (float *)whole.x;
        for (size_t i = 0; i < (size_t)ROWS * K; i++) x[i] = NAN;
        check_fill(c, x + (size_t)at * K, K, CHECK_DATA_WIDE);
        memcpy((float *)alone.x, x + (size_t)at * K, K * sizeof *x);
        v->fn(&whole, K, 0, ROWS);
        v->fn(&alone, K, 0, 1);
        struct linear_activations row = {x + (size_t)at * K, K, whole.q + (size_t)at * K,
                                         whole.scale + (size_t)at * K / LINEAR_GROUP,
                                         whole.scaled_sum + (size_t)at * K / LINEAR_GROUP};
        same(c, &alone, &row, 1, K, "a row among NaN rows");
        check_forget(c);
    }
}

static void partition(struct check *c, const void *variant) {
    const struct variant *v = variant;
    enum { ROWS = 40, K = 4 * LINEAR_GROUP };
    struct linear_activations whole = activations_new(c, ROWS, K, K), cut = activations_other(c, &whole, ROWS, K);
    if (check_failed(c)) return;
    check_fill(c, (float *)whole.x, (size_t)ROWS * K, CHECK_DATA_WIDE);
    v->fn(&whole, K, 0, ROWS);
    for (uint32_t end = ROWS; end > 0;) {
        uint32_t begin = check_below(c, end);
        v->fn(&cut, K, begin, end);
        end = begin;
    }
    same(c, &whole, &cut, ROWS, K, "random row ranges");
}

// Rows lie apart in x; a range of rows writes no other row.
static void edges(struct check *c, const void *variant) {
    const struct variant *v = variant;
    enum { ROWS = 5, BEGIN = 1, END = 3 };
    for (uint32_t groups = 1; groups < 6 && !check_failed(c); groups++) {
        uint32_t k = groups * LINEAR_GROUP;
        struct linear_activations a = activations_new(c, ROWS, k, k + 5);
        if (check_failed(c)) return;
        check_fill(c, (float *)a.x, (size_t)(ROWS - 1) * a.ldx + k, CHECK_DATA_PLAIN);
        v->fn(&a, k, BEGIN, END);
        check_untouched(c, a.scale, BEGIN * groups, "scale before the range");
        check_untouched(c, a.scale + END * groups, (ROWS - END) * groups, "scale after the range");
        check_untouched(c, a.scaled_sum, BEGIN * groups, "scaled_sum before the range");
        check_untouched(c, a.scaled_sum + END * groups, (ROWS - END) * groups, "scaled_sum after the range");
        check_untouched(c, (const float *)(a.q + END * k), (ROWS - END) * k / 2, "q after the range");
        v->fn(&a, k, ROWS - 1, ROWS);
        check_forget(c);
    }
}

enum { BENCH_ROWS = 512, BENCH_K = 576 };

struct bench_job {
    struct linear_activations a;
    linear_quantise_fn *fn;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->a, BENCH_K, 0, BENCH_ROWS);
}

static void bench(struct check *c, const void *variant) {
    const struct variant *v = variant;
    struct bench_job j = {activations_new(c, BENCH_ROWS, BENCH_K, BENCH_K), v->fn};
    if (check_failed(c)) return;
    check_fill(c, (float *)j.a.x, (size_t)BENCH_ROWS * BENCH_K, CHECK_DATA_PLAIN);
    double ns = check_time_ns(c, run_bench, &j);
    j.fn = linear_quantise_ref;
    check_line(c, "quantise   %.2f G inputs/s (%.0f x ref)", BENCH_ROWS * BENCH_K / ns,
               check_time_ns(c, run_bench, &j) / ns);
}

// Wrong on purpose: the reference, then one thing changed.
static void ties_away(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end) {
    linear_quantise_ref(a, k, row_begin, row_end);
    for (size_t i = (size_t)row_begin * k; i < (size_t)row_end * k; i++) {
        float m = a->scale[i / LINEAR_GROUP] * 32767.0f;
        if (a->scale[i / LINEAR_GROUP] > 0) a->q[i] = (int16_t)roundf(a->x[i] * (32767.0f / m));
    }
}

static void scale_of_first_row(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end) {
    size_t groups = k / LINEAR_GROUP;
    linear_quantise_ref(a, k, row_begin, row_end);
    for (size_t i = (row_begin + 1) * groups; i < row_end * groups; i++) a->scale[i] = a->scale[row_begin * groups];
}

static void eight_bits(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end) {
    linear_quantise_ref(a, k, row_begin, row_end);
    for (size_t i = (size_t)row_begin * k; i < (size_t)row_end * k; i++) a->q[i] = (int16_t)(a->q[i] / 256 * 256);
}

static void one_row_more(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end) {
    linear_quantise_ref(a, k, row_begin, row_end);
    a->scale[(size_t)row_end * k / LINEAR_GROUP] = 0;
}

static const struct variant fault_variants[] = {{ties_away}, {scale_of_first_row}, {eight_bits}, {one_row_more}};
static const struct check_fault faults[] = {
    {"ties_away", "half way values are rounded away from zero", CHECK_GATE_BITS, &fault_variants[0]},
    {"scale_of_first_row", "rows after the first of a range use its scale", CHECK_GATE_ROWS, &fault_variants[1]},
    {"eight_bits", "codes keep their upper eight bits only", CHECK_GATE_ACCURACY, &fault_variants[2]},
    {"one_row_more", "a scale after the range is written", CHECK_GATE_EDGES, &fault_variants[3]},
};

#define LINEAR_QUANTISE_VARIANT(symbol, isa) static const struct variant symbol##_variant = {symbol};
#include "kernels/linear/linear.def"

static const struct check_kernel kernels[] = {
#define LINEAR_QUANTISE_VARIANT(symbol, isa) {"int16", isa, &symbol##_variant},
#include "kernels/linear/linear.def"
};

const struct check_family linear_quantise_check = {
    .name = "linear_quantise",
    .domain = "k % 32 == 0, any rows, any floats",
    .gate = {bits, accuracy, rows, partition, NULL, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
