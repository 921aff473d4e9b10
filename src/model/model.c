// The round seam of a loaded model: rounds, their results, keeping accepted rows, and giving memory back.
#include "model/loaded.h"

#include "base/mem.h"

#include <string.h>

static struct loaded *loaded_of(struct model *m) { return (struct loaded *)m; }

static enum status verify(struct model *model, const struct model_round *round, uint64_t *ticket, struct err *e) {
    struct loaded *m = loaded_of(model);
    m->round.n_outputs = 0; // whatever follows, the results of the round before are gone
    m->round.rows.n = 0;
    m->round.ticket++;
    enum status status = round_lay_out(&m->round, &model->geometry, round, e);
    if (status == STATUS_OK) status = recurrent_lay_out(m, round, e);
    if (status != STATUS_OK) {
        m->round.rows.n = 0;
        return status;
    }
    forward_run(m);
    recurrent_commit(m, round);
    *ticket = m->round.ticket;
    return STATUS_OK;
}

static enum status check_ticket(const struct loaded *m, uint64_t ticket, struct err *e) {
    if (ticket != 0 && ticket == m->round.ticket) return STATUS_OK;
    return err_set(e, STATUS_INTERNAL, "round %llu is over, the last one was %llu", (unsigned long long)ticket,
                   (unsigned long long)m->round.ticket);
}

static enum status drawn(struct model *model, uint64_t ticket, int32_t *tokens, uint32_t n_rows, struct err *e) {
    struct loaded *m = loaded_of(model);
    struct round_state *r = &m->round;
    TRY(check_ticket(m, ticket, e));
    if (n_rows > r->rows.n) return err_set(e, STATUS_INTERNAL, "%u rows asked of a round of %u", n_rows, r->rows.n);
    if (r->n_drawn) {
        dptr ids = dptr_at(m->work, m->plan.work.ids);
        TRY(m->backend->ops->read(m->backend, r->drawn, ids, r->n_drawn * sizeof *r->drawn, e));
    }
    for (uint32_t i = 0; i < n_rows; i++) {
        int32_t output = r->output_of[i];
        tokens[i] = output >= 0 && (uint32_t)output < r->n_drawn ? r->drawn[output] : -1;
    }
    return STATUS_OK;
}

static enum status logits(struct model *model, uint64_t ticket, uint32_t row, float *out, struct err *e) {
    struct loaded *m = loaded_of(model);
    TRY(check_ticket(m, ticket, e));
    if (row >= m->round.rows.n || m->round.output_of[row] < 0) {
        return err_set(e, STATUS_INTERNAL, "row %u of the round has no logits", row);
    }
    size_t bytes = (size_t)model->geometry.vocab * sizeof *out;
    dptr from = dptr_at(m->work, m->plan.work.logits + (size_t)m->round.output_of[row] * bytes);
    return m->backend->ops->read(m->backend, out, from, bytes, e);
}

static enum status keep(struct model *model, const struct model_window *window, const uint32_t *path, uint32_t n,
                        struct err *e) {
    struct loaded *m = loaded_of(model);
    const struct round_state *r = &m->round;
    uint32_t first = window->first_row, end = first + window->n_rows;
    if (n == 0 || path[0] != first || end > r->rows.n) {
        return err_set(e, STATUS_INTERNAL, "keep: a path starts with its window's first row");
    }
    for (uint32_t depth = 1; depth < n; depth++) {
        bool child = path[depth] < end && r->parents[path[depth]] == (int32_t)path[depth - 1];
        if (!child)
            return err_set(e, STATUS_INTERNAL, "keep: row %u is not the child of the one before", path[depth]);
    }
    TRY(recurrent_keep(m, window, path, n, e));
    for (uint32_t depth = 1; depth < n; depth++) { // a row never lies before its depth, so none is overwritten unread
        struct op_move op = {.pages = window->pages,
                             .from = (uint32_t)window->n_kept + path[depth] - first,
                             .to = (uint32_t)window->n_kept + depth};
        for (uint32_t i = 0; op.from != op.to && i < m->arch.n_kind[LAYER_ATTENTION]; i++) {
            op.cache = &m->layer_cache[i];
            m->backend->ops->move(m->backend, &op);
        }
    }
    return STATUS_OK;
}

static void reset(struct model *model, uint32_t slot) { recurrent_reset(loaded_of(model), slot); }

static void release_pages(struct model *model, const int32_t *pages, uint32_t n) {
#ifdef TF_DEBUG
    // A later read of a freed slot must show: its bytes become NaN.
    static const uint64_t poison[512] = {[0 ... 511] = UINT64_MAX};
    struct loaded *m = loaded_of(model);
    const size_t bytes[2] = {m->plan.key_page_bytes, m->plan.value_page_bytes};
    uint64_t layers = m->arch.n_kind[LAYER_ATTENTION];
    for (uint64_t i = 0; i < n * layers * 2; i++) {
        const struct backend_cache *c = &m->layer_cache[i / 2 % layers];
        size_t page = (size_t)pages[i / 2 / layers], size = bytes[i % 2];
        dptr to = dptr_at(i % 2 ? c->values : c->keys, page * size);
        for (size_t at = 0; at < size; at += sizeof poison) {
            size_t left = size - at < sizeof poison ? size - at : sizeof poison;
            if (m->backend->ops->upload(m->backend, dptr_at(to, at), poison, left, NULL) != STATUS_OK) return;
        }
    }
#else
    (void)model;
    (void)pages;
    (void)n;
#endif
}

static void close_model(struct model *model) {
    struct loaded *m = loaded_of(model);
    const struct backend_ops *ops = m->backend->ops;
    if (m->weights.address) ops->release(m->backend, m->weights, m->plan.weight_bytes);
    if (m->cache.address) ops->release(m->backend, m->cache, m->plan.cache_bytes);
    if (m->state.address) ops->release(m->backend, m->state, m->plan.state_bytes);
    if (m->work.address) ops->release(m->backend, m->work, m->plan.work.bytes);
    round_fini(&m->round);
    recurrent_fini(&m->recurrent);
    plan_free(&m->plan);
    mem_free(m->weight);
    mem_free(m->layer_cache);
    mem_free(m->inverse);
    mem_free(m);
}

const struct model_ops loaded_ops = {
    .verify = verify,
    .drawn = drawn,
    .logits = logits,
    .keep = keep,
    .reset = reset,
    .digest = loaded_digest,
    .release_pages = release_pages,
    .close = close_model,
};
