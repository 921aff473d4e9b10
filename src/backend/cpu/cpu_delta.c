// The CPU's Gated DeltaNet op: rows are prepared, then heads of each window run through them and memory is kept.
#include "backend/cpu/cpu_backend.h"

#include "base/checked.h"

// Rough costs in picoseconds: of a channel's convolution, of a value of a state in one step, of a value kept.
enum { COST_CHANNEL = 1500, COST_VALUE = 150, COST_KEPT = 200, WORTH_WAKING = 4000, PARTS_MAX = 60000 };

static struct delta_shape shape_of(const struct backend_delta *m) {
    return (struct delta_shape){.k_heads = m->k_heads, .v_heads = m->v_heads, .k_dim = m->k_dim, .v_dim = m->v_dim};
}

static uint32_t columns_of(const struct cpu_backend *c, uint32_t v_dim) {
    uint32_t columns = delta_step_columns(c->isa);
    return v_dim < columns ? v_dim : columns;
}

bool cpu_delta_count(const struct cpu_backend *c, const struct backend_limits *l, struct cpu_delta_sizes *s) {
    const struct backend_delta *m = &l->delta;
    *s = (struct cpu_delta_sizes){0};
    if (m->taps == 0) return true;
    size_t q, v, heads, block, units;
    if (m->taps > CONV_TAPS_MAX || m->k_heads == 0) return false;
    if (!checked_mul(m->k_heads, m->k_dim, &q) || !checked_mul(m->v_heads, m->v_dim, &v) ||
        !checked_add(q, q, &q) || !checked_add(q, v, &s->channels) || s->channels > UINT32_MAX)
        return false;
    if (!checked_mul(l->slots, m->held_rows, &s->rows) || !checked_add(s->rows, l->rows, &s->rows) ||
        s->rows > INT32_MAX || !checked_mul(s->rows, m->k_heads, &units) || units > UINT32_MAX)
        return false;
    if (!checked_mul(s->rows, s->channels, &s->c) || !checked_mul(m->v_heads, 2, &heads) ||
        !checked_mul(s->rows, heads, &s->gates))
        return false;
    if (!checked_mul(m->k_dim, columns_of(c, m->v_dim), &block) ||
        !checked_mul(block, (size_t)m->held_rows + 2, &block))
        return false;
    s->scratch = delta_scratch_floats(m->k_dim, columns_of(c, m->v_dim), m->held_rows);
    return checked_round_up(s->scratch, 16, &s->scratch);
}

// Hands the op's description over to the kernels' words.
static struct delta_pass pass_of(const struct cpu_backend *c, const struct op_delta *op) {
    const struct backend_delta *m = op->memory;
    struct delta_pass p = {.shape = shape_of(m),
                           .n_taps = m->taps,
                           .n_windows = op->n_windows,
                           .taps = cpu_pointer(op->taps),
                           .decay = cpu_pointer(op->decay),
                           .dt_bias = cpu_pointer(op->dt_bias),
                           .windows = c->delta_windows,
                           .rows = c->delta_rows,
                           .zeros = c->delta_zeros,
                           .c = c->delta_c,
                           .gates = c->delta_gates};
    size_t channels = delta_channels(&p.shape), state = (size_t)m->v_heads * m->k_dim * m->v_dim;
    for (uint32_t i = 0; i < op->n_windows; i++) {
        const struct backend_delta_window *w = &op->windows[i];
        size_t held = w->slot * ((size_t)m->held_rows * (channels + (size_t)2 * m->v_heads));
        p.windows[i] = (struct delta_window){.conv = (float *)cpu_pointer(m->conv) + w->slot * (m->taps - 1) * channels,
                                             .state = (float *)cpu_pointer(m->state) + w->slot * state,
                                             .held = (float *)cpu_pointer(m->held) + held,
                                             .fresh = w->fresh,
                                             .replay = w->replay,
                                             .n_replay = w->n_replay,
                                             .first_row = w->first_row,
                                             .n_rows = w->n_rows,
                                             .n_commit = w->n_commit};
    }
    delta_list_rows(&p, &(struct delta_inputs){.u = cpu_pointer(op->u),
                                               .a = cpu_pointer(op->a),
                                               .b = cpu_pointer(op->b),
                                               .y = cpu_pointer(op->y),
                                               .parents = op->parents,
                                               .ldu = op->ldu,
                                               .ldg = op->ldg,
                                               .ldy = op->ldy});
    return p;
}

struct delta_job {
    const struct cpu_backend *c;
    struct delta_pass pass;
    uint32_t columns, blocks; // of a value head
    uint32_t slices;          // of a row that is kept
};

// Units are key heads of rows.
static void prepare_units(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct delta_job *j = context;
    uint32_t heads = j->pass.shape.k_heads;
    (void)worker;
    while (begin < end) {
        uint32_t row = begin / heads, head = begin % heads, n = heads - head;
        if (n > end - begin) n = end - begin;
        delta_prepare_row(&j->pass, j->c->conv, j->c->delta_prepare, row, (const uint32_t[]){head, head + n});
        begin += n;
    }
}

static void keep_unit(const struct delta_job *j, uint64_t unit) {
    size_t all = delta_channels(&j->pass.shape) + (size_t)2 * j->pass.shape.v_heads;
    size_t slice = unit % j->slices;
    delta_keep(&j->pass, (uint32_t)(unit / j->slices), all * slice / j->slices, all * (slice + 1) / j->slices);
}

static void run_unit(const struct delta_job *j, uint64_t unit, uint32_t worker) {
    uint32_t heads = j->pass.shape.v_heads, v_dim = j->pass.shape.v_dim;
    struct delta_part part = {.v_head = (uint32_t)(unit / j->blocks % heads),
                              .window = (uint32_t)(unit / j->blocks / heads),
                              .column = (uint32_t)(unit % j->blocks) * j->columns};
    part.columns = v_dim - part.column < j->columns ? v_dim - part.column : j->columns;
    delta_run(&j->pass, j->c->delta_step, &part, j->c->delta_scratch + worker * j->c->delta_scratch_floats);
}

static uint64_t run_units(const struct delta_job *j) {
    return (uint64_t)j->pass.n_windows * j->pass.shape.v_heads * j->blocks;
}

// The blocks of all windows, the long jobs, then the slices of what is kept.
static void run_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    const struct delta_job *j = context;
    uint64_t blocks = run_units(j), units = blocks + (uint64_t)j->pass.n_windows * j->slices;
    for (uint64_t unit = units * part / parts; unit < units * (part + 1) / parts; unit++) {
        if (unit < blocks) run_unit(j, unit, worker);
        if (unit >= blocks) keep_unit(j, unit - blocks);
    }
}

void cpu_delta(struct backend *b, const struct op_delta *op) {
    struct cpu_backend *c = cpu_of(b);
    const struct backend_delta *m = op->memory;
    struct delta_job j = {.c = c, .pass = pass_of(c, op), .columns = columns_of(c, m->v_dim), .slices = c->threads};
    j.blocks = (uint32_t)ceil_div(m->v_dim, j.columns);
    size_t channels = delta_channels(&j.pass.shape), state = (size_t)m->v_heads * m->k_dim * m->v_dim;
    uint64_t rows = j.pass.n_rows;
    cpu_for_rows(c, prepare_units, &j, (uint32_t)rows * m->k_heads, channels / m->k_heads * COST_CHANNEL / 1000);
    uint64_t units = run_units(&j) + (uint64_t)op->n_windows * j.slices;
    uint32_t parts = units < PARTS_MAX ? (uint32_t)units : PARTS_MAX;
    if (rows * (state * COST_VALUE + channels * COST_KEPT) / 1000 >= WORTH_WAKING) {
        pool_run(c->pool, run_part, &j, parts);
        return;
    }
    for (uint32_t part = 0; part < parts; part++) run_part(&j, part, parts, 0);
}
