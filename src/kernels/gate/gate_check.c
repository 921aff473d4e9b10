// Checks of the sigmoid gate: its gates, planted faults and speed.
#include "kernels/check_rows.h"
#include "kernels/gate/gate.h"
#include "kernels/math/math.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct variant {
    gate_sigmoid_fn *fn;
};

// A row of input is x, then its gate.
static void run(const void *variant, const struct check_rows_call *call) {
    const struct variant *v = variant;
    const struct gate_sigmoid_args a = {call->in, call->in + call->n, call->out, call->n, call->ld, call->ld, call->ld};
    v->fn(&a, call->begin, call->end);
}

static const struct variant plain = {gate_sigmoid_ref};
static const struct check_rows_op op = {2, 1, 0, run, &plain};

static void bits(struct check *c, const void *variant) { check_rows_bits(c, &op, variant); }
static void rows(struct check *c, const void *variant) { check_rows_alone(c, &op, variant); }
static void partition(struct check *c, const void *variant) { check_rows_partition(c, &op, variant); }
static void edges(struct check *c, const void *variant) { check_rows_edges(c, &op, variant); }

// exp is under 1 ulp (2 u) off and weighs at most 1 in the sum; then the sum, the quotient and a product: 5 u.
// Where exp(-g) overflows, the result is 0 and the true one below |x| * 2^-127.
static void accuracy(struct check *c, const void *variant) {
    enum { N = 4096 };
    float *x = check_new(c, N * sizeof *x, 4), *gate = check_new(c, N * sizeof *gate, 4);
    float *y = check_new(c, N * sizeof *y, 4);
    if (check_failed(c)) return;
    for (uint32_t i = 0; i < N; i++) gate[i] = 100.0f * check_real(c) * (i % 2 ? 1.0f : 0.02f);
    check_fill(c, x, N, CHECK_DATA_PLAIN);
    ((const struct variant *)variant)->fn(&(struct gate_sigmoid_args){x, gate, y, N, N, N, N}, 0, 1);
    for (uint32_t i = 0; i < N; i++) {
        double g = (double)gate[i], want = (double)x[i] / (1 + exp(-g));
        check_near(c, want, (double)y[i], fabs(want) * 5.1 * 0x1p-24 + 0x1p-126, "x %a, gate %a", (double)x[i], g);
    }
}

static void composition(struct check *c, const void *variant) {
    const struct variant *v = variant;
    for (uint32_t n = 1; n < 80 && !check_failed(c); n++) {
        size_t bytes = n * sizeof(float);
        float *x = check_new(c, bytes, 4), *gate = check_new(c, bytes, 4), *y = check_new(c, bytes, 4);
        float *copy = check_new(c, bytes, 4);
        if (check_failed(c)) return;
        check_fill(c, x, n, CHECK_DATA_PLAIN);
        check_fill(c, gate, n, CHECK_DATA_PLAIN);
        memcpy(copy, x, bytes);
        v->fn(&(struct gate_sigmoid_args){x, gate, y, n, n, n, n}, 0, 1);
        v->fn(&(struct gate_sigmoid_args){copy, gate, copy, n, n, n, n}, 0, 1);
        v->fn(&(struct gate_sigmoid_args){x, gate, gate, n, n, n, n}, 0, 1);
        check_same(c, y, copy, n, "width %u, in place: y", n);
        check_same(c, y, gate, n, "width %u, in place of the gate: y", n);
        check_forget(c);
    }
}

enum { BENCH_N = 6144, BENCH_ROWS = 4 };

struct bench_job {
    struct gate_sigmoid_args a;
    gate_sigmoid_fn *fn;
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
    struct bench_job j = {{x, x, y, BENCH_N, BENCH_N, BENCH_N, BENCH_N}, ((const struct variant *)variant)->fn};
    double ns = check_time_ns(c, run_bench, &j);
    j.fn = gate_sigmoid_ref;
    check_line(c, "gate             %.2f G values/s (%.1f x ref)", (double)floats / ns,
               check_time_ns(c, run_bench, &j) / ns);
}

// Wrong on purpose.
static void of_itself(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    struct gate_sigmoid_args swapped = *a;
    swapped.x = a->gate;
    swapped.gate = a->x;
    gate_sigmoid_ref(&swapped, row_begin, row_end);
}

static void silu(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    gate_sigmoid_ref(a, row_begin, row_end);
    for (uint32_t r = row_begin; r < row_end; r++)
        for (uint32_t i = 0; i < a->n; i++) a->y[(size_t)r * a->ldy + i] *= a->gate[(size_t)r * a->ldgate + i];
}

static void reads_row_before(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    gate_sigmoid_ref(a, row_begin, row_end);
    for (size_t r = row_begin; r + 1 < row_end; r++) a->y[(r + 1) * a->ldy] += 0.0f * a->gate[r * a->ldgate];
}

static void skips_short_ranges(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    (row_end - row_begin > 4 ? gate_sigmoid_ref : of_itself)(a, row_begin, row_end);
}

static void clears_first(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    check_rows_clear(a->y, a->n, a->ldy, row_begin, row_end);
    gate_sigmoid_ref(a, row_begin, row_end);
}

static void whole_registers(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    gate_sigmoid_ref(a, row_begin, row_end);
    check_rows_spill(a->y, a->n, a->ldy, row_begin, row_end);
}

static const struct variant wrong[] = {{of_itself},          {silu},         {reads_row_before},
                                       {skips_short_ranges}, {clears_first}, {whole_registers}};
static const struct check_fault faults[] = {
    {"of_itself", "the gate is multiplied by the sigmoid of x", CHECK_GATE_BITS, &wrong[0]},
    {"silu", "the gate is SiLU", CHECK_GATE_ACCURACY, &wrong[1]},
    {"reads_row_before", "zero times the gate of the row before is added", CHECK_GATE_ROWS, &wrong[2]},
    {"by_range_length", "short ranges swap x and gate", CHECK_GATE_PARTITION, &wrong[3]},
    {"clears_first", "the output is cleared before the input is read", CHECK_GATE_COMPOSITION, &wrong[4]},
    {"whole_registers", "the last register of a row is stored whole", CHECK_GATE_EDGES, &wrong[5]},
};

#define VARIANT(fn, isa) static const struct variant fn##_variant = {fn};
#include "kernels/gate/gate.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"sigmoid", isa, &fn##_variant},
#include "kernels/gate/gate.def"
#undef VARIANT
};

const struct check_family gate_check = {
    .name = "gate",
    .domain = "n >= 1, any rows; y may be x or gate",
    .gate = {bits, accuracy, rows, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
