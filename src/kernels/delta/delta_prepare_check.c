// Checks of what the delta rule makes of a row's channels: unit lengths and gates, planted faults, speed.
#include "kernels/check_rows.h"
#include "kernels/delta/delta.h"
#include "kernels/math/math.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { K_HEADS = 3, GROUP = 2, V_HEADS = K_HEADS * GROUP, KEYS = 2 * K_HEADS };

static const float decay[V_HEADS] = {-0.01f, -0.5f, -1.0f, -16.0f, -0.0f, -3.0f};
static const float dt_bias[V_HEADS] = {0.0f, -4.0f, 1.5f, 0.25f, 1.0f, 20.0f};

struct variant {
    delta_prepare_fn *fn;
};

// A row of input is the q and k heads of n values and value heads of one value each, which are changed in place, then
// a and b, which become alpha and beta. Key heads [begin, end) of row r.
static void run_heads(const void *variant, const struct check_rows_call *call, uint32_t r, const uint32_t heads[2]) {
    const struct delta_shape shape = {K_HEADS, V_HEADS, call->n, 1};
    size_t channels = delta_channels(&shape);
    const float *a = call->in + (size_t)r * call->ld + channels;
    float *c = call->out + (size_t)r * call->ld, *alpha = c + channels;
    const struct delta_prepare_args args = {&shape, c, a, a + V_HEADS, decay, dt_bias, alpha, alpha + V_HEADS};
    ((const struct variant *)variant)->fn(&args, heads[0], heads[1]);
}

// A row's channels, so that they can be changed in place.
static void copy_channels(const struct check_rows_call *call, uint32_t r) {
    size_t at = (size_t)r * call->ld, channels = (size_t)KEYS * call->n + V_HEADS;
    memcpy(call->out + at, call->in + at, channels * sizeof *call->in);
}

static void run(const void *variant, const struct check_rows_call *call) {
    for (uint32_t r = call->begin; r < call->end; r++) {
        copy_channels(call, r);
        run_heads(variant, call, r, (const uint32_t[]){0, K_HEADS});
    }
}

static const struct variant plain = {delta_prepare_ref};
static const struct check_rows_op op = {KEYS, KEYS, 3 * V_HEADS, run, &plain};

static void bits(struct check *c, const void *variant) { check_rows_bits(c, &op, variant); }
static void edges(struct check *c, const void *variant) { check_rows_edges(c, &op, variant); }

// Two rows of the same random input: one to be made whole, one to be made another way.
static struct check_rows_call two_rows(struct check *c, uint32_t n) {
    uint32_t floats = KEYS * n + 3 * V_HEADS;
    size_t bytes = (size_t)2 * floats * sizeof(float);
    float *in = check_new(c, bytes, 4), *out = check_new(c, bytes, 4);
    if (check_failed(c)) return (struct check_rows_call){0};
    check_fill(c, in, floats, CHECK_DATA_PLAIN);
    memcpy(in + floats, in, floats * sizeof *in);
    return (struct check_rows_call){n, floats, 0, 2, in, out};
}

static void same_heads(struct check *c, const struct check_rows_call *p, const uint32_t heads[2]) {
    for (uint32_t h = heads[0]; h < heads[1]; h++) {
        const float *q = p->out + (size_t)h * p->n, *k = q + (size_t)K_HEADS * p->n;
        const float *alpha = p->out + (size_t)KEYS * p->n + V_HEADS + h * GROUP;
        check_same(c, q, q + p->ld, p->n, "width %u, q of head %u", p->n, h);
        check_same(c, k, k + p->ld, p->n, "width %u, k of head %u", p->n, h);
        check_same(c, alpha, alpha + p->ld, GROUP, "width %u, alpha of key head %u", p->n, h);
        check_same(c, alpha + V_HEADS, alpha + V_HEADS + p->ld, GROUP, "width %u, beta of key head %u", p->n, h);
    }
}

// Each key head alone, then beside heads of NaN.
static void alone(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < 100 * K_HEADS && !check_failed(c); i++) {
        uint32_t h = i % K_HEADS, n = 1 + i / K_HEADS;
        struct check_rows_call p = two_rows(c, n);
        if (check_failed(c)) return;
        for (uint32_t r = 0; r < 2; r++) copy_channels(&p, r);
        run_heads(variant, &p, 0, (const uint32_t[]){h, h + 1});
        float *in = (float *)p.in + p.ld, *out = p.out + p.ld;
        for (uint32_t other = 0; other < K_HEADS; other++) {
            if (other == h) continue;
            check_poison(out + (size_t)other * n, n);
            check_poison(out + (size_t)(K_HEADS + other) * n, n);
            check_poison(in + (size_t)KEYS * n + V_HEADS + other * GROUP, GROUP);
            check_poison(in + (size_t)KEYS * n + 2 * V_HEADS + other * GROUP, GROUP);
        }
        run_heads(variant, &p, 1, (const uint32_t[]){0, K_HEADS});
        same_heads(c, &p, (const uint32_t[]){h, h + 1});
        check_forget(c);
    }
}

// The heads of a row in one call, and one by one from the last.
static void partition(struct check *c, const void *variant) {
    for (uint32_t n = 1; n < 100 && !check_failed(c); n++) {
        struct check_rows_call p = two_rows(c, n);
        if (check_failed(c)) return;
        for (uint32_t r = 0; r < 2; r++) copy_channels(&p, r);
        run_heads(variant, &p, 0, (const uint32_t[]){0, K_HEADS});
        for (uint32_t h = K_HEADS; h-- > 0;) run_heads(variant, &p, 1, (const uint32_t[]){h, h + 1});
        same_heads(c, &p, (const uint32_t[]){0, K_HEADS});
        check_forget(c);
    }
}

// Units u = 2^-24. A unit vector: its sum of squares (n/16 + 6), halved by the root, then root, reciprocal and
// products. alpha: its exponent decay * softplus(x) is off by u of x in the sum, u of softplus and u of itself, and exp
// by 2 u. beta: exp, sum, quotient.
static void row_near_exact(struct check *c, const struct delta_shape *s, const float *in, const float *out) {
    double u = 1.01 * 0x1p-24;
    for (uint32_t h = 0; h < KEYS; h++) {
        double total = 1e-6, factor = h < K_HEADS ? 1 / sqrt((double)s->k_dim) : 1;
        const float *x = in + (size_t)h * s->k_dim, *y = out + (size_t)h * s->k_dim;
        for (uint32_t i = 0; i < s->k_dim; i++) total += (double)x[i] * (double)x[i];
        for (uint32_t i = 0; i < s->k_dim; i++) {
            double want = (double)x[i] / sqrt(total) * factor;
            check_near(c, want, (double)y[i], u * fabs(want) * ((s->k_dim / 16.0 + 7) / 2 + 5) + 0x1p-140,
                       "width %u, head %u, %u", s->k_dim, h, i);
        }
    }
    const float *a = in + delta_channels(s), *gates = out + delta_channels(s);
    for (uint32_t j = 0; j < V_HEADS; j++) {
        double x = (double)a[j] + (double)dt_bias[j], soft = x > 30 ? x : log1p(exp(x)), d = (double)decay[j];
        double want = exp(d * soft), open = 1 / (1 + exp(-(double)a[V_HEADS + j]));
        check_near(c, want, (double)gates[j], u * want * (fabs(d) * (fabs(x) + 2 * soft) + 2) + 0x1p-126,
                   "alpha of a %a, decay %a", (double)a[j], d);
        check_near(c, open, (double)gates[V_HEADS + j], u * 4 * open + 0x1p-126, "beta of b %a",
                   (double)a[V_HEADS + j]);
    }
}

static void accuracy(struct check *c, const void *variant) {
    static const uint32_t widths[] = {1, 16, 20, 128, 257};
    for (int i = 0; i < 5 * CHECK_DATA_COUNT && !check_failed(c); i++) {
        const struct delta_shape shape = {K_HEADS, V_HEADS, widths[i % 5], 1};
        size_t channels = delta_channels(&shape), floats = channels + 2 * V_HEADS;
        float *in = check_new(c, floats * sizeof *in, 4), *out = check_new(c, floats * sizeof *out, 4);
        if (check_failed(c)) return;
        check_fill(c, in, channels, (enum check_data)(i / 5));
        for (uint32_t j = 0; j < 2 * V_HEADS; j++) in[channels + j] = 25.0f * check_real(c);
        run(variant, &(struct check_rows_call){shape.k_dim, (uint32_t)floats, 0, 1, in, out});
        row_near_exact(c, &shape, in, out);
        check_same(c, in + (size_t)KEYS * shape.k_dim, out + (size_t)KEYS * shape.k_dim, V_HEADS, "width %u: v",
                   shape.k_dim);
        check_forget(c);
    }
}

enum { BENCH_K_HEADS = 16, BENCH_V_HEADS = 48, BENCH_DIM = 128 };

struct bench_job {
    struct delta_prepare_args a;
    delta_prepare_fn *fn;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->a, 0, BENCH_K_HEADS);
}

static void bench(struct check *c, const void *variant) {
    static const struct delta_shape shape = {BENCH_K_HEADS, BENCH_V_HEADS, BENCH_DIM, BENCH_DIM};
    size_t channels = delta_channels(&shape);
    float *x = check_new(c, channels * sizeof *x, 64), *gates = check_new(c, 6 * BENCH_V_HEADS * sizeof *gates, 64);
    if (check_failed(c)) return;
    check_fill(c, x, channels, CHECK_DATA_PLAIN);
    check_fill(c, gates, (size_t)6 * BENCH_V_HEADS, CHECK_DATA_PLAIN);
    const float *g = gates;
    struct bench_job j = {{&shape, x, g, g + BENCH_V_HEADS, g + 2 * BENCH_V_HEADS, g + 3 * BENCH_V_HEADS,
                           gates + 4 * BENCH_V_HEADS, gates + 5 * BENCH_V_HEADS},
                          ((const struct variant *)variant)->fn};
    double ns = check_time_ns(c, run_bench, &j);
    j.fn = delta_prepare_ref;
    check_line(c, "delta_prepare    %u heads of %u: %.2f us a row (%.1f x ref)", BENCH_V_HEADS, BENCH_DIM, ns * 1e-3,
               check_time_ns(c, run_bench, &j) / ns);
}

// Wrong on purpose: the right heads, then one part of them in another way, or the other way about.
static void one_product(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    uint32_t n = a->shape->k_dim;
    float factor = delta_query_factor(a->shape);
    for (uint32_t h = begin; h < end; h++) {
        float *q = a->c + (size_t)h * n, s = 1.0f / sqrtf(math_squares(q, n) + DELTA_UNIT_EPS), both = s * factor;
        float *k = q + (size_t)K_HEADS * n, s_k = 1.0f / sqrtf(math_squares(k, n) + DELTA_UNIT_EPS);
        for (uint32_t i = 0; i < n; i++) q[i] *= both, k[i] *= s_k;
    }
    delta_gates(a, begin, end, math_exp_row_ref, math_sigmoid_row_ref);
}

static void no_softplus(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    delta_prepare_ref(a, begin, end);
    for (uint32_t j = GROUP * begin; j < GROUP * end; j++)
        a->alpha[j] = math_exp(a->decay[j] * (a->a[j] + a->dt_bias[j]));
}

static void key_scaled_too(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    uint32_t n = a->shape->k_dim;
    delta_prepare_ref(a, begin, end);
    for (size_t i = (size_t)(K_HEADS + begin) * n; i < (size_t)(K_HEADS + end) * n; i++)
        a->c[i] *= delta_query_factor(a->shape);
}

static void gate_before(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    delta_prepare_ref(a, begin, end);
    for (uint32_t j = GROUP * begin + 1; j < GROUP * end; j++) a->beta[j] += 0.0f * a->b[j - 1];
}

static void by_heads_in_call(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    (end - begin > 1 ? delta_prepare_ref : one_product)(a, begin, end);
}

static void one_gate_more(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    delta_prepare_ref(a, begin, end);
    a->beta[GROUP * end] = 0.0f;
}

static const struct variant wrong[] = {{one_product}, {no_softplus},      {key_scaled_too},
                                       {gate_before}, {by_heads_in_call}, {one_gate_more}};
static const struct check_fault faults[] = {
    {"one_product", "a query's two factors are multiplied first", CHECK_GATE_BITS, &wrong[0]},
    {"no_softplus", "the decay's exponent is not passed through softplus", CHECK_GATE_ACCURACY, &wrong[1]},
    {"key_scaled_too", "keys are scaled by the root of their width", CHECK_GATE_ACCURACY, &wrong[2]},
    {"gate_before", "zero times the gate of the head before is added", CHECK_GATE_ROWS, &wrong[3]},
    {"by_heads_in_call", "a head alone has its factors multiplied first", CHECK_GATE_PARTITION, &wrong[4]},
    {"one_gate_more", "the gate after the last head is written", CHECK_GATE_EDGES, &wrong[5]},
};

#define VARIANT(fn, isa) static const struct variant fn##_variant = {fn};
#include "kernels/delta/delta_prepare.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"unit", isa, &fn##_variant},
#include "kernels/delta/delta_prepare.def"
#undef VARIANT
};

const struct check_family delta_prepare_check = {
    .name = "delta_prepare",
    .domain = "any heads and widths; v_heads % k_heads == 0",
    .gate = {bits, accuracy, alone, partition, NULL, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
