// A layer's recurrent memory over one forward: listing its rows, running them, keeping what later forwards need.
#include "kernels/delta/delta_memory.h"

#include <string.h>

static uint32_t committed(const struct delta_window *w) { return w->n_replay + w->n_commit; }

static size_t held_floats(const struct delta_shape *s) { return delta_channels(s) + (size_t)2 * s->v_heads; }

static void list_window(const struct delta_pass *p, uint32_t window, const struct delta_inputs *in) {
    const struct delta_window *w = &p->windows[window];
    size_t channels = delta_channels(&p->shape), heads = p->shape.v_heads;
    struct delta_row *row = p->rows + w->first;
    int32_t replayed = w->n_replay ? (int32_t)(w->first + w->n_replay - 1) : -1; // the last one
    for (uint32_t i = 0; i < w->n_replay; i++, row++) {
        const float *u = w->held + w->replay[i] * held_floats(&p->shape), *a = u + channels;
        int32_t before = i ? (int32_t)(w->first + i - 1) : -1;
        *row = (struct delta_row){.u = u, .a = a, .b = a + heads, .before = before, .window = window};
    }
    for (uint32_t i = 0; i < w->n_rows; i++, row++) {
        size_t r = w->first_row + i;
        int32_t parent = in->parents[r];
        int32_t before = parent < 0 ? replayed : parent - (int32_t)w->first_row + (int32_t)(w->first + w->n_replay);
        *row = (struct delta_row){.u = in->u + r * in->ldu,
                                  .a = in->a + r * in->ldg,
                                  .b = in->b + r * in->ldg,
                                  .y = in->y + r * in->ldy,
                                  .before = before,
                                  .window = window};
    }
}

void delta_list_rows(struct delta_pass *p, const struct delta_inputs *in) {
    p->n_rows = 0;
    for (uint32_t i = 0; i < p->n_windows; i++) {
        p->windows[i].first = p->n_rows;
        list_window(p, i, in);
        p->n_rows += p->windows[i].n_replay + p->windows[i].n_rows;
    }
}

void delta_history(const struct delta_pass *p, uint32_t row, const float *x[CONV_TAPS_MAX]) {
    const struct delta_window *w = &p->windows[p->rows[row].window];
    size_t channels = delta_channels(&p->shape);
    uint32_t stored = p->n_taps - 1, t = p->n_taps; // inputs in memory, places still to fill
    for (int32_t r = (int32_t)row; r >= 0 && t > 0; r = p->rows[r].before) x[--t] = p->rows[r].u;
    while (t > 0) x[--t] = w->fresh ? p->zeros : w->conv + --stored * channels;
}

void delta_prepare_row(const struct delta_pass *p, conv_silu_fn *conv, delta_prepare_fn *prepare, uint32_t row,
                       const uint32_t heads[2]) {
    const struct delta_shape *s = &p->shape;
    size_t channels = delta_channels(s);
    const float *x[CONV_TAPS_MAX];
    delta_history(p, row, x);
    struct conv_silu_args a = {x, p->taps, p->c + row * channels, p->n_taps, (uint32_t)channels};
    uint32_t k = s->k_heads * s->k_dim, v = s->v_heads / s->k_heads * s->v_dim; // all keys; values of one key head
    conv(&a, heads[0] * s->k_dim, heads[1] * s->k_dim);
    conv(&a, k + heads[0] * s->k_dim, k + heads[1] * s->k_dim);
    conv(&a, 2 * k + heads[0] * v, 2 * k + heads[1] * v);
    float *alpha = p->gates + (size_t)row * 2 * s->v_heads;
    prepare(&(struct delta_prepare_args){.shape = s,
                                         .c = a.y,
                                         .a = p->rows[row].a,
                                         .b = p->rows[row].b,
                                         .decay = p->decay,
                                         .dt_bias = p->dt_bias,
                                         .alpha = alpha,
                                         .beta = alpha + s->v_heads},
            heads[0], heads[1]);
}

size_t delta_scratch_floats(uint32_t k_dim, uint32_t columns, uint32_t rows_behind) {
    return ((size_t)rows_behind + 1) * k_dim * columns + columns;
}

// A block of a state: k_dim rows of the part's columns, ld floats apart.
struct block {
    float *at;
    uint32_t ld;
};

static void run_row(const struct delta_pass *p, delta_step_fn *step, const struct delta_part *part, uint32_t row,
                    const struct block *from, float *to, float *unread) {
    const struct delta_shape *s = &p->shape;
    const float *q = p->c + row * delta_channels(s) + (size_t)part->v_head / (s->v_heads / s->k_heads) * s->k_dim;
    const float *k = q + (size_t)s->k_heads * s->k_dim;
    size_t at = (size_t)part->v_head * s->v_dim + part->column;
    const float *alpha = p->gates + (size_t)row * 2 * s->v_heads + part->v_head;
    step(&(struct delta_step_args){.q = q,
                                   .k = k,
                                   .v = p->c + row * delta_channels(s) + (size_t)2 * s->k_heads * s->k_dim + at,
                                   .alpha = alpha[0],
                                   .beta = alpha[s->v_heads],
                                   .from = from->at,
                                   .to = to,
                                   .y = p->rows[row].y ? p->rows[row].y + at : unread,
                                   .k_dim = s->k_dim,
                                   .columns = part->columns,
                                   .ld_from = from->ld,
                                   .ld_to = part->columns});
}

static void copy_block(const struct block *from, const struct block *to, uint32_t rows, uint32_t columns) {
    for (uint32_t i = 0; i < rows; i++) {
        memcpy(to->at + (size_t)i * to->ld, from->at + (size_t)i * from->ld, columns * sizeof(float));
    }
}

// Scratch: the committed block, a row of outputs that nobody reads, then the block of each row behind.
void delta_run(const struct delta_pass *p, delta_step_fn *step, const struct delta_part *part, float *scratch) {
    const struct delta_window *w = &p->windows[part->window];
    uint32_t k_dim = p->shape.k_dim, v_dim = p->shape.v_dim, columns = part->columns;
    size_t floats = (size_t)k_dim * columns;
    const struct block stored = {w->state + (size_t)part->v_head * k_dim * v_dim + part->column, v_dim};
    const struct block chain = {scratch, columns};
    float *unread = scratch + floats, *behind = unread + columns;
    struct block newest = w->fresh ? chain : stored; // what is committed so far
    if (w->fresh) memset(chain.at, 0, floats * sizeof(float));
    uint32_t row = w->first, end = row + w->n_replay + w->n_rows, first_behind = row + committed(w);
    for (; row < first_behind; row++, newest = chain) run_row(p, step, part, row, &newest, chain.at, unread);
    if (newest.at == chain.at) copy_block(&chain, &stored, k_dim, columns);
    for (; row < end; row++) {
        int64_t parent = (int64_t)p->rows[row].before - first_behind;
        struct block from = parent < 0 ? newest : (struct block){behind + (size_t)parent * floats, columns};
        run_row(p, step, part, row, &from, behind + (row - first_behind) * floats, unread);
    }
}

// Copies columns [begin, end) of the row u, a, b.
static void hold_row(const struct delta_shape *s, const struct delta_row *row, float *held, size_t begin, size_t end) {
    const float *const piece[] = {row->u, row->a, row->b};
    const size_t border[] = {0, delta_channels(s), delta_channels(s) + s->v_heads, held_floats(s)};
    for (int i = 0; i < 3; i++) {
        size_t from = begin > border[i] ? begin : border[i], to = end < border[i + 1] ? end : border[i + 1];
        if (from < to) memcpy(held + from, piece[i] + (from - border[i]), (to - from) * sizeof *held);
    }
}

void delta_keep(const struct delta_pass *p, uint32_t window, size_t begin, size_t end) {
    const struct delta_window *w = &p->windows[window];
    const struct delta_row *rows = p->rows + w->first;
    size_t channels = delta_channels(&p->shape), to = end < channels ? end : channels;
    uint32_t stored = p->n_taps - 1, n = committed(w);
    for (uint32_t i = 0; begin < to && (n || w->fresh) && i < stored; i++) { // of inputs stored + n, the newest
        const float *memory = w->fresh ? p->zeros : w->conv + (i + n) * channels;
        const float *u = i + n < stored ? memory : rows[i + n - stored].u;
        memcpy(w->conv + i * channels + begin, u + begin, (to - begin) * sizeof *u);
    }
    for (uint32_t i = n; i < w->n_replay + w->n_rows; i++) {
        hold_row(&p->shape, &rows[i], w->held + (i - n) * held_floats(&p->shape), begin, end);
    }
}
