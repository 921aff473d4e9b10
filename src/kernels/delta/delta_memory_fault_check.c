// Ways of keeping a recurrent memory that are wrong on purpose: each shows that a gate can go red.
#include "kernels/delta/delta_memory_check.h"

#include <math.h>
#include <string.h>

// One window as another function sees it.
struct altered {
    struct delta_pass pass;
    struct delta_window windows[LAB_SLOTS];
};

static struct delta_window *alter(struct altered *a, const struct delta_pass *p, uint32_t window) {
    memcpy(a->windows, p->windows, p->n_windows * sizeof *p->windows);
    a->pass = *p;
    a->pass.windows = a->windows;
    return &a->windows[window];
}

static void run_rejected(const struct delta_pass *p, delta_step_fn *step, const struct delta_part *part,
                         float *scratch) {
    struct altered a;
    struct delta_window *w = alter(&a, p, part->window);
    w->n_commit = w->n_rows;
    delta_run(&a.pass, step, part, scratch);
}

static void run_not_fresh(const struct delta_pass *p, delta_step_fn *step, const struct delta_part *part,
                          float *scratch) {
    struct altered a;
    alter(&a, p, part->window)->fresh = false;
    delta_run(&a.pass, step, part, scratch);
}

static void run_skips_replay(const struct delta_pass *p, delta_step_fn *step, const struct delta_part *part,
                             float *scratch) {
    struct altered a;
    struct delta_window *w = alter(&a, p, part->window);
    w->first += w->n_replay;
    w->n_replay = 0;
    delta_run(&a.pass, step, part, scratch);
}

// Each row behind hangs on the row before it.
static void list_as_chain(struct delta_pass *p, const struct delta_inputs *in) {
    delta_list_rows(p, in);
    for (uint32_t r = 1; r < p->n_rows; r++)
        if (p->rows[r].window == p->rows[r - 1].window) p->rows[r].before = (int32_t)r - 1;
}

// Replays the first held rows, whichever were accepted.
static void list_first_held(struct delta_pass *p, const struct delta_inputs *in) {
    size_t channels = delta_channels(&p->shape), heads = p->shape.v_heads;
    delta_list_rows(p, in);
    for (uint32_t i = 0; i < p->n_windows; i++) {
        const struct delta_window *w = &p->windows[i];
        for (uint32_t r = 0; r < w->n_replay; r++) {
            struct delta_row *row = &p->rows[w->first + r];
            row->u = w->held + r * (channels + 2 * heads);
            row->a = row->u + channels;
            row->b = row->a + heads;
        }
    }
}

// All rows belong to the first window's memory.
static void list_first_memory(struct delta_pass *p, const struct delta_inputs *in) {
    delta_list_rows(p, in);
    for (uint32_t r = 0; r < p->n_rows; r++) p->rows[r].window = 0;
}

static void keep_without_replay(const struct delta_pass *p, uint32_t window, size_t begin, size_t end) {
    struct altered a;
    struct delta_window *w = alter(&a, p, window);
    w->first += w->n_replay;
    w->n_replay = 0;
    delta_keep(&a.pass, window, begin, end);
}

static void keep_rejected(const struct delta_pass *p, uint32_t window, size_t begin, size_t end) {
    struct altered a;
    delta_keep(p, window, begin, end);
    struct delta_window *w = alter(&a, p, window);
    w->n_replay = 0;
    w->first = w->first + p->windows[window].n_replay + w->n_commit;
    w->n_commit = w->n_rows -= w->n_commit;
    delta_keep(&a.pass, window, begin, end);
}

// Committed rows are held too.
static void keep_all_held(const struct delta_pass *p, uint32_t window, size_t begin, size_t end) {
    struct altered a;
    delta_keep(p, window, begin, end);
    struct delta_window *w = alter(&a, p, window);
    w->first += w->n_replay;
    w->fresh = false;
    w->n_replay = w->n_commit = 0;
    if (w->n_rows <= LAB_BEHIND) delta_keep(&a.pass, window, begin, end);
}

static void conv_newest_first(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    const float *turned[CONV_TAPS_MAX];
    for (uint32_t t = 0; t < a->taps; t++) turned[t] = a->x[a->taps - 1 - t];
    struct conv_silu_args b = *a;
    b.x = turned;
    conv_silu_ref(&b, begin, end);
}

// Blocks of few columns sum from the last key value.
static void step_by_width(const struct delta_step_args *a) {
    delta_step_ref(a);
    for (uint32_t c = 0; c < a->columns && a->columns < 4; c++) {
        float y = 0.0f;
        for (uint32_t i = a->k_dim; i-- > 0;) y = fmaf(a->to[(size_t)i * a->ld_to + c], a->q[i], y);
        a->y[c] = y;
    }
}

#define WRONG(conv, step, list, run, keep) {conv, delta_prepare_ref, step, list, run, keep}
#define RUNS(run) WRONG(conv_silu_ref, delta_step_ref, delta_list_rows, run, delta_keep)
#define LISTS(list) WRONG(conv_silu_ref, delta_step_ref, list, delta_run, delta_keep)
#define KEEPS(keep) WRONG(conv_silu_ref, delta_step_ref, delta_list_rows, delta_run, keep)

static const struct delta_memory_variant wrong[] = {
    WRONG(conv_newest_first, delta_step_ref, delta_list_rows, delta_run, delta_keep),
    WRONG(conv_silu_ref, step_by_width, delta_list_rows, delta_run, delta_keep),
    LISTS(list_first_memory),
    LISTS(list_as_chain),
    LISTS(list_first_held),
    RUNS(run_rejected),
    RUNS(run_not_fresh),
    RUNS(run_skips_replay),
    KEEPS(keep_without_replay),
    KEEPS(keep_rejected),
    KEEPS(keep_all_held),
};

const struct check_fault delta_memory_faults[DELTA_MEMORY_FAULTS] = {
    {"taps_turned", "the oldest input meets the newest weight", CHECK_GATE_BITS, &wrong[0]},
    {"by_width", "blocks of few columns are summed from the last key value", CHECK_GATE_PARTITION, &wrong[1]},
    {"first_memory", "the convolution reads the first window's memory", CHECK_GATE_ROWS, &wrong[2]},
    {"as_chain", "each row of a tree hangs on the row before it", CHECK_GATE_COMPOSITION, &wrong[3]},
    {"first_held", "the first held rows are replayed, whichever were accepted", CHECK_GATE_COMPOSITION, &wrong[4]},
    {"commits_rejected", "rows behind are committed to the state", CHECK_GATE_COMPOSITION, &wrong[5]},
    {"not_fresh", "a fresh slot goes on with its old state", CHECK_GATE_COMPOSITION, &wrong[6]},
    {"skips_replay", "accepted rows are not replayed into the state", CHECK_GATE_COMPOSITION, &wrong[7]},
    {"stale_inputs", "replayed rows do not enter the convolution's memory", CHECK_GATE_COMPOSITION, &wrong[8]},
    {"keeps_rejected", "rows behind enter the convolution's memory", CHECK_GATE_COMPOSITION, &wrong[9]},
    {"holds_all", "committed rows are held too", CHECK_GATE_EDGES, &wrong[10]},
};
