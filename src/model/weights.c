// Weights from the mapped checkpoint to the backend, tensor by tensor.
#include "model/weights.h"

#include "base/float16.h"
#include "base/mem.h"

#include <string.h>

struct loader {
    struct loaded *m;
    const struct checkpoint *checkpoint;
    bool gguf;
    float *vector;     // the longest vector
    uint32_t *row_map; // the most rows of a permuted weight
};

void weights_read_vector(const struct tensor *t, float *out) {
    for (uint64_t i = 0; i < t->shape[0]; i++) {
        uint16_t half;
        if (t->dtype == DTYPE_F32) {
            memcpy(&out[i], t->data + 4 * i, 4);
            continue;
        }
        memcpy(&half, t->data + 2 * i, 2);
        out[i] = t->dtype == DTYPE_F16 ? f16_to_float(half) : bf16_to_float(half);
    }
}

// Rotation pairs lie side by side in GGUF: head row j + s * size/2 of ours is its row 2j + s.
static uint32_t stored_row(uint32_t row, uint32_t head_size) {
    uint32_t in_head = row % head_size, half = head_size / 2;
    return row - in_head + 2 * (in_head % half) + in_head / half;
}

static bool is_permuted(const struct loader *l, const struct bound *b) {
    return l->gguf && (b->spec->flags & TENSOR_GGUF_ROPE_PAIRS);
}

static enum status finish_tensor(const struct loader *l, const struct tensor *t, struct err *e) {
    TRY(checkpoint_check_read(l->checkpoint, t, e));
    checkpoint_release(l->checkpoint, t);
    return STATUS_OK;
}

static enum status load_vector(const struct loader *l, const struct bound *b, const struct tensor *t, size_t at,
                               dptr *out, struct err *e) {
    uint32_t n = (uint32_t)t->shape[0], head = (uint32_t)l->m->arch.dim[DIM_HEAD];
    float *values = l->vector;
    weights_read_vector(t, values);
    if (is_permuted(l, b)) {
        float *sorted = values + n;
        for (uint32_t i = 0; i < n; i++) sorted[i] = values[stored_row(i, head)];
        values = sorted;
    }
    *out = dptr_at(l->m->weights, at);
    TRY(l->m->backend->ops->upload(l->m->backend, *out, values, n * sizeof *values, e));
    return finish_tensor(l, t, e);
}

static enum status load_linear(const struct loader *l, const struct bound *b, const struct plan_place *place,
                               struct backend_weight *out, struct err *e) {
    const struct tensor *t = b->weight;
    struct backend_pack_source source = {
        .dtype = t->dtype, .n = (uint32_t)t->shape[0], .k = (uint32_t)t->shape[1], .rows = t->data};
    if (is_permuted(l, b)) {
        uint32_t head = (uint32_t)l->m->arch.dim[DIM_HEAD];
        for (uint32_t i = 0; i < source.n; i++) l->row_map[i] = stored_row(i, head);
        source.row_map = l->row_map;
    }
    dptr to = dptr_at(l->m->weights, place->weight_at);
    enum status status = l->m->backend->ops->pack(l->m->backend, &source, to, out, e);
    if (status != STATUS_OK) {
        err_prefix(e, "tensor %s", t->name);
        return status;
    }
    TRY(finish_tensor(l, t, e));
    return b->bias ? load_vector(l, b, b->bias, place->bias_at, &out->bias, e) : STATUS_OK;
}

static enum status load_all(const struct loader *l, const struct binding *binding, struct err *e) {
    for (size_t i = 0; i < binding->n; i++) {
        const struct bound *b = &binding->bound[i];
        const struct plan_place *place = &l->m->plan.place[i];
        struct weight *w = &l->m->weight[bind_slot(b->spec->role, b->layer)];
        if (b->spec->columns == DIM_NONE)
            TRY(load_vector(l, b, b->weight, place->weight_at, &w->vector, e));
        else
            TRY(load_linear(l, b, place, &w->linear, e));
    }
    return STATUS_OK;
}

enum status weights_load(struct loaded *m, const struct checkpoint *c, const struct binding *binding, struct err *e) {
    uint64_t longest = 1;
    for (size_t i = 0; i < binding->n; i++) {
        const struct bound *b = &binding->bound[i];
        bool counts = b->spec->columns == DIM_NONE || b->bias || (b->spec->flags & TENSOR_GGUF_ROPE_PAIRS);
        if (counts && b->weight->shape[0] > longest) longest = b->weight->shape[0];
    }
    struct loader l = {.m = m,
                       .checkpoint = c,
                       .gguf = checkpoint_kind(c) == CHECKPOINT_GGUF,
                       .vector = mem_new(2 * longest, sizeof(float)), // as stored, and sorted
                       .row_map = mem_new(longest, sizeof(uint32_t))};
    enum status status = STATUS_NO_MEMORY;
    if (l.vector && l.row_map)
        status = load_all(&l, binding, e);
    else
        err_set(e, status, "no memory to load vectors of %llu", (unsigned long long)longest);
    mem_free(l.vector);
    mem_free(l.row_map);
    return status;
}
