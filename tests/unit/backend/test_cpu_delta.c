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
                worst = test_worse(worst, fabs(y[i] - (double)got[t * VALUES + j * V_DIM + i]));
            }
        }
    }
    if (!(worst < 1e-6)) test_fail(__FILE__, __LINE__, "expected within 1e-6, got %g", worst);
    for (int i = 0; i < STATE; i++) {
        worst = test_worse(worst, fabs(((double *)state)[i] - (double)m.state[i]));
    }
    if (!(worst < 1e-5)) test_fail(__FILE__, __LINE__, "state: expected within 1e-5, got %g", worst);
    for (int i = 0; i < TAPS - 1; i++) {
        CHECK_BYTES(token_u[FIRST - TAPS + 1 + i], m.conv + i * CHANNELS, sizeof token_u[0]);
    }
}

static const uint32_t thread_counts[] = {1, 2, 3, 7};

static void prompts_in_any_cut_are_equal(void) {
    static const uint32_t steps[] = {1, 2, 3, 5, FIRST};
    static float want[FIRST * VALUES], got[FIRST * VALUES];
    static struct memory end, m;
    serial(first_tokens, FIRST, want, &end);
    for (size_t i = 0; i < 20; i++) {
        struct lab l;
        if (!lab_open(&l, thread_counts[i % 4], i < 10 ? isa_best() : ISA_REF)) return;
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

// A window of two committed rows and a tree behind them:
//   10 - 11 - 12 - 13      tokens; 11 is the last committed one
//           \ 20 - 21
//           |    \ 22
//           \ 14 - 15
static const int tree_tokens[] = {10, 11, 12, 20, 13, 21, 14, 22, 15};
static const int32_t tree_parents[] = {-1, 0, 1, 1, 2, 3, 1, 3, 6};
enum { TREE = 9, TREE_COMMIT = 2 };

static struct backend_delta_window *add_tree(struct forward *f, uint32_t slot) {
    int32_t first = (int32_t)f->rows;
    struct backend_delta_window *w = add_chain(f, slot, tree_tokens, TREE, TREE_COMMIT);
    for (int32_t i = 0; i < TREE; i++) f->parents[first + i] = tree_parents[i] < 0 ? -1 : first + tree_parents[i];
    return w;
}

// The first ten tokens, then those that row r of the tree sees; returns how many.
static uint32_t tokens_before(int32_t r, int tokens[TOKENS]) {
    uint32_t n = 10, depth = 0;
    for (uint32_t i = 0; i < n; i++) tokens[i] = (int)i;
    for (int32_t p = r; p >= 0; p = tree_parents[p]) depth++;
    for (int32_t p = r, at = (int32_t)depth; p >= 0; p = tree_parents[p]) tokens[n + (uint32_t)--at] = tree_tokens[p];
    return n + depth;
}

static void tree_rows_see_their_own_ancestors(void) {
    static float y[ROWS * VALUES], prompt[10 * VALUES], want[TOKENS * VALUES];
    static struct memory m, committed;
    for (size_t i = 0; i < 4; i++) {
        struct lab l;
        struct forward first = {0}, f = {0};
        if (!lab_open(&l, thread_counts[i], isa_best())) return;
        add_chain(&first, 1, first_tokens, 10, 10)->fresh = true;
        run(&l, &first, prompt);
        add_tree(&f, 1);
        run(&l, &f, y);
        for (int32_t r = 0; r < TREE; r++) {
            int tokens[TOKENS];
            uint32_t n = tokens_before(r, tokens);
            serial(tokens, n, want, &committed);
            CHECK_BYTES(want + (n - 1) * VALUES, y + r * VALUES, VALUES * sizeof(float));
        }
        serial(first_tokens, 12, want, &committed); // 10 and 11 were committed, nothing else
        read_memory(&l, 1, &m);
        CHECK_BYTES(&committed, &m, sizeof m);
        lab_close(&l);
    }
}

// After the tree: what was accepted of it is committed by the next window, or by a window without rows.
static void replays_what_was_accepted(void) {
    static const struct {
        uint32_t replay[HELD_ROWS], n;
        int path[3];
    } accepted[] = {{{0}, 0, {0}},
                    {{0}, 1, {12}},
                    {{0, 2}, 2, {12, 13}}, // held rows: tree rows 2 and 4
                    {{1, 5}, 2, {20, 22}}, // 3 and 7
                    {{4, 6}, 2, {14, 15}}}; // 6 and 8
    static float y[ROWS * VALUES], want[TOKENS * VALUES];
    static struct memory m, truth;
    for (size_t i = 0; i < 10; i++) {
        size_t a = i % 5;
        struct lab l;
        struct forward first = {0}, tree = {0}, next = {0};
        if (!lab_open(&l, thread_counts[i % 4], isa_best())) return;
        add_chain(&first, 0, first_tokens, 10, 10)->fresh = true;
        run(&l, &first, y);
        add_tree(&tree, 0);
        run(&l, &tree, y);
        int tokens[TOKENS];
        uint32_t n = tokens_before(1, tokens);
        for (uint32_t k = 0; k < accepted[a].n; k++) tokens[n++] = accepted[a].path[k];
        tokens[n] = 30, tokens[n + 1] = 31, tokens[n + 2] = 32;
        uint32_t rows = i < 5 ? 3 : 0; // a chain of which two rows are drafts, or only the replay
        struct backend_delta_window *w = add_chain(&next, 0, tokens + n, rows, rows ? 1 : 0);
        w->replay = accepted[a].replay;
        w->n_replay = accepted[a].n;
        run(&l, &next, y);
        read_memory(&l, 0, &m);
        serial(tokens, n + rows, want, &truth);
        CHECK_BYTES(want + n * VALUES, y, rows * VALUES * sizeof(float));
        serial(tokens, n + (rows ? 1 : 0), want, &truth);
        CHECK_BYTES(&truth, &m, sizeof m);
        lab_close(&l);
    }
}

// Three streams at once, in another order of windows than of slots: one drafts a tree, two replay what they held.
static void windows_of_several_streams(void) {
    static float y[ROWS * VALUES], want[TOKENS * VALUES];
    static struct memory m, truth;
    static const uint32_t replay[] = {0, 1};
    static const int short_path[] = {30, 31, 32, 33};
    for (size_t i = 0; i < 4; i++) {
        struct lab l;
        struct forward before = {0}, f = {0};
        if (!lab_open(&l, thread_counts[i], isa_best())) return;
        add_chain(&before, 2, first_tokens, 10, 10)->fresh = true;
        add_chain(&before, 0, short_path, 3, 1)->fresh = true; // 31 and 32 are drafts
        add_chain(&before, 1, first_tokens, 4, 2)->fresh = true; // as are 2 and 3
        run(&l, &before, y);
        struct backend_delta_window *w = add_chain(&f, 0, short_path + 3, 1, 1);
        w->replay = replay;
        w->n_replay = 2;
        add_tree(&f, 2);
        w = add_chain(&f, 1, first_tokens + 4, 2, 2);
        w->replay = replay;
        w->n_replay = 2;
        run(&l, &f, y);
        serial(short_path, 4, want, &truth);
        read_memory(&l, 0, &m);
        CHECK_BYTES(want + 3 * VALUES, y, VALUES * sizeof(float));
        CHECK_BYTES(&truth, &m, sizeof m);
        for (int32_t r = 0; r < TREE; r++) {
            int tokens[TOKENS];
            uint32_t n = tokens_before(r, tokens);
            serial(tokens, n, want, &truth);
            CHECK_BYTES(want + (n - 1) * VALUES, y + (1 + r) * VALUES, VALUES * sizeof(float));
        }
        serial(first_tokens, 6, want, &truth);
        read_memory(&l, 1, &m);
        CHECK_BYTES(want + 4 * VALUES, y + (1 + TREE) * VALUES, 2 * VALUES * sizeof(float));
        CHECK_BYTES(&truth, &m, sizeof m);
        lab_close(&l);
    }
}

// A fresh slot in which nothing is committed yet is zeroed all the same, so that the next window can go on from it.
static void fresh_memory_is_zero(void) {
    static float y[ROWS * VALUES], want[TOKENS * VALUES];
    static struct memory m, truth;
    static const uint32_t replay[] = {0, 1, 2};
    struct lab l;
    struct forward drafts = {0}, next = {0};
    if (!lab_open(&l, 2, isa_best())) return;
    add_chain(&drafts, 1, first_tokens, 3, 0)->fresh = true;
    run(&l, &drafts, y);
    serial(first_tokens, 4, want, &truth);
    CHECK_BYTES(want, y, 3 * VALUES * sizeof(float));
    read_memory(&l, 1, &m);
    for (size_t i = 0; i < CONV; i++) CHECK(m.conv[i] == 0.0f);
    for (size_t i = 0; i < STATE; i++) CHECK(m.state[i] == 0.0f);
    struct backend_delta_window *w = add_chain(&next, 1, first_tokens + 3, 1, 1);
    w->replay = replay;
    w->n_replay = 3;
    run(&l, &next, y);
    CHECK_BYTES(want + 3 * VALUES, y, VALUES * sizeof(float));
    read_memory(&l, 1, &m);
    CHECK_BYTES(&truth, &m, sizeof m);
    lab_close(&l);
}

static void allocates_nothing(void) {
    static float y[ROWS * VALUES];
    struct lab l;
    struct forward first = {0}, f = {0};
    if (!lab_open(&l, 3, isa_best())) return;
    add_chain(&first, 1, first_tokens, 10, 10)->fresh = true;
    run(&l, &first, y);
    add_tree(&f, 1);
    uint64_t before = mem_count();
    run(&l, &f, y);
    CHECK_INT(before, mem_count());
    lab_close(&l);
}

static void plans_scratch_and_refuses_what_cannot_be(void) {
    struct lab l;
    if (!lab_open(&l, 2, isa_best())) return;
    struct backend_limits limits = {.rows = 64, .k = 32, .n_keys = 1, .heads = 1, .n_ids = 1, .slots = 4};
    limits.cache = (struct backend_cache){.kv_heads = 1, .head_dim = 1, .value_dim = 1};
    size_t without = 0, with = 0;
    CHECK(l.b->ops->scratch_bytes(l.b, &limits, &without));
    limits.delta = (struct backend_delta){.taps = 4, .k_heads = 16, .v_heads = 48, .k_dim = 128, .v_dim = 128};
    limits.delta.held_rows = 16;
    CHECK(l.b->ops->scratch_bytes(l.b, &limits, &with));
    CHECK(with - without > (size_t)(64 + 4 * 16) * 10240 * sizeof(float)); // the channels of all rows and held ones
    static const struct backend_delta refused[] = {
        {.taps = 9, .k_heads = 1, .v_heads = 1, .k_dim = 8, .v_dim = 8, .held_rows = 1},
        {.taps = 4, .k_heads = 1u << 20, .v_heads = 1u << 20, .k_dim = 1u << 20, .v_dim = 8, .held_rows = 1},
        {.taps = 4, .k_heads = 1, .v_heads = 1, .k_dim = 8, .v_dim = 8, .held_rows = UINT32_MAX}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct err e = {0};
        limits.delta = refused[i];
        CHECK(!l.b->ops->scratch_bytes(l.b, &limits, &with));
        CHECK_INT(STATUS_TOO_LARGE, l.b->ops->reserve(l.b, &limits, &e));
    }
    lab_close(&l);
}

static const struct test_case cases[] = {
    {"follows the formula", follows_the_formula},
    {"gives equal bits for a prompt in any cut, on any threads", prompts_in_any_cut_are_equal},
    {"shows the rows of a tree their own ancestors and commits none of them", tree_rows_see_their_own_ancestors},
    {"replays what was accepted, before a window or alone", replays_what_was_accepted},
    {"runs windows of several streams at once", windows_of_several_streams},
    {"takes a fresh slot for zero, whatever it holds", fresh_memory_is_zero},
    {"allocates nothing", allocates_nothing},
    {"plans its scratch and refuses what cannot be counted", plans_scratch_and_refuses_what_cannot_be},
};
TEST_MAIN("backend/cpu_delta", cases)
