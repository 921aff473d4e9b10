// Checks of the short convolution: its gates, planted faults and speed. A channel is what a row is elsewhere.
#include "kernels/check.h"
#include "kernels/conv/conv.h"
#include "kernels/math/math.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const uint32_t widths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 257};
enum { WIDTHS = COUNT(widths), CASES = WIDTHS * CONV_TAPS_MAX, GAP = 3 };

struct variant {
    conv_silu_fn *fn;
};

static conv_silu_fn *fn_of(const void *variant) { return ((const struct variant *)variant)->fn; }

// Inputs and the output end where the guarded memory does.
struct problem {
    const float *x[CONV_TAPS_MAX];
    struct conv_silu_args a;
    uint32_t n; // channels
};

static void problem_new(struct check *c, struct problem *p, uint32_t n, uint32_t taps, enum check_data data) {
    float *w = check_new(c, ((size_t)(taps - 1) * (n + GAP) + n) * sizeof *w, 4);
    float *y = check_new(c, n * sizeof *y, 4);
    *p = (struct problem){.a = {.w = w, .y = y, .taps = taps, .ldw = n + GAP}, .n = n};
    for (uint32_t t = 0; t < taps; t++) {
        float *x = check_new(c, n * sizeof *x, 4);
        if (check_failed(c)) return;
        check_fill(c, x, n, data);
        check_fill(c, w + (size_t)t * p->a.ldw, n, CHECK_DATA_PLAIN);
        p->x[t] = x;
    }
    p->a.x = p->x;
}

// Another output for the same problem.
static struct conv_silu_args other(struct check *c, const struct problem *p) {
    struct conv_silu_args a = p->a;
    a.y = check_new(c, p->n * sizeof *a.y, 4);
    return a;
}

static void bits(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < CASES * (CHECK_DATA_COUNT + 1) && !check_failed(c); i++) {
        struct problem p;
        uint32_t kind = i / CASES;
        enum check_data data = (enum check_data)(kind % CHECK_DATA_COUNT);
        problem_new(c, &p, widths[i % WIDTHS], i / WIDTHS % CONV_TAPS_MAX + 1, data);
        struct conv_silu_args want = other(c, &p);
        if (check_failed(c)) return;
        if (kind == CHECK_DATA_COUNT) {
            static const float special[] = {INFINITY, -INFINITY, NAN, -0.0f, 3e38f, 1e-45f};
            ((float *)p.x[check_below(c, p.a.taps)])[check_below(c, p.n)] = special[check_below(c, 6)];
        }
        conv_silu_ref(&want, 0, p.n);
        fn_of(variant)(&p.a, 0, p.n);
        check_same(c, want.y, p.a.y, p.n, "%u taps, %u channels: y", p.a.taps, p.n);
        check_forget(c);
    }
}

// The chain rounds once a tap, so the sum is off by taps u of the sum of magnitudes; the slope of SiLU is below 1.1.
// Then exp 2 u, sum, quotient and product: 5 u of the result.
static void accuracy(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < CASES * 3 && !check_failed(c); i++) {
        struct problem p;
        problem_new(c, &p, widths[i % WIDTHS], i / WIDTHS % CONV_TAPS_MAX + 1, (enum check_data)(i / CASES));
        if (check_failed(c)) return;
        fn_of(variant)(&p.a, 0, p.n);
        for (uint32_t ch = 0; ch < p.n; ch++) {
            double sum = 0, magnitude = 0;
            for (uint32_t t = 0; t < p.a.taps; t++) {
                double term = (double)p.x[t][ch] * (double)p.a.w[(size_t)t * p.a.ldw + ch];
                sum += term;
                magnitude += fabs(term);
            }
            double want = sum / (1 + exp(-sum)), u = 1.01 * 0x1p-24;
            check_near(c, want, (double)p.a.y[ch], u * (1.1 * p.a.taps * magnitude + 5 * fabs(want)) + 0x1p-110,
                       "%u taps, y[%u]", p.a.taps, ch);
        }
        check_forget(c);
    }
}

// One channel alone, then among channels of NaN: what it gives does not depend on its neighbours.
static void alone(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < CASES && !check_failed(c); i++) {
        struct problem p;
        problem_new(c, &p, widths[i % WIDTHS], i / WIDTHS + 1, CHECK_DATA_WIDE);
        struct conv_silu_args among = other(c, &p);
        if (check_failed(c)) return;
        uint32_t at = check_below(c, p.n);
        fn_of(variant)(&p.a, at, at + 1);
        for (uint32_t t = 0; t < p.a.taps; t++) {
            float *x = (float *)p.x[t], kept = x[at];
            check_poison(x, p.n);
            x[at] = kept;
        }
        fn_of(variant)(&among, 0, p.n);
        check_same(c, p.a.y + at, among.y + at, 1, "%u taps, channel %u of %u among NaN: y", p.a.taps, at, p.n);
        check_forget(c);
    }
}

struct parts {
    conv_silu_fn *fn;
    const struct conv_silu_args *a;
    uint32_t border[6];
};

static void run_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    (void)parts, (void)worker;
    const struct parts *p = context;
    p->fn(p->a, p->border[part], p->border[part + 1]);
}

static void partition(struct check *c, const void *variant) {
    enum { PARTS = 5 };
    for (uint32_t i = 0; i < CASES && !check_failed(c); i++) {
        struct problem p;
        problem_new(c, &p, widths[i % WIDTHS], i / WIDTHS + 1, CHECK_DATA_WIDE);
        struct conv_silu_args cut = other(c, &p);
        struct parts parts = {.fn = fn_of(variant), .a = &cut, .border = {[PARTS] = p.n}};
        if (check_failed(c)) return;
        for (uint32_t b = PARTS - 1; b > 0; b--) parts.border[b] = check_below(c, parts.border[b + 1] + 1);
        parts.fn(&p.a, 0, p.n);
        check_parallel(c, run_part, &parts, PARTS);
        check_same(c, p.a.y, cut.y, p.n, "%u taps, %u channels cut into ranges: y", p.a.taps, p.n);
        check_forget(c);
    }
}

static void edges(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < CASES && !check_failed(c); i++) {
        struct problem p;
        problem_new(c, &p, widths[i % WIDTHS], i / WIDTHS + 1, CHECK_DATA_PLAIN);
        if (check_failed(c)) return;
        uint32_t begin = p.n / 3, end = p.n - p.n / 4;
        fn_of(variant)(&p.a, begin, end);
        check_untouched(c, p.a.y, begin, "%u channels, before the range: y", p.n);
        check_untouched(c, p.a.y + end, p.n - end, "%u channels, after the range: y", p.n);
        fn_of(variant)(&p.a, 0, p.n); // inputs, weights and output end at a page that cannot be touched
        check_forget(c);
    }
}

enum { BENCH_CHANNELS = 10240, BENCH_TAPS = 4 };

struct bench_job {
    struct problem p;
    conv_silu_fn *fn;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->p.a, 0, j->p.n);
}

static void bench(struct check *c, const void *variant) {
    struct bench_job j = {.fn = fn_of(variant)};
    problem_new(c, &j.p, BENCH_CHANNELS, BENCH_TAPS, CHECK_DATA_PLAIN);
    if (check_failed(c)) return;
    double ns = check_time_ns(c, run_bench, &j);
    j.fn = conv_silu_ref;
    check_line(c, "conv             %d taps: %.2f G channels/s (%.1f x ref)", BENCH_TAPS, BENCH_CHANNELS / ns,
               check_time_ns(c, run_bench, &j) / ns);
}

// Wrong on purpose: one channel's sum in another way, or the right channels and one thing more.
static void newest_first(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    for (uint32_t ch = begin; ch < end; ch++) {
        float s = 0.0f;
        for (uint32_t t = a->taps; t-- > 0;) s = fmaf(a->x[t][ch], a->w[(size_t)t * a->ldw + ch], s);
        a->y[ch] = s * math_sigmoid(s);
    }
}

static void two_roundings(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    for (uint32_t ch = begin; ch < end; ch++) {
        float s = 0.0f;
        for (uint32_t t = 0; t < a->taps; t++) s += a->x[t][ch] * a->w[(size_t)t * a->ldw + ch];
        a->y[ch] = s * math_sigmoid(s);
    }
}

static void taps_turned(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    const float *turned[CONV_TAPS_MAX];
    for (uint32_t t = 0; t < a->taps; t++) turned[t] = a->x[a->taps - 1 - t];
    struct conv_silu_args b = *a;
    b.x = turned;
    conv_silu_ref(&b, begin, end);
}

static void sum_of_neighbour(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    conv_silu_ref(a, begin, end);
    for (uint32_t ch = begin + 1; ch < end; ch++) a->y[ch] += 0.0f * a->x[0][ch - 1];
}

static void by_range_length(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    (end - begin < 8 ? newest_first : conv_silu_ref)(a, begin, end);
}

static void whole_registers(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    conv_silu_ref(a, begin, end);
    for (uint32_t ch = end; (ch - begin) % 8; ch++) a->y[ch] = 0.0f;
}

static const struct variant wrong[] = {{newest_first},     {two_roundings},   {taps_turned},
                                       {sum_of_neighbour}, {by_range_length}, {whole_registers}};
static const struct check_fault faults[] = {
    {"newest_first", "the newest tap is added first", CHECK_GATE_BITS, &wrong[0]},
    {"two_roundings", "products are rounded before they are added", CHECK_GATE_BITS, &wrong[1]},
    {"taps_turned", "the oldest input meets the newest weight", CHECK_GATE_ACCURACY, &wrong[2]},
    {"sum_of_neighbour", "zero times the channel before is added", CHECK_GATE_ROWS, &wrong[3]},
    {"by_range_length", "short ranges add the newest tap first", CHECK_GATE_PARTITION, &wrong[4]},
    {"whole_registers", "the last register of a range is stored whole", CHECK_GATE_EDGES, &wrong[5]},
};

#define VARIANT(fn, isa) static const struct variant fn##_variant = {fn};
#include "kernels/conv/conv.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"silu", isa, &fn##_variant},
#include "kernels/conv/conv.def"
#undef VARIANT
};

const struct check_family conv_check = {
    .name = "conv",
    .domain = "1 to 8 taps, any channels; rows anywhere",
    .gate = {bits, accuracy, alone, partition, NULL, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
