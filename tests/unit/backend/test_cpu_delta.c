// The CPU's Gated DeltaNet op: against the formula in double, and equal bits for prompts, windows, trees and replays.
#include "backend/backend.h"
#include "base/mem.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum {
    TAPS = 4,
    K_HEADS = 2,
    V_HEADS = 6,
    K_DIM = 20,
    V_DIM = 37,
    KEYS = K_HEADS * K_DIM,
    VALUES = V_HEADS * V_DIM,
    CHANNELS = 2 * KEYS + VALUES,
    HELD = CHANNELS + 2 * V_HEADS,
    HELD_ROWS = 9,
    SLOTS = 3,
    ROWS = 24,
    TOKENS = 40,
    LDU = CHANNELS + 5,
    LDG = V_HEADS + 3,
    LDY = VALUES + 1,
    CONV = (TAPS - 1) * CHANNELS,
    STATE = V_HEADS * K_DIM * V_DIM
};

// What each token brings; a row is a token's number.
static float token_u[TOKENS][CHANNELS], token_a[TOKENS][V_HEADS], token_b[TOKENS][V_HEADS];
static float taps[TAPS][CHANNELS], decay[V_HEADS], dt_bias[V_HEADS];

static void fill(float *x, size_t n, float scale, struct test_random *r) {
    for (size_t i = 0; i < n; i++) x[i] = scale * test_random_float(r);
}

static void make_tokens(void) {
    struct test_random r = {3};
    fill(token_u[0], TOKENS * CHANNELS, 1, &r);
    fill(token_a[0], TOKENS * V_HEADS, 3, &r);
    fill(token_b[0], TOKENS * V_HEADS, 2, &r);
    fill(taps[0], TAPS * CHANNELS, 1, &r);
    fill(dt_bias, V_HEADS, 1, &r);
    for (int j = 0; j < V_HEADS; j++) decay[j] = -0.05f - 0.3f * (float)j;
}

struct lab {
    struct backend *b;
    struct backend_delta memory;
    dptr u, a, beta, taps, decay, dt_bias, y;
};

static dptr take(struct lab *l, size_t floats, const float *from) {
    struct err e = {0};
    dptr p = {0};
    if (l->b->ops->alloc(l->b, floats * sizeof(float), BACKEND_USE_WORK, &p, &e) != STATUS_OK ||
        (from && l->b->ops->upload(l->b, p, from, floats * sizeof(float), &e) != STATUS_OK)) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
    }
    return p;
}

static void put(struct lab *l, dptr to, const float *from, size_t floats) {
    struct err e = {0};
    CHECK_INT(STATUS_OK, l->b->ops->upload(l->b, to, from, floats * sizeof(float), &e));
}

static void fetch(struct lab *l, float *to, dptr from, size_t floats) {
    struct err e = {0};
    CHECK_INT(STATUS_OK, l->b->ops->read(l->b, to, from, floats * sizeof(float), &e));
}

// Memory of all slots is NaN: only what is fresh or was written may be read.
static bool lab_open(struct lab *l, uint32_t threads, enum isa isa) {
    static float nan[SLOTS * HELD_ROWS * HELD + SLOTS * STATE];
    struct err e = {0};
    *l = (struct lab){0};
    if (backend_open_cpu(&(struct backend_options){.threads = threads, .isa = isa}, &l->b, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
        return false;
    }
    l->memory = (struct backend_delta){.taps = TAPS,
                                       .k_heads = K_HEADS,
                                       .v_heads = V_HEADS,
                                       .k_dim = K_DIM,
                                       .v_dim = V_DIM,
                                       .held_rows = HELD_ROWS};
    const struct backend_limits limits = {.rows = ROWS,
                                          .k = 32,
                                          .n_keys = 1,
                                          .heads = 1,
                                          .n_ids = 1,
                                          .cache = {.kv_heads = 1, .head_dim = 1, .value_dim = 1},
                                          .delta = l->memory,
                                          .slots = SLOTS};
    if (l->b->ops->reserve(l->b, &limits, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
    make_tokens();
    for (size_t i = 0; i < sizeof nan / sizeof nan[0]; i++) nan[i] = NAN;
    l->memory.conv = take(l, (size_t)SLOTS * CONV, nan);
    l->memory.state = take(l, (size_t)SLOTS * STATE, nan);
    l->memory.held = take(l, (size_t)SLOTS * HELD_ROWS * HELD, nan);
    l->u = take(l, ROWS * LDU, NULL);
    l->a = take(l, ROWS * LDG, NULL);
    l->beta = take(l, ROWS * LDG, NULL);
    l->y = take(l, ROWS * LDY, NULL);
    l->taps = take(l, TAPS * CHANNELS, taps[0]);
    l->decay = take(l, V_HEADS, decay);
    l->dt_bias = take(l, V_HEADS, dt_bias);
    return true;
}

static void lab_close(struct lab *l) {
    const struct {
        dptr p;
        size_t floats;
    } all[] = {{l->memory.conv, (size_t)SLOTS * CONV},
               {l->memory.state, (size_t)SLOTS * STATE},
               {l->memory.held, (size_t)SLOTS * HELD_ROWS * HELD},
               {l->u, ROWS * LDU},
               {l->a, ROWS * LDG},
               {l->beta, ROWS * LDG},
               {l->y, ROWS * LDY},
               {l->taps, TAPS * CHANNELS},
               {l->decay, V_HEADS},
               {l->dt_bias, V_HEADS}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        l->b->ops->release(l->b, all[i].p, all[i].floats * sizeof(float));
    }
    l->b->ops->close(l->b);
}

// One forward: row r is token tokens[r]; y [rows][VALUES].
struct forward {
    uint32_t rows, n_windows;
    int tokens[ROWS];
    int32_t parents[ROWS];
    struct backend_delta_window windows[SLOTS];
};

static void run(struct lab *l, const struct forward *f, float *y) {
    static float u[ROWS * LDU], a[ROWS * LDG], b[ROWS * LDG], padded[ROWS * LDY];
    for (uint32_t r = 0; r < f->rows; r++) {
        memcpy(u + r * LDU, token_u[f->tokens[r]], sizeof token_u[0]);
        memcpy(a + r * LDG, token_a[f->tokens[r]], sizeof token_a[0]);
        memcpy(b + r * LDG, token_b[f->tokens[r]], sizeof token_b[0]);
    }
    put(l, l->u, u, ROWS * LDU);
    put(l, l->a, a, ROWS * LDG);
    put(l, l->beta, b, ROWS * LDG);
    l->b->ops->delta(l->b, &(struct op_delta){.memory = &l->memory,
                                              .windows = f->windows,
                                              .parents = f->parents,
                                              .u = l->u,
                                              .a = l->a,
                                              .b = l->beta,
                                              .taps = l->taps,
                                              .decay = l->decay,
                                              .dt_bias = l->dt_bias,
                                              .y = l->y,
                                              .n_windows = f->n_windows,
                                              .rows = f->rows,
                                              .ldu = LDU,
                                              .ldg = LDG,
                                              .ldy = LDY});
    fetch(l, padded, l->y, ROWS * LDY);
    for (uint32_t r = 0; r < f->rows; r++) memcpy(y + r * VALUES, padded + r * LDY, VALUES * sizeof(float));
}

// Adds a window of n chained rows to a forward; returns it.
static struct backend_delta_window *add_chain(struct forward *f, uint32_t slot, const int *tokens, uint32_t n,
                                              uint32_t n_commit) {
    struct backend_delta_window *w = &f->windows[f->n_windows++];
    *w = (struct backend_delta_window){.slot = slot, .first_row = f->rows, .n_rows = n, .n_commit = n_commit};
    for (uint32_t i = 0; i < n; i++) {
        f->parents[f->rows + i] = i ? (int32_t)(f->rows + i - 1) : -1;
        f->tokens[f->rows + i] = tokens[i];
    }
    f->rows += n;
    return w;
}

struct memory {
    float conv[CONV], state[STATE];
};

static void read_memory(struct lab *l, uint32_t slot, struct memory *m) {
    fetch(l, m->conv, dptr_at(l->memory.conv, slot * sizeof m->conv), CONV);
    fetch(l, m->state, dptr_at(l->memory.state, slot * sizeof m->state), STATE);
}

// The plain truth for bits: one thread, plain C, a slot of its own, one token a forward. y [n][VALUES].
static void serial(const int *tokens, uint32_t n, float *y, struct memory *m) {
    struct lab l;
    if (!lab_open(&l, 1, ISA_REF)) return;
    for (uint32_t i = 0; i < n; i++) {
        struct forward f = {0};
        add_chain(&f, 0, tokens + i, 1, 1)->fresh = i == 0;
        run(&l, &f, y + i * VALUES);
    }
    read_memory(&l, 0, m);
    lab_close(&l);
}

static double silu(double x) { return x / (1 + exp(-x)); }

// Convolved channels of token t of a chain.
static void exact_channels(const int *tokens, int t, double c[CHANNELS]) {
    for (int i = 0; i < CHANNELS; i++) {
        double sum = 0;
        for (int back = 0; back < TAPS && back <= t; back++) {
            sum += (double)taps[TAPS - 1 - back][i] * (double)token_u[tokens[t - back]][i];
        }
        c[i] = silu(sum);
    }
    for (int h = 0; h < 2 * K_HEADS; h++) {
        double total = 1e-6;
        for (int i = 0; i < K_DIM; i++) total += c[h * K_DIM + i] * c[h * K_DIM + i];
        double factor = (h < K_HEADS ? 1 / sqrt(K_DIM) : 1) / sqrt(total);
        for (int i = 0; i < K_DIM; i++) c[h * K_DIM + i] *= factor;
    }
}

static void exact_step(double s[K_DIM][V_DIM], const double *q, const double *v, const double gates[2], double *y) {
    const double *k = q + KEYS;
    for (int c = 0; c < V_DIM; c++) {
        double m = 0;
        for (int i = 0; i < K_DIM; i++) m += (s[i][c] *= gates[0]) * k[i];
        y[c] = 0;
        for (int i = 0; i < K_DIM; i++) y[c] += (s[i][c] += k[i] * gates[1] * (v[c] - m)) * q[i];
    }
}

static const int first_tokens[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
enum { FIRST = sizeof first_tokens / sizeof first_tokens[0] };

static void follows_the_formula(void) {
    static double state[V_HEADS][K_DIM][V_DIM], c[CHANNELS], y[V_DIM];
    static float got[FIRST * VALUES];
    static struct memory m;
    serial(first_tokens, FIRST, got, &m);
    memset(state, 0, sizeof state);
    double worst = 0;
    for (int t = 0; t < FIRST; t++) {
        exact_channels(first_tokens, t, c);
        for (int j = 0; j < V_HEADS; j++) {
            double a = (double)token_a[t][j] + (double)dt_bias[j], b = (double)token_b[t][j];
            const double gates[2] = {exp((double)decay[j] * log1p(exp(a))), 1 / (1 + exp(-b))};
            exact_step(state[j], c + j / (V_HEADS / K_HEADS) * K_DIM, c + 2 * KEYS + j * V_DIM, gates, y);
            for (int i = 0; i < V_DIM; i++) {
                worst = fmax(worst, fabs(y[i] - (double)got[t * VALUES + j * V_DIM + i]));
            }
        }
    }
    if (!(worst < 1e-6)) test_fail(__FILE__, __LINE__, "expected within 1e-6, got %g", worst);
    for (int i = 0; i < STATE; i++) {
        worst = fmax(worst, fabs(((double *)state)[i] - (double)m.state[i]));
    }
    if (!(worst < 1e-5)) test_fail(__FILE__, __LINE__, "state: expected within 1e-5, got %g", worst);
    for (int i = 0; i < TAPS - 1; i++) {
        CHECK_BYTES(token_u[FIRST - TAPS + 1 + i], m.conv + i * CHANNELS, sizeof token_u[0]);
    }
}

static void prompts_in_any_cut_are_equal(void) {
    static const uint32_t threads[] = {1, 2, 3, 7}, steps[] = {1, 2, 3, 5, FIRST};
    static float want[FIRST * VALUES], got[FIRST * VALUES];
    static struct memory end, m;
    serial(first_tokens, FIRST, want, &end);
    for (size_t i = 0; i < 20; i++) {
        struct lab l;
        if (!lab_open(&l, threads[i % 4], i < 10 ? isa_best() : ISA_REF)) return;
        for (uint32_t at = 0, step = steps[i % 5]; at < FIRST; at += step) {
            struct forward f = {0};
            uint32_t n = FIRST - at < step ? FIRST - at : step;
            add_chain(&f, 2, first_tokens + at, n, n)->fresh = at == 0;
            run(&l, &f, got + at * VALUES);
        }
        read_memory(&l, 2, &m);
        CHECK_BYTES(want, got, sizeof got);
        CHECK_BYTES(&end, &m, sizeof m);
        lab_close(&l);
    }
}

static const struct test_case cases[] = {
    {"follows the formula", follows_the_formula},
    {"gives equal bits for a prompt in any cut, on any threads", prompts_in_any_cut_are_equal},
};
TEST_MAIN("backend/cpu_delta", cases)
