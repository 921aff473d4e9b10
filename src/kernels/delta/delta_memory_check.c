// Checks of a layer's recurrent memory: whatever the windows, trees and replays, rows give what a plain chain gives.
#include "kernels/delta/delta_memory_check.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct layer {
    struct delta_shape shape;
    uint32_t n_taps;
} layers[] = {{{1, 1, 1, 1}, 1},   {{1, 1, 3, 5}, 2},  {{2, 2, 8, 8}, 4},   {{2, 6, 20, 37}, 4},
              {{1, 3, 16, 33}, 8}, {{3, 3, 5, 16}, 3}, {{1, 2, 48, 40}, 4}};
enum { LAYERS = COUNT(layers), CHAIN = 24 };

// Two labs with the same tokens: one in which a chain goes row by row, and one that is put to the test.
struct trial {
    struct delta_inventory inventory;
    struct delta_lab truth, lab;
};

static void trial_new(struct check *c, struct trial *t, const struct layer *layer,
                      const struct delta_memory_variant *truth, const struct delta_memory_variant *variant) {
    delta_inventory_new(c, &t->inventory, &layer->shape, layer->n_taps);
    delta_lab_new(c, &t->truth, truth, &t->inventory);
    delta_lab_new(c, &t->lab, variant, &t->inventory);
}

// Row by row from zeroed memory; the last row's output is row 0 of truth->y, the memory is slot 0's.
static void run_truth(struct trial *t, const uint32_t *tokens, uint32_t n) {
    memset(delta_lab_conv(&t->truth, 0), 0, delta_lab_conv_floats(&t->truth) * sizeof(float));
    memset(delta_lab_state(&t->truth, 0), 0, delta_lab_state_floats(&t->truth) * sizeof(float));
    for (uint32_t i = 0; i < n; i++) {
        struct delta_forward f = {0};
        delta_forward_chain(&f, 0, tokens + i, 1, 1);
        delta_lab_run(&t->truth, &f);
    }
}

static void same_memory(struct check *c, const struct trial *t, uint32_t slot, const char *what, uint32_t n) {
    check_same(c, delta_lab_state(&t->truth, 0), delta_lab_state(&t->lab, slot), delta_lab_state_floats(&t->lab),
               "%s, %u rows: state", what, n);
    check_same(c, delta_lab_conv(&t->truth, 0), delta_lab_conv(&t->lab, slot), delta_lab_conv_floats(&t->lab),
               "%s, %u rows: inputs", what, n);
}

static void same_row(struct check *c, const struct trial *t, uint32_t r, const char *what, uint32_t n) {
    const struct delta_shape *s = &t->inventory.shape;
    check_same(c, t->truth.y, t->lab.y + (size_t)r * t->lab.ldy, (size_t)s->v_heads * s->v_dim, "%s, row %u of %u: y",
               what, r, n);
}

// A prompt in passes of `step` rows.
static void cut_prompt(struct check *c, struct trial *t, uint32_t step) {
    uint32_t tokens[CHAIN];
    for (uint32_t i = 0; i < CHAIN; i++) tokens[i] = i;
    for (uint32_t at = 0; at < CHAIN && !check_failed(c); at += step) {
        struct delta_forward f = {0};
        uint32_t n = CHAIN - at < step ? CHAIN - at : step;
        delta_forward_chain(&f, 1, tokens + at, n, n)->fresh = at == 0;
        delta_lab_run(&t->lab, &f);
        run_truth(t, tokens, at + n);
        same_row(c, t, n - 1, "a prompt in passes", n);
        same_memory(c, t, 1, "a prompt in passes", at + n);
    }
}

// A stream that drafts: `path` holds the tokens that it turns out to have, `at` of them are known so far.
struct story {
    uint32_t path[LAB_TOKENS], at;
    uint32_t replay[LAB_BEHIND], n_replay; // held rows that were accepted
    uint32_t slot;
    bool nan_drafts;    // wrong drafts and another stream's window are NaN
    uint32_t neighbour; // place of that window: 0 before, 1 behind, 2 none
};

// Hangs rows behind a window's committed ones: some continue the path, others are wrong. Returns how many are right,
// their held numbers in right[].
static uint32_t draft(struct check *c, const struct story *s, struct delta_forward *f, struct delta_window *w,
                      uint32_t right[LAB_BEHIND]) {
    uint32_t n = check_below(c, LAB_BEHIND + 1), n_right = 0, known = s->at + w->n_commit;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = f->n_rows++, parent = i ? check_below(c, i + 1) : 0; // 0: the last committed one
        bool goes_on = parent == (n_right ? right[n_right - 1] + 1 : 0);
        f->parent[r] = (int32_t)(w->first_row + w->n_commit - 1 + parent);
        f->token[r] = s->nan_drafts ? 0 : check_below(c, LAB_TOKENS);
        if (goes_on && check_below(c, 3) && known + n_right < LAB_TOKENS) {
            f->token[r] = s->path[known + n_right];
            right[n_right++] = i;
        }
    }
    w->n_rows += n;
    return n_right;
}

// The tokens that a row sees, itself last.
static uint32_t tokens_of(const struct story *s, const struct delta_forward *f, const struct delta_window *w,
                          uint32_t row, uint32_t *tokens) {
    uint32_t back[LAB_ROWS], n = 0, known = s->at;
    for (int32_t r = (int32_t)row; r >= 0; r = f->parent[r]) back[n++] = f->token[r];
    (void)w;
    memcpy(tokens, s->path, known * sizeof *tokens);
    for (uint32_t i = 0; i < n; i++) tokens[known + i] = back[n - 1 - i];
    return known + n;
}

static void add_neighbour(struct delta_forward *f, uint32_t slot) {
    static const uint32_t nan_tokens[2] = {0, 0};
    delta_forward_chain(f, slot, nan_tokens, 2, 1);
}

// One round: a window with drafts, each row against a plain chain of what it sees, the memory against the rows that
// were committed; then some of the right drafts are accepted.
static void round_of(struct check *c, struct trial *t, struct story *s) {
    struct delta_forward f = {0};
    uint32_t n_commit = 1 + check_below(c, 3), right[LAB_BEHIND] = {0}, tokens[LAB_TOKENS + LAB_ROWS];
    if (s->neighbour == 0) add_neighbour(&f, 1 - s->slot);
    struct delta_window *w = delta_forward_chain(&f, s->slot, s->path + s->at, n_commit, n_commit);
    w->fresh = s->at == 0;
    w->replay = s->replay;
    w->n_replay = s->n_replay;
    uint32_t n_right = draft(c, s, &f, w, right);
    if (s->neighbour == 1) add_neighbour(&f, 1 - s->slot);
    delta_lab_run(&t->lab, &f);
    run_truth(t, s->path, s->at + n_commit);
    same_memory(c, t, s->slot, "after a window", s->at + n_commit);
    for (uint32_t r = w->first_row; r < w->first_row + w->n_rows && !check_failed(c); r++) {
        run_truth(t, tokens, tokens_of(s, &f, w, r, tokens));
        same_row(c, t, r, "a window", f.n_rows);
    }
    s->n_replay = check_below(c, n_right + 1);
    memcpy(s->replay, right, sizeof right);
    s->at += n_commit + s->n_replay;
}

static void tell(struct check *c, struct trial *t, struct story *s) {
    for (uint32_t i = 0; i < LAB_TOKENS; i++) s->path[i] = 1 + check_below(c, LAB_TOKENS - 1);
    while (s->at + 3 + LAB_BEHIND < LAB_TOKENS && !check_failed(c)) round_of(c, t, s);
    struct delta_forward f = {0};
    struct delta_window *w = delta_forward_chain(&f, s->slot, s->path, 0, 0);
    w->replay = s->replay;
    w->n_replay = s->n_replay;
    delta_lab_run(&t->lab, &f);
    run_truth(t, s->path, s->at);
    same_memory(c, t, s->slot, "after the last replay", s->at);
}

static const struct delta_memory_variant plain = {conv_silu_ref,   delta_prepare_ref, delta_step_ref,
                                                  delta_list_rows, delta_run,         delta_keep};

static void bits(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < 2 * LAYERS && !check_failed(c); i++) {
        struct trial t;
        struct story s = {.slot = i % 2, .neighbour = 2};
        trial_new(c, &t, &layers[i % LAYERS], &plain, variant);
        if (check_failed(c)) return;
        tell(c, &t, &s);
        check_forget(c);
    }
}

static void rows(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < 2 * LAYERS && !check_failed(c); i++) {
        struct trial t;
        struct story s = {.slot = check_below(c, 2), .neighbour = i / LAYERS, .nan_drafts = true};
        trial_new(c, &t, &layers[i % LAYERS], variant, variant);
        if (check_failed(c)) return;
        check_poison(t.inventory.u, delta_channels(&t.inventory.shape)); // token 0
        check_poison(t.inventory.a, t.inventory.shape.v_heads);
        check_poison(t.inventory.b, t.inventory.shape.v_heads);
        tell(c, &t, &s);
        check_forget(c);
    }
}

static void partition(struct check *c, const void *variant) {
    for (uint32_t i = 0; i < 2 * LAYERS && !check_failed(c); i++) {
        struct trial t;
        struct story s = {.slot = i % 2, .neighbour = check_below(c, 3)};
        const struct delta_shape *shape = &layers[i % LAYERS].shape;
        trial_new(c, &t, &layers[i % LAYERS], variant, variant);
        const struct delta_cut cut = {1 + check_below(c, shape->k_heads), 1 + check_below(c, shape->v_dim),
                                      1 + check_below(c, 5), i % 4 < 2};
        delta_lab_cut(&t.lab, &cut);
        if (check_failed(c)) return;
        tell(c, &t, &s);
        check_forget(c);
    }
}

static void composition(struct check *c, const void *variant) {
    static const uint32_t steps[] = {1, 2, 3, 7, CHAIN};
    for (uint32_t i = 0; i < LAYERS && !check_failed(c); i++) {
        struct trial t;
        trial_new(c, &t, &layers[i], variant, variant);
        if (check_failed(c)) return;
        for (size_t k = 0; k < COUNT(steps); k++) cut_prompt(c, &t, steps[k]);
        for (uint32_t k = 0; k < 2; k++) { // a slot that was never used, and one that was
            struct story s = {.slot = k, .neighbour = 2};
            tell(c, &t, &s);
        }
        check_forget(c);
    }
}

// A window of one slot: the other slot, the held rows it has no use for and the gaps between outputs stay as they were.
static void edges(struct check *c, const void *variant) {
    static const uint32_t tokens[2 + LAB_BEHIND] = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    for (uint32_t i = 0; i < 4 * LAYERS && !check_failed(c); i++) {
        struct trial t;
        uint32_t slot = i % 2, behind = i < 2 * LAYERS ? 3 : LAB_BEHIND;
        trial_new(c, &t, &layers[i % LAYERS], &plain, variant);
        if (check_failed(c)) return;
        struct delta_forward f = {0};
        delta_forward_chain(&f, slot, tokens, 2 + behind, 2)->fresh = true;
        delta_lab_run(&t.lab, &f);
        const struct delta_shape *s = &t.inventory.shape;
        size_t values = (size_t)s->v_heads * s->v_dim, held = (delta_channels(s) + (size_t)2 * s->v_heads) * behind;
        check_untouched(c, delta_lab_conv(&t.lab, 1 - slot), delta_lab_conv_floats(&t.lab), "another slot's inputs");
        check_untouched(c, delta_lab_state(&t.lab, 1 - slot), delta_lab_state_floats(&t.lab), "another slot's state");
        check_untouched(c, delta_lab_held(&t.lab, 1 - slot), delta_lab_held_floats(&t.lab), "another slot's held rows");
        check_untouched(c, delta_lab_held(&t.lab, slot) + held, delta_lab_held_floats(&t.lab) - held,
                        "behind %u held rows", behind);
        for (uint32_t r = 0; r < f.n_rows; r++)
            check_untouched(c, t.lab.y + (size_t)r * t.lab.ldy + values, t.lab.ldy - values, "behind output row %u", r);
        check_forget(c);
    }
}

enum { BENCH_SLOTS = 8 };

// A large model's layer. Its states lie apart, so that they come from memory as in a model of many layers.
struct bench_job {
    const struct delta_memory_variant *v;
    struct delta_pass pass;
    struct delta_window window[1];
    float *states, *scratch;
    uint32_t columns, slot;
};

static void run_heads(void *context) {
    struct bench_job *j = context;
    const struct delta_shape *s = &j->pass.shape;
    j->window[0].state = j->states + (size_t)(j->slot++ % BENCH_SLOTS) * s->v_heads * s->k_dim * s->v_dim;
    for (uint32_t h = 0; h < s->v_heads; h++)
        for (uint32_t at = 0; at < s->v_dim; at += j->columns)
            delta_run(&j->pass, j->v->step, &(struct delta_part){0, h, at, j->columns}, j->scratch);
}

static void run_prepare(void *context) {
    const struct bench_job *j = context;
    for (uint32_t r = 0; r < j->pass.n_rows; r++)
        delta_prepare_row(&j->pass, j->v->conv, j->v->prepare, r, (const uint32_t[]){0, j->pass.shape.k_heads});
}

static void bench_rows(struct check *c, const struct delta_memory_variant *v, uint32_t n, uint32_t columns) {
    const struct delta_shape s = {16, 48, 128, 128};
    size_t channels = delta_channels(&s), states = (size_t)BENCH_SLOTS * s.v_heads * s.k_dim * s.v_dim;
    struct delta_row *row = check_new(c, n * sizeof *row, 64);
    int32_t *parents = check_new(c, n * sizeof *parents, 64);
    float *u = check_new(c, n * channels * sizeof *u, 64), *y = check_new(c, n * channels * sizeof *y, 64);
    float *w = check_new(c, 4 * channels * sizeof *w, 64), *conv = check_new(c, 3 * channels * sizeof *conv, 64);
    struct bench_job j = {.v = v, .columns = columns};
    j.states = check_new(c, states * sizeof(float), 64);
    j.scratch = check_new(c, delta_scratch_floats(s.k_dim, columns, 0) * sizeof(float), 64);
    j.pass = (struct delta_pass){s, 4, 1, 0, w, w, w, j.window, row, NULL, NULL, NULL};
    j.pass.c = check_new(c, n * channels * sizeof(float), 64);
    j.pass.gates = check_new(c, (size_t)n * 2 * s.v_heads * sizeof(float), 64);
    if (check_failed(c)) return;
    check_fill(c, u, n * channels, CHECK_DATA_PLAIN);
    check_fill(c, w, 4 * channels, CHECK_DATA_PLAIN);
    check_fill(c, conv, 3 * channels, CHECK_DATA_PLAIN);
    for (size_t i = 0; i < states; i++) j.states[i] = 0.0f;
    for (uint32_t i = 0; i < n; i++) parents[i] = (int32_t)i - 1;
    for (uint32_t i = 0; i < s.v_heads; i++) w[i] = -fabsf(w[i]); // a decay, so that states stay small
    j.window[0] = (struct delta_window){.conv = conv, .state = j.states, .n_rows = n, .n_commit = n};
    uint32_t ld = (uint32_t)channels;
    delta_list_rows(&j.pass, &(struct delta_inputs){u, u, u, y, parents, ld, ld, ld});
    run_prepare(&j);
    double prepare = check_time_ns(c, run_prepare, &j), ns = check_time_ns(c, run_heads, &j);
    check_line(c, "delta_memory     %3u rows by %3u columns: a row prepared in %.1f us, run in %.1f us (%.1f GB/s)", n,
               columns, prepare * 1e-3 / n, ns * 1e-3 / n, (double)states / BENCH_SLOTS * 2 * sizeof(float) / ns);
    check_forget(c);
}

static void bench(struct check *c, const void *variant) {
    static const uint32_t rows_of[] = {1, 4, 64}, columns[] = {32, 64, 128};
    for (size_t i = 0; i < COUNT(rows_of); i++)
        for (size_t k = 0; k < COUNT(columns); k++) bench_rows(c, variant, rows_of[i], columns[k]);
}

#define MEMORY(isa) {conv_silu_##isa, delta_prepare_##isa, delta_step_##isa, delta_list_rows, delta_run, delta_keep}
#ifdef __x86_64__
static const struct delta_memory_variant avx2 = MEMORY(avx2), avx512 = MEMORY(avx512);
#endif

static const struct check_kernel kernels[] = {
    {"windows", ISA_REF, &plain},
#ifdef __x86_64__
    {"windows", ISA_AVX2, &avx2},
    {"windows", ISA_AVX512, &avx512},
#endif
};

const struct check_family delta_memory_check = {
    .name = "delta_memory",
    .domain = "1 to 8 taps, any heads and dims with v_heads % k_heads == 0, any windows, trees and replays",
    .gate = {bits, NULL, rows, partition, composition, edges},
    .bench = bench,
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = delta_memory_faults,
    .n_faults = DELTA_MEMORY_FAULTS,
};
