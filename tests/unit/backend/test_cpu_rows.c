// The CPU's norms of several vectors a row, gated norms and gates: by their formulas, equal on any threads.
#include "backend/backend.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { ROWS = 5, GROUPS = 7, N = 19, WIDE = GROUPS * N, LDX = WIDE + 4, LDG = WIDE + 9, LDY = WIDE + 2, FLOATS = 1024 };
static const float EPS = 1e-6f;
static const uint32_t thread_counts[] = {1, 2, 3, 7};

struct bench {
    struct backend *b;
    dptr x, gate, y, w;
};

static float x[ROWS * LDX], gate[ROWS * LDG], w[WIDE], y[ROWS * LDY];

static dptr take(struct bench *t, const float *from, size_t floats) {
    struct err e = {0};
    dptr p = {0};
    if (t->b->ops->alloc(t->b, FLOATS * sizeof(float), BACKEND_USE_WORK, &p, &e) != STATUS_OK ||
        t->b->ops->upload(t->b, p, from, floats * sizeof(float), &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
    }
    return p;
}

static bool bench_open(struct bench *t, uint32_t threads) {
    struct err e = {0};
    struct test_random r = {12};
    for (size_t i = 0; i < ROWS * LDX; i++) x[i] = 3.0f * test_random_float(&r);
    for (size_t i = 0; i < ROWS * LDG; i++) gate[i] = 5.0f * test_random_float(&r);
    for (size_t i = 0; i < WIDE; i++) w[i] = test_random_float(&r);
    for (size_t i = 0; i < ROWS * LDY; i++) y[i] = 77.0f;
    if (backend_open_cpu(&(struct backend_options){.threads = threads, .isa = isa_best()}, &t->b, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
        return false;
    }
    t->x = take(t, x, ROWS * LDX);
    t->gate = take(t, gate, ROWS * LDG);
    t->w = take(t, w, WIDE);
    t->y = take(t, y, ROWS * LDY);
    return true;
}

// Reads y back and closes.
static void bench_close(struct bench *t) {
    struct err e = {0};
    CHECK_INT(STATUS_OK, t->b->ops->read(t->b, y, t->y, sizeof y, &e));
    const dptr all[] = {t->x, t->gate, t->w, t->y};
    for (size_t i = 0; i < 4; i++) t->b->ops->release(t->b, all[i], FLOATS * sizeof(float));
    t->b->ops->close(t->b);
}

static double silu(double g) { return g / (1 + exp(-g)); }

// Each of `groups` vectors of `n` values normed by itself, times SiLU of its gate when `gated`.
static void check_norms(const char *what, uint32_t groups, uint32_t n, bool gated) {
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t g = 0; g < groups; g++) {
            const float *from = x + r * LDX + g * n;
            double total = 0;
            for (size_t i = 0; i < n; i++) total += (double)from[i] * (double)from[i];
            for (size_t i = 0; i < n; i++) {
                double want = (double)from[i] / sqrt(total / n + (double)EPS) * (double)w[i];
                if (gated) want *= silu((double)gate[r * LDG + g * n + i]);
                double got = (double)y[r * LDY + g * n + i];
                if (!(fabs(want - got) <= 2e-6 * (fabs(want) + 0.01)))
                    test_fail(__FILE__, __LINE__, "%s, row %zu, %zu: expected %g, got %g", what, r, g, want, got);
            }
        }
        for (size_t i = (size_t)groups * n; i < LDY; i++) CHECK(y[r * LDY + i] == 77.0f);
    }
}

static void same_as_one_thread(size_t run, float one[ROWS * LDY]) {
    if (run == 0) memcpy(one, y, sizeof y);
    CHECK_BYTES(one, y, sizeof y);
}

static void norms_each_vector_of_a_row(void) {
    static float one[ROWS * LDY];
    for (size_t i = 0; i < 4; i++) {
        struct bench t;
        if (!bench_open(&t, thread_counts[i])) return;
        t.b->ops->norm(t.b, &(struct op_norm){.x = t.x, .y = t.y, .w = t.w, .rows = ROWS, .n = N, .ldx = LDX,
                                              .ldy = LDY, .groups = GROUPS, .eps = EPS});
        bench_close(&t);
        check_norms("norm of vectors", GROUPS, N, false);
        same_as_one_thread(i, one);
    }
}

static void norms_a_row_as_one_vector(void) {
    struct bench t;
    if (!bench_open(&t, 2)) return;
    t.b->ops->norm(t.b, &(struct op_norm){.x = t.x, .y = t.y, .w = t.w, .rows = ROWS, .n = WIDE, .ldx = LDX,
                                          .ldy = LDY, .eps = EPS});
    bench_close(&t);
    check_norms("norm of rows", 1, WIDE, false);
}

static void norms_and_gates_each_vector(void) {
    static float one[ROWS * LDY];
    for (size_t i = 0; i < 4; i++) {
        struct bench t;
        if (!bench_open(&t, thread_counts[i])) return;
        t.b->ops->norm_gated(t.b, &(struct op_norm_gated){.x = t.x, .gate = t.gate, .y = t.y, .w = t.w, .rows = ROWS,
                                                          .n = N, .groups = GROUPS, .ldx = LDX, .ldgate = LDG,
                                                          .ldy = LDY, .eps = EPS});
        bench_close(&t);
        check_norms("gated norm", GROUPS, N, true);
        same_as_one_thread(i, one);
    }
}

static void gates_by_the_sigmoid(void) {
    static float one[ROWS * LDY];
    for (size_t i = 0; i < 4; i++) {
        struct bench t;
        if (!bench_open(&t, thread_counts[i])) return;
        t.b->ops->gate(t.b, &(struct op_gate){.x = t.x, .gate = t.gate, .y = t.y, .rows = ROWS, .n = WIDE, .ldx = LDX,
                                              .ldgate = LDG, .ldy = LDY});
        bench_close(&t);
        for (size_t r = 0; r < ROWS; r++) {
            for (size_t j = 0; j < WIDE; j++) {
                double want = (double)x[r * LDX + j] / (1 + exp(-(double)gate[r * LDG + j]));
                CHECK(fabs(want - (double)y[r * LDY + j]) <= 1e-6 * fabs(want));
            }
            for (size_t j = WIDE; j < LDY; j++) CHECK(y[r * LDY + j] == 77.0f);
        }
        same_as_one_thread(i, one);
    }
}

static const struct test_case cases[] = {
    {"norms each vector of a row by itself", norms_each_vector_of_a_row},
    {"norms a row as one vector when no groups are named", norms_a_row_as_one_vector},
    {"norms each vector and gates it with SiLU", norms_and_gates_each_vector},
    {"gates by the sigmoid", gates_by_the_sigmoid},
};
TEST_MAIN("backend/cpu_rows", cases)
