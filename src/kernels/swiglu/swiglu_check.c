// Checks of the gated activation: its gates, planted faults and speed.
#include "kernels/check_rows.h"
#include "kernels/math/math.h"
#include "kernels/swiglu/swiglu.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct variant {
    swiglu_fn *fn;
};

// A row of input is gate, then up.
static void run(const void *variant, const struct check_rows_call *call) {
    ((const struct variant *)variant)
        ->fn(&(struct swiglu_args){call->in, call->in + call->n, call->out, call->n, call->ld}, call->begin, call->end);
}

static const struct variant plain = {swiglu_ref};
static const struct check_rows_op op = {2, 1, 0, run, &plain};

static void bits(struct check *c, const void *variant) { check_rows_bits(c, &op, variant); }
static void rows(struct check *c, const void *variant) { check_rows_alone(c, &op, variant); }
static void partition(struct check *c, const void *variant) { check_rows_partition(c, &op, variant); }
static void edges(struct check *c, const void *variant) { check_rows_edges(c, &op, variant); }

// exp is under 1 ulp (2 u) off and weighs at most 1 in the sum; then the sum, the quotient and two products: 6 u.
// Where exp(-g) overflows, the result is 0 and the true one below |g| * 2^-127 < 2^-120.
static void accuracy(struct check *c, const void *variant) {
    enum { N = 4096 };
    float *gate = check_new(c, N * sizeof *gate, 4), *up = check_new(c, N * sizeof *up, 4);
    float *y = check_new(c, N * sizeof *y, 4);
    if (check_failed(c)) return;
    for (uint32_t i = 0; i < N; i++) gate[i] = 100.0f * check_real(c) * (i % 2 ? 1.0f : 0.02f);
    check_fill(c, up, N, CHECK_DATA_PLAIN);
    ((const struct variant *)variant)->fn(&(struct swiglu_args){gate, up, y, N, N}, 0, 1);
    for (uint32_t i = 0; i < N; i++) {
        double g = (double)gate[i], want = g / (1 + exp(-g)) * (double)up[i];
        check_near(c, want, (double)y[i], fabs(want) * 6.1 * 0x1p-24 + 0x1p-120, "gate %a, up %a", g, (double)up[i]);
    }
}

static void composition(struct check *c, const void *variant) {
    const struct variant *v = variant;
    for (uint32_t n = 1; n < 80 && !check_failed(c); n++) {
        size_t bytes = n * sizeof(float);
        float *gate = check_new(c, bytes, 4), *up = check_new(c, bytes, 4), *y = check_new(c, bytes, 4);
        float *copy = check_new(c, bytes, 4);
        if (check_failed(c)) return;
        check_fill(c, gate, n, CHECK_DATA_PLAIN);
        check_fill(c, up, n, CHECK_DATA_PLAIN);
        memcpy(copy, gate, bytes);
        v->fn(&(struct swiglu_args){gate, up, y, n, n}, 0, 1);
        v->fn(&(struct swiglu_args){copy, up, copy, n, n}, 0, 1);
        v->fn(&(struct swiglu_args){gate, up, up, n, n}, 0, 1);
        check_same(c, y, copy, n, "width %u, in place of the gate: y", n);
        check_same(c, y, up, n, "width %u, in place of the other: y", n);
        check_forget(c);
    }
}

enum { BENCH_N = 1536, BENCH_ROWS = 16 };

struct bench_job {
    struct swiglu_args a;
    swiglu_fn *fn;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->a, 0, BENCH_ROWS);
}

static void bench(struct check *c, const void *variant) {
    size_t floats = (size_t)BENCH_ROWS * BENCH_N;
    float *gate = check_new(c, floats * sizeof *gate, 64), *y = check_new(c, floats * sizeof *y, 64);
    if (check_failed(c)) return;
    check_fill(c, gate, floats, CHECK_DATA_PLAIN);
    struct bench_job j = {{gate, gate, y, BENCH_N, BENCH_N}, ((const struct variant *)variant)->fn};
    double ns = check_time_ns(c, run_bench, &j);
    j.fn = swiglu_ref;
    check_line(c, "swiglu           %.2f G values/s (%.1f x ref)", (double)floats / ns,
               check_time_ns(c, run_bench, &j) / ns);
}

// Wrong on purpose.
static void other_order(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        for (size_t i = (size_t)r * a->ld; i < (size_t)r * a->ld + a->n; i++)
            a->y[i] = a->gate[i] * (math_sigmoid(a->gate[i]) * a->up[i]);
    }
}

static void rough_sigmoid(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        for (size_t i = (size_t)r * a->ld; i < (size_t)r * a->ld + a->n; i++)
            a->y[i] = (a->gate[i] * (math_sigmoid(a->gate[i]) + 1e-6f)) * a->up[i];
    }
}

static void reads_row_before(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    swiglu_ref(a, row_begin, row_end);
    for (size_t r = row_begin; r + 1 < row_end; r++) a->y[(r + 1) * a->ld] += 0.0f * a->gate[r * a->ld];
}

static void skips_short_ranges(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    (row_end - row_begin > 4 ? swiglu_ref : other_order)(a, row_begin, row_end);
}

static void clears_first(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    check_rows_clear(a->y, a->n, a->ld, row_begin, row_end);
    swiglu_ref(a, row_begin, row_end);
}

static void whole_registers(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    swiglu_ref(a, row_begin, row_end);
    check_rows_spill(a->y, a->n, a->ld, row_begin, row_end);
}

static const struct variant wrong[] = {{other_order},        {rough_sigmoid}, {reads_row_before},
                                       {skips_short_ranges}, {clears_first},  {whole_registers}};
static const struct check_fault faults[] = {
    {"other_order", "sigmoid and up are multiplied first", CHECK_GATE_BITS, &wrong[0]},
    {"rough_sigmoid", "the sigmoid is a millionth too large", CHECK_GATE_ACCURACY, &wrong[1]},
    {"reads_row_before", "zero times the row before is added", CHECK_GATE_ROWS, &wrong[2]},
    {"by_range_length", "short ranges multiply in another order", CHECK_GATE_PARTITION, &wrong[3]},
    {"clears_first", "the output is cleared before the input is read", CHECK_GATE_COMPOSITION, &wrong[4]},
    {"whole_registers", "the last register of a row is stored whole", CHECK_GATE_EDGES, &wrong[5]},
};

#define VARIANT(fn, isa) static const struct variant fn##_variant = {fn};
#include "kernels/swiglu/swiglu.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"silu", isa, &fn##_variant},
#include "kernels/swiglu/swiglu.def"
#undef VARIANT
};

const struct check_family swiglu_check = {
    .name = "swiglu",
    .domain = "n >= 1, any rows; y may be gate or up",
    .gate = {bits, accuracy, rows, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
