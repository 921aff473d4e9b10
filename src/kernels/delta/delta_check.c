// Checks of one step of the delta rule: its gates, planted faults and speed. A column is what a row is elsewhere.
#include "base/float16.h"
#include "kernels/check.h"
#include "kernels/delta/delta.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { GAP = 3 };

struct variant {
    delta_step_fn *fn;
};

static delta_step_fn *fn_of(const void *variant) { return ((const struct variant *)variant)->fn; }

static const struct shape {
    uint32_t k_dim, columns;
} shapes[] = {{1, 1},   {2, 7},   {3, 8},   {16, 9},  {20, 15},  {20, 16},  {31, 17},  {64, 23},
              {64, 24}, {64, 31}, {64, 32}, {64, 33}, {128, 40}, {128, 57}, {128, 64}, {128, 100}};
enum { SHAPES = COUNT(shapes) };

// All in guarded memory, which ends behind the last column of the last row.
static struct delta_step_args problem_new(struct check *c, const struct shape *s, enum check_data data) {
    uint32_t n = s->columns, ld = n + GAP;
    size_t block = (size_t)(s->k_dim - 1) * ld + n;
    float *q = check_new(c, s->k_dim * sizeof *q, 4), *k = check_new(c, s->k_dim * sizeof *k, 4);
    float *v = check_new(c, n * sizeof *v, 4), *y = check_new(c, n * sizeof *y, 4);
    float *from = check_new(c, block * sizeof *from, 4), *to = check_new(c, block * sizeof *to, 4);
    struct delta_step_args a = {q, k, v, 0.5f + 0.4f * check_real(c), 0.5f + 0.4f * check_real(c), from, to, y,
                                s->k_dim, n, ld, ld};
    if (check_failed(c)) return a;
    check_fill(c, q, s->k_dim, CHECK_DATA_PLAIN);
    check_fill(c, k, s->k_dim, CHECK_DATA_PLAIN);
    check_fill(c, v, n, data);
    for (uint32_t i = 0; i < s->k_dim; i++) check_fill(c, from + (size_t)i * ld, n, data);
    for (uint32_t i = 0; i < s->k_dim; i++) ((float *)a.k)[i] /= sqrtf((float)s->k_dim);
    return a;
}

// Another output for the same problem.
static struct delta_step_args other(struct check *c, const struct delta_step_args *a) {
    struct delta_step_args b = *a;
    b.to = check_new(c, ((size_t)(a->k_dim - 1) * a->ld_to + a->columns) * sizeof *b.to, 4);
    b.y = check_new(c, a->columns * sizeof *b.y, 4);
    return b;
}

static void same(struct check *c, const struct delta_step_args *want, const struct delta_step_args *got,
                 const char *what) {
    check_same(c, want->y, got->y, want->columns, "%s, %u columns of %u: y", what, want->columns, want->k_dim);
    for (uint32_t i = 0; i < want->k_dim; i++)
        check_same(c, want->to + (size_t)i * want->ld_to, got->to + (size_t)i * got->ld_to, want->columns,
                   "%s, %u columns of %u: state row %u", what, want->columns, want->k_dim, i);
}

static void bits(struct check *c, const void *variant) {
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f};
    for (uint32_t i = 0; i < SHAPES * (CHECK_DATA_COUNT + 1) && !check_failed(c); i++) {
        uint32_t kind = i / SHAPES;
        struct delta_step_args want = problem_new(c, &shapes[i % SHAPES], (enum check_data)(kind % CHECK_DATA_COUNT));
        struct delta_step_args got = other(c, &want);
        if (check_failed(c)) return;
        if (kind == CHECK_DATA_COUNT) ((float *)want.from)[check_below(c, want.columns)] = special[check_below(c, 7)];
        delta_step_ref(&want);
        fn_of(variant)(&got);
        same(c, &want, &got, "against the reference");
        check_forget(c);
    }
}

// u = 2^-24, K = k_dim. D is off by u. m: K u of its magnitudes and D's u. d: two roundings and beta of m's error.
// S': one rounding, D's error and |k| of d's. y: K u of its magnitudes and |q| of S' errors.
static void column_near_exact(struct check *c, const struct delta_step_args *a, uint32_t column) {
    double u = 1.01 * 0x1p-24, alpha = (double)a->alpha, beta = (double)a->beta;
    double m = 0, m_size = 0, y = 0, y_off = 0, y_size = 0, v = (double)a->v[column];
    for (uint32_t i = 0; i < a->k_dim; i++) {
        double term = (double)a->from[(size_t)i * a->ld_from + column] * alpha * (double)a->k[i];
        m += term;
        m_size += fabs(term);
    }
    double d = beta * (v - m), d_off = beta * u * (a->k_dim + 1) * m_size + 2 * u * fabs(d);
    for (uint32_t i = 0; i < a->k_dim; i++) {
        double decayed = (double)a->from[(size_t)i * a->ld_from + column] * alpha, k = (double)a->k[i];
        double want = decayed + k * d, off = u * (fabs(decayed) + fabs(want)) + fabs(k) * d_off;
        check_near(c, want, (double)a->to[(size_t)i * a->ld_to + column], off + 0x1p-120, "state row %u, column %u", i,
                   column);
        y += want * (double)a->q[i];
        y_off += off * fabs((double)a->q[i]);
        y_size += fabs(want * (double)a->q[i]);
    }
    check_near(c, y, (double)a->y[column], y_off + u * a->k_dim * y_size + 0x1p-120, "y[%u]", column);
}

static void accuracy(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < SHAPES * CHECK_DATA_COUNT && !check_failed(c); i++) {
        struct delta_step_args a = problem_new(c, &shapes[i % SHAPES], (enum check_data)(i / SHAPES));
        if (check_failed(c)) return;
        fn_of(variant)(&a);
        for (uint32_t column = 0; column < a.columns; column++) column_near_exact(c, &a, column);
        check_forget(c);
    }
}

// Columns [begin, end) of a problem.
static struct delta_step_args columns_of(const struct delta_step_args *a, uint32_t begin, uint32_t end) {
    struct delta_step_args part = *a;
    part.v += begin;
    part.from += begin;
    part.to += begin;
    part.y += begin;
    part.columns = end - begin;
    return part;
}

// One column alone, then among columns of NaN.
static void alone(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < SHAPES * 4 && !check_failed(c); i++) {
        struct delta_step_args a = problem_new(c, &shapes[i % SHAPES], CHECK_DATA_WIDE), among = other(c, &a);
        if (check_failed(c)) return;
        uint32_t at = check_below(c, a.columns);
        struct delta_step_args want = columns_of(&a, at, at + 1), got = columns_of(&among, at, at + 1);
        fn_of(variant)(&want);
        for (uint32_t column = 0; column < a.columns; column++) {
            if (column == at) continue;
            check_poison((float *)a.v + column, 1);
            for (uint32_t r = 0; r < a.k_dim; r++) check_poison((float *)a.from + (size_t)r * a.ld_from + column, 1);
        }
        fn_of(variant)(&among);
        same(c, &want, &got, "alone and among columns of NaN");
        check_forget(c);
    }
}

struct parts {
    delta_step_fn *fn;
    const struct delta_step_args *a;
    uint32_t border[5];
};

static void run_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    (void)parts, (void)worker;
    const struct parts *p = context;
    struct delta_step_args a = columns_of(p->a, p->border[part], p->border[part + 1]);
    p->fn(&a);
}

static void partition(struct check *c, const void *variant) {
    enum { PARTS = 4 };
    for (uint32_t i = 0; i < SHAPES * 2 && !check_failed(c); i++) {
        struct delta_step_args whole = problem_new(c, &shapes[i % SHAPES], CHECK_DATA_WIDE), cut = other(c, &whole);
        struct parts parts = {.fn = fn_of(variant), .a = &cut, .border = {[PARTS] = whole.columns}};
        if (check_failed(c)) return;
        for (uint32_t b = PARTS - 1; b > 0; b--) parts.border[b] = check_below(c, parts.border[b + 1] + 1);
        parts.fn(&whole);
        check_parallel(c, run_part, &parts, PARTS);
        same(c, &whole, &cut, "cut into blocks of columns");
        check_forget(c);
    }
}

// Apart, and in place.
static void composition(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < SHAPES && !check_failed(c); i++) {
        struct delta_step_args apart = problem_new(c, &shapes[i], CHECK_DATA_WIDE), inside = other(c, &apart);
        if (check_failed(c)) return;
        memcpy(inside.to, apart.from, ((size_t)(apart.k_dim - 1) * apart.ld_from + apart.columns) * sizeof(float));
        inside.from = inside.to;
        fn_of(variant)(&apart);
        fn_of(variant)(&inside);
        same(c, &apart, &inside, "in place");
        check_forget(c);
    }
}

static void edges(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < SHAPES && !check_failed(c); i++) {
        struct delta_step_args a = problem_new(c, &shapes[i], CHECK_DATA_PLAIN);
        if (check_failed(c)) return;
        fn_of(variant)(&a); // all of it ends at pages that cannot be touched
        for (uint32_t r = 0; r + 1 < a.k_dim; r++)
            check_untouched(c, a.to + (size_t)r * a.ld_to + a.columns, GAP, "%u columns, behind row %u", a.columns, r);
        check_forget(c);
    }
}

struct bench_job {
    struct delta_step_args a;
    delta_step_fn *fn;
};

static void run_bench(void *context) {
    const struct bench_job *j = context;
    j->fn(&j->a);
}

// One block of columns, again and again in place, as a prompt has it.
static void bench(struct check *c, const void *variant) {
    static const struct shape timed[] = {{128, 32}, {128, 64}, {128, 128}};
    for (size_t i = 0; i < COUNT(timed); i++) {
        struct bench_job j = {problem_new(c, &timed[i], CHECK_DATA_PLAIN), fn_of(variant)};
        if (check_failed(c)) return;
        j.a.from = j.a.to;
        for (uint32_t r = 0; r < j.a.k_dim; r++) check_fill(c, j.a.to + r * j.a.ld_to, j.a.columns, CHECK_DATA_PLAIN);
        double values = (double)j.a.k_dim * j.a.columns, ns = check_time_ns(c, run_bench, &j);
        j.fn = delta_step_ref;
        check_line(c, "delta            %3u columns of %u: %.2f G values/s (%.1f x ref), %.1f GFLOP/s", j.a.columns,
                   j.a.k_dim, values / ns, check_time_ns(c, run_bench, &j) / ns, 7 * values / ns);
        check_forget(c);
    }
}

// Wrong on purpose.
struct wrong {
    bool decay_after_read, fused_decay, beta_inside, old_output, half_state, backwards, by_width;
};

static float state_at(const struct wrong *w, const struct delta_step_args *a, uint32_t i, uint32_t c) {
    float s = a->from[(size_t)i * a->ld_from + c];
    return w->half_state ? bf16_to_float(float_to_bf16(s)) : s;
}

static void step_wrong(const struct wrong *w, const struct delta_step_args *a) {
    bool turned = w->backwards || (w->by_width && a->columns < 8);
    for (uint32_t c = 0; c < a->columns; c++) {
        float m = 0.0f, y = 0.0f;
        for (uint32_t j = 0; j < a->k_dim; j++) {
            uint32_t i = turned ? a->k_dim - 1 - j : j;
            float s = state_at(w, a, i, c);
            m = fmaf(w->decay_after_read ? s : s * a->alpha, a->k[i], m);
        }
        float d = w->beta_inside ? fmaf(a->beta, a->v[c], -(a->beta * m)) : a->beta * (a->v[c] - m);
        for (uint32_t i = 0; i < a->k_dim; i++) {
            float s = state_at(w, a, i, c), decayed = s * a->alpha;
            float updated = w->fused_decay ? fmaf(s, a->alpha, a->k[i] * d) : fmaf(a->k[i], d, decayed);
            a->to[(size_t)i * a->ld_to + c] = updated;
            y = fmaf(w->old_output ? decayed : updated, a->q[i], y);
        }
        a->y[c] = y;
    }
}

// X(name, gate, what is wrong)
#define FAULTS(X)                                                                                                      \
    X(backwards, BITS, "the memory is read from the last key value")                                                   \
    X(fused_decay, BITS, "decay and update are one fused step")                                                        \
    X(beta_inside, BITS, "beta is multiplied before the difference")                                                   \
    X(decay_after_read, ACCURACY, "the memory is read before it decays")                                               \
    X(old_output, ACCURACY, "the output reads the memory before its update")                                           \
    X(half_state, ACCURACY, "the state is rounded to bfloat16")                                                        \
    X(by_width, PARTITION, "few columns are summed from the last key value")

#define X(flag, gate, does)                                                                                            \
    static void flag##_fn(const struct delta_step_args *a) {                                                           \
        static const struct wrong w = {.flag = true};                                                                  \
        step_wrong(&w, a);                                                                                             \
    }
FAULTS(X)
#undef X

static void column_before(const struct delta_step_args *a) {
    float carried = 0.0f; // the columns before, read before they may be overwritten
    for (uint32_t c = 0; c < a->columns; c++) {
        struct delta_step_args one = columns_of(a, c, c + 1);
        float next = 0.0f * a->v[c];
        delta_step_ref(&one);
        a->y[c] += carried;
        carried = next;
    }
}

static void clears_first(const struct delta_step_args *a) {
    for (uint32_t i = 0; i < a->k_dim; i++) memset(a->to + (size_t)i * a->ld_to, 0, a->columns * sizeof *a->to);
    delta_step_ref(a);
}

static void whole_registers(const struct delta_step_args *a) {
    delta_step_ref(a);
    for (uint32_t i = 0; i + 1 < a->k_dim; i++)
        for (uint32_t c = a->columns; c % 8; c++) a->to[(size_t)i * a->ld_to + c] = 0.0f;
}

#define X(flag, gate, does) static const struct variant flag##_variant = {flag##_fn};
FAULTS(X)
#undef X
static const struct variant apart[] = {{column_before}, {clears_first}, {whole_registers}};

static const struct check_fault faults[] = {
#define X(flag, gate, does) {#flag, does, CHECK_GATE_##gate, &flag##_variant},
    FAULTS(X)
#undef X
    {"column_before", "zero times the column before is added", CHECK_GATE_ROWS, &apart[0]},
    {"clears_first", "the new state is cleared before the old one is read", CHECK_GATE_COMPOSITION, &apart[1]},
    {"whole_registers", "the last register of a state's row is stored whole", CHECK_GATE_EDGES, &apart[2]},
};

#define VARIANT(fn, isa) static const struct variant fn##_variant = {fn};
#include "kernels/delta/delta.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(fn, isa) {"step", isa, &fn##_variant},
#include "kernels/delta/delta.def"
#undef VARIANT
};

const struct check_family delta_check = {
    .name = "delta",
    .domain = "k_dim >= 1, any columns; the new state may take the old one's place",
    .gate = {bits, accuracy, alone, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
