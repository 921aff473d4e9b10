// A small recurrent memory for the checks: its slots, its tokens, and forwards cut in any way.
#include "kernels/delta/delta_memory_check.h"

#include <string.h>

enum { GAP = 3 };

static size_t row_floats(const struct delta_shape *s) { return delta_channels(s) + (size_t)2 * s->v_heads; }

void delta_inventory_new(struct check *c, struct delta_inventory *i, const struct delta_shape *shape, uint32_t n_taps) {
    size_t channels = delta_channels(shape), heads = shape->v_heads;
    *i = (struct delta_inventory){*shape,
                                  n_taps,
                                  check_new(c, LAB_TOKENS * channels * sizeof(float), 4),
                                  check_new(c, LAB_TOKENS * heads * sizeof(float), 4),
                                  check_new(c, LAB_TOKENS * heads * sizeof(float), 4),
                                  check_new(c, n_taps * channels * sizeof(float), 4),
                                  check_new(c, heads * sizeof(float), 4),
                                  check_new(c, heads * sizeof(float), 4)};
    if (check_failed(c)) return;
    check_fill(c, i->u, LAB_TOKENS * channels, CHECK_DATA_PLAIN);
    check_fill(c, i->a, LAB_TOKENS * heads, CHECK_DATA_PLAIN);
    check_fill(c, i->b, LAB_TOKENS * heads, CHECK_DATA_PLAIN);
    check_fill(c, i->taps, n_taps * channels, CHECK_DATA_PLAIN);
    check_fill(c, i->dt_bias, heads, CHECK_DATA_PLAIN);
    for (size_t j = 0; j < heads; j++) i->decay[j] = -0.5f - 0.4f * check_real(c);
}

size_t delta_lab_conv_floats(const struct delta_lab *lab) {
    return (lab->inventory->n_taps - 1) * delta_channels(&lab->inventory->shape);
}

size_t delta_lab_state_floats(const struct delta_lab *lab) {
    const struct delta_shape *s = &lab->inventory->shape;
    return (size_t)s->v_heads * s->k_dim * s->v_dim;
}

size_t delta_lab_held_floats(const struct delta_lab *lab) {
    return LAB_BEHIND * row_floats(&lab->inventory->shape);
}

float *delta_lab_conv(const struct delta_lab *lab, uint32_t slot) {
    return lab->conv + slot * delta_lab_conv_floats(lab);
}

float *delta_lab_state(const struct delta_lab *lab, uint32_t slot) {
    return lab->state + slot * delta_lab_state_floats(lab);
}

float *delta_lab_held(const struct delta_lab *lab, uint32_t slot) {
    return lab->held + slot * delta_lab_held_floats(lab);
}

static float *floats_new(struct check *c, size_t n) { return check_new(c, (n ? n : 1) * sizeof(float), 4); }

void delta_lab_new(struct check *c, struct delta_lab *lab, const struct delta_memory_variant *variant,
                   const struct delta_inventory *inventory) {
    const struct delta_shape *s = &inventory->shape;
    size_t channels = delta_channels(s), rows = sizeof lab->row / sizeof lab->row[0];
    *lab = (struct delta_lab){.check = c, .variant = variant, .inventory = inventory};
    lab->cut = (struct delta_cut){s->k_heads, s->v_dim, 1, false};
    lab->ldu = (uint32_t)channels + GAP;
    lab->ldg = s->v_heads + GAP;
    lab->ldy = s->v_heads * s->v_dim + GAP;
    lab->scratch_floats = delta_scratch_floats(s->k_dim, s->v_dim, LAB_BEHIND);
    lab->conv = floats_new(c, LAB_SLOTS * delta_lab_conv_floats(lab));
    lab->state = floats_new(c, LAB_SLOTS * delta_lab_state_floats(lab));
    lab->held = floats_new(c, LAB_SLOTS * delta_lab_held_floats(lab));
    lab->u = floats_new(c, (size_t)LAB_ROWS * lab->ldu);
    lab->a = floats_new(c, (size_t)LAB_ROWS * lab->ldg);
    lab->b = floats_new(c, (size_t)LAB_ROWS * lab->ldg);
    lab->y = floats_new(c, (size_t)LAB_ROWS * lab->ldy);
    lab->scratch = floats_new(c, lab->scratch_floats);
    float *zeros = floats_new(c, channels);
    lab->pass = (struct delta_pass){.shape = *s,
                                    .n_taps = inventory->n_taps,
                                    .taps = inventory->taps,
                                    .decay = inventory->decay,
                                    .dt_bias = inventory->dt_bias,
                                    .windows = lab->window,
                                    .rows = lab->row,
                                    .zeros = zeros,
                                    .c = floats_new(c, rows * channels),
                                    .gates = floats_new(c, rows * 2 * s->v_heads)};
    if (!check_failed(c)) memset(zeros, 0, channels * sizeof *zeros);
}

struct delta_window *delta_forward_chain(struct delta_forward *f, uint32_t slot, const uint32_t *tokens, uint32_t n,
                                         uint32_t n_commit) {
    struct delta_window *w = &f->window[f->n_windows];
    f->slot[f->n_windows++] = slot;
    *w = (struct delta_window){.first_row = f->n_rows, .n_rows = n, .n_commit = n_commit};
    for (uint32_t i = 0; i < n; i++) {
        f->parent[f->n_rows + i] = i ? (int32_t)(f->n_rows + i - 1) : -1;
        f->token[f->n_rows + i] = tokens[i];
    }
    f->n_rows += n;
    return w;
}

static void gather(struct delta_lab *lab, const struct delta_forward *f) {
    const struct delta_inventory *i = lab->inventory;
    size_t channels = delta_channels(&i->shape), heads = i->shape.v_heads;
    for (size_t r = 0; r < f->n_rows; r++) {
        memcpy(lab->u + r * lab->ldu, i->u + f->token[r] * channels, channels * sizeof *lab->u);
        memcpy(lab->a + r * lab->ldg, i->a + f->token[r] * heads, heads * sizeof *lab->a);
        memcpy(lab->b + r * lab->ldg, i->b + f->token[r] * heads, heads * sizeof *lab->b);
    }
}

static uint32_t blocks_of(const struct delta_lab *lab) {
    return (lab->inventory->shape.v_dim + lab->cut.columns - 1) / lab->cut.columns;
}

// Part: a block of columns of a value head of a window.
static void run_part(void *context, uint32_t unit, uint32_t units, uint32_t worker) {
    const struct delta_lab *lab = context;
    const struct delta_shape *s = &lab->inventory->shape;
    uint32_t blocks = blocks_of(lab);
    (void)units, (void)worker;
    struct delta_part part = {unit / blocks / s->v_heads, unit / blocks % s->v_heads, unit % blocks * lab->cut.columns,
                              lab->cut.columns};
    if (part.columns > s->v_dim - part.column) part.columns = s->v_dim - part.column;
    float *scratch = lab->scratch + (lab->cut.parallel ? unit * lab->scratch_floats : 0);
    lab->variant->run(&lab->pass, lab->variant->step, &part, scratch);
}

static void keep_part(void *context, uint32_t unit, uint32_t units, uint32_t worker) {
    const struct delta_lab *lab = context;
    size_t all = row_floats(&lab->inventory->shape), slice = unit % lab->cut.slices, slices = lab->cut.slices;
    (void)units, (void)worker;
    lab->variant->keep(&lab->pass, unit / lab->cut.slices, all * slice / slices, all * (slice + 1) / slices);
}

static void for_parts(struct delta_lab *lab, pool_fn *fn, uint32_t parts) {
    if (lab->cut.parallel) check_parallel(lab->check, fn, lab, parts);
    for (uint32_t part = 0; part < parts && !lab->cut.parallel; part++) fn(lab, part, parts, 0);
}

void delta_lab_run(struct delta_lab *lab, const struct delta_forward *f) {
    const struct delta_memory_variant *v = lab->variant;
    const struct delta_shape *s = &lab->inventory->shape;
    gather(lab, f);
    lab->pass.n_windows = f->n_windows;
    for (uint32_t i = 0; i < f->n_windows; i++) {
        lab->window[i] = f->window[i];
        lab->window[i].conv = delta_lab_conv(lab, f->slot[i]);
        lab->window[i].state = delta_lab_state(lab, f->slot[i]);
        lab->window[i].held = delta_lab_held(lab, f->slot[i]);
    }
    v->list(&lab->pass,
            &(struct delta_inputs){lab->u, lab->a, lab->b, lab->y, f->parent, lab->ldu, lab->ldg, lab->ldy});
    for (uint32_t r = 0; r < lab->pass.n_rows; r++)
        for (uint32_t h = 0; h < s->k_heads; h += lab->cut.heads) {
            uint32_t end = h + lab->cut.heads < s->k_heads ? h + lab->cut.heads : s->k_heads;
            delta_prepare_row(&lab->pass, v->conv, v->prepare, r, (const uint32_t[]){h, end});
        }
    uint32_t parts = f->n_windows * s->v_heads * blocks_of(lab);
    for_parts(lab, run_part, parts);
    for_parts(lab, keep_part, f->n_windows * lab->cut.slices);
}

void delta_lab_cut(struct delta_lab *lab, const struct delta_cut *cut) {
    lab->cut = *cut;
    size_t parts = (size_t)LAB_SLOTS * lab->inventory->shape.v_heads * blocks_of(lab);
    if (cut->parallel) lab->scratch = floats_new(lab->check, parts * lab->scratch_floats);
}
