// The slots of recurrent state: what each covers, what it has to replay, and the windows of a round over them.
#include "model/recurrent.h"

#include "base/mem.h"
#include "model/loaded.h"

static bool is_empty(const struct recurrent *r) { return !r->memory; }

static uint32_t held_rows(const struct loaded *m) { return m->plan.limits.delta.held_rows; }

static uint32_t *replay_of(const struct loaded *m, uint32_t slot) {
    return m->recurrent.replay + (size_t)slot * held_rows(m);
}

// One layer's memory lies as conv, state, held; the layers follow one another.
static void place_memory(struct loaded *m) {
    const struct plan *p = &m->plan;
    dptr at = m->state;
    for (uint32_t i = 0; i < m->arch.n_kind[LAYER_DELTA]; i++) {
        struct backend_delta *d = &m->recurrent.memory[i];
        *d = p->limits.delta;
        d->conv = at;
        d->state = dptr_at(d->conv, p->conv_bytes);
        d->held = dptr_at(d->state, p->delta_bytes);
        at = dptr_at(d->held, p->held_bytes);
    }
}

enum status recurrent_init(struct loaded *m, struct err *e) {
    struct recurrent *r = &m->recurrent;
    uint32_t layers = m->arch.n_kind[LAYER_DELTA], slots = m->plan.n_slots;
    if (layers == 0) return STATUS_OK;
    r->memory = mem_new(layers, sizeof *r->memory);
    r->resident = mem_new(slots, sizeof *r->resident);
    r->replay = mem_new((size_t)slots * held_rows(m) + 1, sizeof *r->replay);
    r->windows = mem_new(slots, sizeof *r->windows);
    if (!r->memory || !r->resident || !r->replay || !r->windows)
        return err_set(e, STATUS_NO_MEMORY, "no memory for the state of %u streams", slots);
    place_memory(m);
    for (uint32_t slot = 0; slot < slots; slot++) recurrent_reset(m, slot);
    return STATUS_OK;
}

void recurrent_fini(struct recurrent *r) {
    mem_free(r->memory);
    mem_free(r->resident);
    mem_free(r->replay);
    mem_free(r->windows);
    *r = (struct recurrent){0};
}

static uint32_t n_committed(const struct model_window *w) { return w->kind == WINDOW_PROMPT ? w->n_rows : 1; }

static enum status check_window(struct loaded *m, const struct model_window *w, struct err *e) {
    struct resident *r = &m->recurrent.resident[w->slot];
    if (r->ticket == m->round.ticket) {
        return err_set(e, STATUS_INTERNAL, "round: two windows of slot %u, whose state is one", w->slot);
    }
    if (r->n_kept != w->n_kept) {
        return err_set(e, STATUS_INTERNAL, "round: slot %u has the state of %lld tokens, its window follows %lld",
                       w->slot, (long long)r->n_kept, (long long)w->n_kept);
    }
    if (w->n_rows - n_committed(w) > held_rows(m)) {
        return err_set(e, STATUS_INTERNAL, "round: a window of %u rows at slot %u, room is planned for %u", w->n_rows,
                       w->slot, held_rows(m) + 1);
    }
    r->ticket = m->round.ticket;
    return STATUS_OK;
}

static struct backend_delta_window window_of(const struct loaded *m, uint32_t slot) {
    const struct resident *r = &m->recurrent.resident[slot];
    return (struct backend_delta_window){
        .slot = slot, .fresh = r->fresh, .replay = replay_of(m, slot), .n_replay = r->n_replay};
}

enum status recurrent_lay_out(struct loaded *m, const struct model_round *round, struct err *e) {
    if (is_empty(&m->recurrent)) return STATUS_OK;
    for (uint32_t i = 0; i < round->n_windows; i++) {
        const struct model_window *w = &round->windows[i];
        struct backend_delta_window *out = &m->recurrent.windows[i];
        TRY(check_window(m, w, e));
        *out = window_of(m, w->slot);
        out->first_row = w->first_row;
        out->n_rows = w->n_rows;
        out->n_commit = n_committed(w);
    }
    m->round.n_windows = round->n_windows;
    return STATUS_OK;
}

void recurrent_commit(struct loaded *m, const struct model_round *round) {
    if (is_empty(&m->recurrent)) return;
    for (uint32_t i = 0; i < round->n_windows; i++) {
        const struct model_window *w = &round->windows[i];
        struct resident *r = &m->recurrent.resident[w->slot];
        r->fresh = false;
        r->n_replay = 0;
        r->n_held = w->n_rows - n_committed(w);
        r->n_kept = w->n_kept + n_committed(w);
    }
}

enum status recurrent_keep(struct loaded *m, const struct model_window *w, const uint32_t *path, uint32_t n,
                           struct err *e) {
    if (is_empty(&m->recurrent)) return STATUS_OK;
    if (w->slot >= m->plan.n_slots || m->recurrent.resident[w->slot].n_kept != w->n_kept + 1) {
        return err_set(e, STATUS_INTERNAL, "keep: slot %u was kept already, or took no part in the round", w->slot);
    }
    struct resident *r = &m->recurrent.resident[w->slot];
    if (n - 1 > r->n_held) return err_set(e, STATUS_INTERNAL, "keep: %u rows, only %u are held", n - 1, r->n_held);
    for (uint32_t i = 1; i < n; i++) replay_of(m, w->slot)[i - 1] = path[i] - w->first_row - 1;
    r->n_replay = n - 1;
    r->n_kept = w->n_kept + n;
    return STATUS_OK;
}

void recurrent_reset(struct loaded *m, uint32_t slot) {
    if (!is_empty(&m->recurrent)) m->recurrent.resident[slot] = (struct resident){.fresh = true};
}

// Rows of the round for the laid-out windows, or none for a replay alone.
static void run(struct loaded *m, uint32_t layer, const struct backend_delta_window *windows, uint32_t n_windows,
                uint32_t rows) {
    const struct plan_work *w = &m->plan.work;
    const struct weight *weights = m->weight;
    m->backend->ops->delta(
        m->backend, &(struct op_delta){.memory = &m->recurrent.memory[m->arch.layer_place[layer]],
                                       .windows = windows,
                                       .n_windows = n_windows,
                                       .parents = m->round.parents,
                                       .rows = rows,
                                       .u = dptr_at(m->work, w->u),
                                       .a = dptr_at(m->work, w->a),
                                       .b = dptr_at(m->work, w->b),
                                       .taps = weights[bind_slot(ROLE_DELTA_TAPS, layer)].vector,
                                       .decay = weights[bind_slot(ROLE_DELTA_DECAY, layer)].vector,
                                       .dt_bias = weights[bind_slot(ROLE_DELTA_DT_BIAS, layer)].vector,
                                       .y = dptr_at(m->work, w->mixed),
                                       .ldu = (uint32_t)m->arch.dim[DIM_DELTA_CHANNELS],
                                       .ldg = (uint32_t)m->arch.dim[DIM_DELTA_V_HEADS],
                                       .ldy = (uint32_t)m->arch.dim[DIM_DELTA_VALUES]});
}

void recurrent_run(struct loaded *m, uint32_t layer) {
    run(m, layer, m->recurrent.windows, m->round.n_windows, m->round.rows.n);
}

enum status recurrent_materialise(struct loaded *m, uint32_t slot, int64_t n_kept, struct err *e) {
    struct resident *r = &m->recurrent.resident[slot];
    if (r->n_kept != n_kept) {
        return err_set(e, STATUS_INTERNAL, "slot %u has the state of %lld tokens, not of %lld", slot,
                       (long long)r->n_kept, (long long)n_kept);
    }
    const struct backend_delta_window window = window_of(m, slot);
    if (!r->fresh && r->n_replay == 0) return STATUS_OK;
    for (uint32_t layer = 0; layer < m->arch.dim[DIM_LAYERS]; layer++) {
        if (m->arch.layer_kind[layer] == LAYER_DELTA) run(m, layer, &window, 1, 0);
    }
    r->n_replay = 0;
    r->fresh = false;
    return STATUS_OK;
}
