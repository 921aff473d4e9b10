// Checks of rotary positions: the turning kernels' gates and speed, the tables against libm, planted faults.
#include "kernels/check_rows.h"
#include "kernels/rope/rope.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { HEADS = 2 };

typedef void table_fn(int64_t position, const double *inverse, uint32_t n, float scale, float *cosine, float *sine);

struct variant {
    rope_fn *fn;
    table_fn *table;
};

// A row of input is two heads of 2n + 1 values, the last of which is not turned; then n cosines and n sines.
static void run(const void *variant, const struct check_rows_call *call) {
    enum { ROWS_MAX = 32, N_MAX = 1024 };
    float cosine[ROWS_MAX * N_MAX], sine[ROWS_MAX * N_MAX];
    uint32_t n = call->n, head_dim = 2 * n + 1;
    for (uint32_t r = call->begin; r < call->end; r++) {
        const float *in = call->in + (size_t)r * call->ld;
        memcpy(call->out + (size_t)r * call->ld, in, (size_t)HEADS * head_dim * sizeof *in);
        memcpy(cosine + (size_t)r * n, in + (size_t)HEADS * head_dim, n * sizeof *in);
        memcpy(sine + (size_t)r * n, in + (size_t)HEADS * head_dim + n, n * sizeof *in);
    }
    const struct variant *v = variant;
    v->fn(&(struct rope_args){call->out, call->ld, HEADS, head_dim, 2 * n, cosine, sine}, call->begin, call->end);
}

static const struct variant plain = {rope_ref, rope_row};
static const struct check_rows_op op = {6, 4, 2, run, &plain};

static void bits(struct check *c, const void *variant) { check_rows_bits(c, &op, variant); }
static void rows(struct check *c, const void *variant) { check_rows_alone(c, &op, variant); }
static void partition(struct check *c, const void *variant) { check_rows_partition(c, &op, variant); }
static void edges(struct check *c, const void *variant) { check_rows_edges(c, &op, variant); }

// Frequencies within 2^-48 of theta^(-2i/dims); cosine and sine of the double angle within one rounding to fp32.
static void check_tables(struct check *c, const struct variant *v) {
    static const double thetas[] = {10000.0, 100000.0, 500000.0, 1e7};
    static const int64_t positions[] = {0, 1, 2, 77, 4095, 131071, 1048575};
    enum { DIMS = 128, N = DIMS / 2 };
    double inverse[N];
    float cosine[N], sine[N];
    for (size_t t = 0; t < COUNT(thetas) && !check_failed(c); t++) {
        rope_frequencies(thetas[t], DIMS, inverse);
        for (uint32_t i = 0; i < N; i++) {
            double want = pow(thetas[t], -2.0 * i / DIMS);
            check_near(c, want, inverse[i], want * 0x1p-48, "theta %g, frequency %u", thetas[t], i);
        }
        for (size_t p = 0; p < COUNT(positions); p++) {
            v->table(positions[p], inverse, N, 1.0f, cosine, sine);
            for (uint32_t i = 0; i < N; i++) {
                double angle = (double)positions[p] * inverse[i];
                check_near(c, cos(angle), (double)cosine[i], 0x1.001p-25, "cosine of %a", angle);
                check_near(c, sin(angle), (double)sine[i], 0x1.001p-25, "sine of %a", angle);
            }
        }
    }
}

// One product rounded, then one fused step: 2 u of the larger terms.
static void accuracy(struct check *c, const void *variant) {
    const struct variant *v = variant;
    check_tables(c, v);
    enum { HALF = 40 };
    float x[2 * HALF], y[2 * HALF], cosine[HALF], sine[HALF];
    check_fill(c, x, 2 * HALF, CHECK_DATA_OUTLIER);
    check_fill(c, cosine, HALF, CHECK_DATA_PLAIN);
    check_fill(c, sine, HALF, CHECK_DATA_PLAIN);
    memcpy(y, x, sizeof x);
    v->fn(&(struct rope_args){y, 2 * HALF, 1, 2 * HALF, 2 * HALF, cosine, sine}, 0, 1);
    for (int i = 0; i < HALF; i++) {
        double a = (double)x[i], b = (double)x[i + HALF], co = (double)cosine[i], si = (double)sine[i];
        double limit = (fabs(a) + fabs(b)) * 0x1p-23;
        check_near(c, a * co - b * si, (double)y[i], limit, "lower half, %d", i);
        check_near(c, b * co + a * si, (double)y[i + HALF], limit, "upper half, %d", i);
    }
}

enum { BENCH_ROWS = 64, BENCH_HEADS = 12, BENCH_DIM = 64 };

struct bench_job {
    struct rope_args a;
    rope_fn *fn;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->a, 0, BENCH_ROWS);
}

static void bench(struct check *c, const void *variant) {
    size_t floats = (size_t)BENCH_ROWS * BENCH_HEADS * BENCH_DIM;
    float *x = check_new(c, floats * sizeof *x, 64), *turn = check_new(c, floats * sizeof *turn, 64);
    if (check_failed(c)) return;
    check_fill(c, x, floats, CHECK_DATA_PLAIN);
    for (size_t i = 0; i < floats; i++) turn[i] = 0.6f;
    struct bench_job j = {{x, BENCH_HEADS * BENCH_DIM, BENCH_HEADS, BENCH_DIM, BENCH_DIM, turn, turn},
                          ((const struct variant *)variant)->fn};
    double ns = check_time_ns(c, run_bench, &j);
    j.fn = rope_ref;
    check_line(c, "rope             %.2f G values/s (%.1f x ref)", (double)floats / ns,
               check_time_ns(c, run_bench, &j) / ns);
}

// Wrong on purpose.
static void two_products(const struct rope_args *a, uint32_t row_begin, uint32_t row_end) {
    uint32_t half = a->dims / 2;
    for (uint32_t r = row_begin; r < row_end; r++) {
        for (uint32_t i = 0; i < a->heads * half; i++) {
            float *x = a->x + (size_t)r * a->ldx + (size_t)(i / half) * a->head_dim + i % half;
            float c = a->cosine[r * half + i % half], s = a->sine[r * half + i % half], low = x[0], high = x[half];
            x[0] = low * c - high * s;
            x[half] = high * c + low * s;
        }
    }
}

static void angle_in_float(int64_t position, const double *inverse, uint32_t n, float scale, float *cosine,
                           float *sine) {
    for (uint32_t i = 0; i < n; i++) {
        float angle = (float)position * (float)inverse[i];
        cosine[i] = cosf(angle) * scale;
        sine[i] = sinf(angle) * scale;
    }
}

static void turns_whole_head(const struct rope_args *a, uint32_t row_begin, uint32_t row_end) {
    rope_ref(a, row_begin, row_end);
    for (uint32_t r = row_begin; r < row_end; r++) a->x[(size_t)r * a->ldx + (size_t)a->heads * a->head_dim] = 0.0f;
}

static void table_of_first_row(const struct rope_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        struct rope_args first = *a;
        size_t back = (size_t)(r - row_begin) * (a->dims / 2);
        first.cosine -= back;
        first.sine -= back;
        rope_ref(&first, r, r + 1);
    }
}

static const struct variant wrong[] = {{two_products, rope_row},
                                       {rope_ref, angle_in_float},
                                       {table_of_first_row, rope_row},
                                       {turns_whole_head, rope_row}};
static const struct check_fault faults[] = {
    {"two_products", "both products are rounded", CHECK_GATE_BITS, &wrong[0]},
    {"angle_in_float", "angles are computed in fp32", CHECK_GATE_ACCURACY, &wrong[1]},
    {"table_of_first_row", "all rows turn by the first row's angles", CHECK_GATE_ROWS, &wrong[2]},
    {"table_of_first_row_of_range", "rows turn by the angles of their range's first row", CHECK_GATE_PARTITION,
     &wrong[2]},
    {"one_value_more", "the value after the last head is written", CHECK_GATE_EDGES, &wrong[3]},
};

#define VARIANT(fn, isa) static const struct variant fn##_variant = {fn, rope_row};
#include "kernels/rope/rope.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"halves", isa, &fn##_variant},
#include "kernels/rope/rope.def"
#undef VARIANT
};

const struct check_family rope_check = {
    .name = "rope",
    .domain = "dims even, dims <= head_dim, any rows and heads, positions below 2^31",
    .gate = {bits, accuracy, rows, partition, NULL, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
