// A fingerprint of what a slot holds: keys and values in token order, then the recurrent state, layer by layer.
#include "model/loaded.h"

#include "base/mem.h"
#include "base/sha256.h"

// Tokens taken from the cache at a time.
enum { CHUNK = 64 };

struct digest {
    struct loaded *m;
    struct sha256 *sha;
    float *buffer; // what was read from the device last
};

static enum status add_bytes(struct digest *d, dptr from, size_t bytes, struct err *e) {
    TRY(d->m->backend->ops->read(d->m->backend, d->buffer, from, bytes, e));
    sha256_add(d->sha, d->buffer, bytes);
    return STATUS_OK;
}

// Each token's keys and values side by side. The rows of the last round in k and v are not needed any more.
static enum status add_cache(struct digest *d, uint32_t layer, const int32_t *pages, uint32_t n_kept, struct err *e) {
    struct loaded *m = d->m;
    uint32_t kv = (uint32_t)m->arch.dim[DIM_KV], most = m->plan.rows_max < CHUNK ? m->plan.rows_max : CHUNK;
    dptr keys = dptr_at(m->work, m->plan.work.k), values = dptr_at(m->work, m->plan.work.v);
    size_t row = kv * sizeof(float);
    for (uint32_t first = 0; first < n_kept; first += most) {
        uint32_t n = n_kept - first < most ? n_kept - first : most;
        m->backend->ops->load(m->backend, &(struct op_load){.cache = &m->layer_cache[m->arch.layer_place[layer]],
                                                            .pages = pages,
                                                            .first = first,
                                                            .n = n,
                                                            .keys = keys,
                                                            .values = values,
                                                            .ldk = kv,
                                                            .ldv = kv});
        for (uint32_t i = 0; i < n; i++) {
            TRY(add_bytes(d, dptr_at(keys, i * row), row, e));
            TRY(add_bytes(d, dptr_at(values, i * row), row, e));
        }
    }
    return STATUS_OK;
}

static size_t conv_bytes(const struct backend_delta *s) {
    size_t channels = 2 * (size_t)s->k_heads * s->k_dim + (size_t)s->v_heads * s->v_dim;
    return (s->taps - 1) * channels * sizeof(float);
}

static size_t state_bytes(const struct backend_delta *s) {
    return (size_t)s->v_heads * s->k_dim * s->v_dim * sizeof(float);
}

static enum status add_state(struct digest *d, uint32_t layer, uint32_t slot, struct err *e) {
    const struct backend_delta *s = &d->m->recurrent.memory[d->m->arch.layer_place[layer]];
    TRY(add_bytes(d, dptr_at(s->conv, slot * conv_bytes(s)), conv_bytes(s), e));
    return add_bytes(d, dptr_at(s->state, slot * state_bytes(s)), state_bytes(s), e);
}

static size_t buffer_bytes(const struct loaded *m) {
    const struct backend_delta *s = &m->plan.limits.delta;
    size_t most = (size_t)m->arch.dim[DIM_KV] * sizeof(float);
    if (m->arch.n_kind[LAYER_DELTA] == 0) return most;
    if (conv_bytes(s) > most) most = conv_bytes(s);
    return state_bytes(s) > most ? state_bytes(s) : most;
}

static enum status add_all(struct digest *d, uint32_t slot, const int32_t *pages, uint32_t n_kept, struct err *e) {
    const struct arch *a = &d->m->arch;
    for (uint32_t layer = 0; layer < a->dim[DIM_LAYERS]; layer++) {
        bool attends = a->layer_kind[layer] == LAYER_ATTENTION;
        TRY(attends ? add_cache(d, layer, pages, n_kept, e) : add_state(d, layer, slot, e));
    }
    return STATUS_OK;
}

enum status loaded_digest(struct model *model, uint32_t slot, const int32_t *pages, int64_t n_kept, char out[65],
                          struct err *e) {
    struct loaded *m = (struct loaded *)model;
    if (slot >= m->plan.n_slots || n_kept < 0 || n_kept > (int64_t)m->plan.context) {
        return err_set(e, STATUS_INTERNAL, "digest: %lld tokens in slot %u", (long long)n_kept, slot);
    }
    if (model->geometry.recurrent) TRY(recurrent_materialise(m, slot, n_kept, e));
    struct digest d = {.m = m, .sha = sha256_new(), .buffer = mem_new(buffer_bytes(m), 1)};
    enum status status = STATUS_NO_MEMORY;
    if (d.sha && d.buffer)
        status = add_all(&d, slot, pages, (uint32_t)n_kept, e);
    else
        err_set(e, status, "no memory for a digest");
    if (status == STATUS_OK) sha256_hex(d.sha, out);
    sha256_free(d.sha);
    mem_free(d.buffer);
    return status;
}
