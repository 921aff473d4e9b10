// Checks of the RMS norm: its gates, planted faults and speed.
#include "base/float16.h"
#include "kernels/check_rows.h"
#include "kernels/norm/norm.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
static const float EPS = 1e-5f;

struct variant {
    norm_rms_fn *fn;
};

// Weights depend on the column only, so that every call makes the same ones.
static void run(const void *variant, const struct check_rows_call *call) {
    const struct variant *v = variant;
    float w[1024];
    for (uint32_t i = 0; i < call->n; i++) w[i] = 0.5f + (float)(i % 17) * 0.0625f;
    v->fn(&(struct norm_rms_args){call->in, call->out, w, call->n, call->ld, call->ld, EPS}, call->begin, call->end);
}

static const struct variant plain = {norm_rms_ref};
static const struct check_rows_op op = {1, 1, 0, run, &plain};

static void bits(struct check *c, const void *variant) { check_rows_bits(c, &op, variant); }
static void rows(struct check *c, const void *variant) { check_rows_alone(c, &op, variant); }
static void partition(struct check *c, const void *variant) { check_rows_partition(c, &op, variant); }
static void edges(struct check *c, const void *variant) { check_rows_edges(c, &op, variant); }

// In units u = 2^-24 of the result: n/16 + 5 roundings of a sum of positive terms, its mean and eps, halved by the
// root; then root, reciprocal and two products.
static double bound(uint32_t n, double y) { return fabs(y) * 0x1p-24 * 1.01 * ((n / 16.0 + 8) / 2 + 4) + 0x1p-140; }

static void accuracy(struct check *c, const void *variant) {
    static const uint32_t widths[] = {1, 16, 100, 576, 1021};
    for (int i = 0; i < 5 * CHECK_DATA_COUNT && !check_failed(c); i++) {
        uint32_t n = widths[i % 5];
        float *x = check_new(c, n * sizeof *x, 4), *y = check_new(c, n * sizeof *y, 4);
        float *w = check_new(c, n * sizeof *w, 4);
        if (check_failed(c)) return;
        check_fill(c, x, n, (enum check_data)(i / 5));
        check_fill(c, w, n, CHECK_DATA_PLAIN);
        ((const struct variant *)variant)->fn(&(struct norm_rms_args){x, y, w, n, n, n, EPS}, 0, 1);
        double sum = 0;
        for (uint32_t j = 0; j < n; j++) sum += (double)x[j] * (double)x[j];
        double s = 1 / sqrt(sum / n + (double)EPS);
        for (uint32_t j = 0; j < n; j++) {
            double want = (double)x[j] * s * (double)w[j];
            check_near(c, want, (double)y[j], bound(n, want), "width %u, y[%u]", n, j);
        }
        check_forget(c);
    }
}

static void composition(struct check *c, const void *variant) {
    for (uint32_t n = 1; n < 80 && !check_failed(c); n++) {
        float *x = check_new(c, n * sizeof *x, 4), *y = check_new(c, n * sizeof *y, 4);
        if (check_failed(c)) return;
        check_fill(c, x, n, CHECK_DATA_WIDE);
        run(variant, &(struct check_rows_call){n, n, 0, 1, x, y});
        run(variant, &(struct check_rows_call){n, n, 0, 1, x, x});
        check_same(c, y, x, n, "width %u, in place: y", n);
        check_forget(c);
    }
}

enum { BENCH_N = 576, BENCH_ROWS = 64 };

struct bench_job {
    struct norm_rms_args a;
    norm_rms_fn *fn;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->a, 0, BENCH_ROWS);
}

static void bench(struct check *c, const void *variant) {
    size_t floats = (size_t)BENCH_ROWS * BENCH_N;
    float *x = check_new(c, floats * sizeof *x, 64), *y = check_new(c, floats * sizeof *y, 64);
    if (check_failed(c)) return;
    check_fill(c, x, floats, CHECK_DATA_PLAIN);
    struct bench_job j = {{x, y, x, BENCH_N, BENCH_N, BENCH_N, EPS}, ((const struct variant *)variant)->fn};
    double ns = check_time_ns(c, run_bench, &j);
    j.fn = norm_rms_ref;
    check_line(c, "norm             %.2f G values/s (%.1f x ref)", (double)floats / ns,
               check_time_ns(c, run_bench, &j) / ns);
}

// Wrong on purpose: a row with another sum, or the right row and one thing more.
static void one_chain(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx;
        float sum = 0;
        for (uint32_t i = 0; i < a->n; i++) sum = fmaf(x[i], x[i], sum);
        float s = 1.0f / sqrtf(sum / (float)a->n + a->eps);
        for (uint32_t i = 0; i < a->n; i++) a->y[(size_t)r * a->ldy + i] = (x[i] * s) * a->w[i];
    }
}

static void half_output(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    norm_rms_ref(a, row_begin, row_end);
    for (uint32_t r = row_begin; r < row_end; r++) {
        float *y = a->y + (size_t)r * a->ldy;
        for (uint32_t i = 0; i < a->n; i++) y[i] = bf16_to_float(float_to_bf16(y[i]));
    }
}

static void scale_of_first_row(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    if (row_begin == row_end) return;
    float first = a->x[(size_t)row_begin * a->ldx] * 0.0f; // NaN from a neighbour goes everywhere
    norm_rms_ref(a, row_begin, row_end);
    for (uint32_t r = row_begin; r < row_end; r++) a->y[(size_t)r * a->ldy] += first;
}

static void by_place_in_range(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) ((r - row_begin) % 2 ? one_chain : norm_rms_ref)(a, r, r + 1);
}

static void clears_first(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    check_rows_clear(a->y, a->n, a->ldy, row_begin, row_end);
    norm_rms_ref(a, row_begin, row_end);
}

static void whole_registers(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    norm_rms_ref(a, row_begin, row_end);
    check_rows_spill(a->y, a->n, a->ldy, row_begin, row_end);
}

static const struct variant wrong[] = {{one_chain},         {half_output},  {scale_of_first_row},
                                       {by_place_in_range}, {clears_first}, {whole_registers}};
static const struct check_fault faults[] = {
    {"one_chain", "the squares are summed in one chain", CHECK_GATE_BITS, &wrong[0]},
    {"half_output", "the output is rounded to bfloat16", CHECK_GATE_ACCURACY, &wrong[1]},
    {"scale_of_first_row", "zero times the first row is added", CHECK_GATE_ROWS, &wrong[2]},
    {"by_place_in_range", "every second row of a range is summed in one chain", CHECK_GATE_PARTITION, &wrong[3]},
    {"clears_first", "the output is cleared before the input is read", CHECK_GATE_COMPOSITION, &wrong[4]},
    {"whole_registers", "the last register of a row is stored whole", CHECK_GATE_EDGES, &wrong[5]},
};

#define VARIANT(fn, isa) static const struct variant fn##_variant = {fn};
#include "kernels/norm/norm.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"rms", isa, &fn##_variant},
#include "kernels/norm/norm.def"
#undef VARIANT
};

const struct check_family norm_check = {
    .name = "norm",
    .domain = "n >= 1, any rows; y may be x",
    .gate = {bits, accuracy, rows, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
