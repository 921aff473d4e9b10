// Weights from the mapped checkpoint to the backend, tensor by tensor.
#include "model/weights.h"

#include "base/float16.h"
#include "base/mem.h"
#include "kernels/math/math.h"

#include <string.h>

struct loader {
    struct loaded *m;
    const struct checkpoint *checkpoint;
    bool gguf, converted;
    float *values, *sorted; // [longest] of a vector, as stored and as it is served
    uint32_t *row_map;      // [longest]
};

void weights_read_vector(const struct tensor *t, float *out) {
    uint64_t n = bind_n_values(t);
    for (uint64_t i = 0; i < n; i++) {
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
static uint32_t unpaired_row(uint32_t row, uint32_t head_size) {
    uint32_t in_head = row % head_size, half = head_size / 2;
    return row - in_head + 2 * (in_head % half) + in_head / half;
}

// Each head's queries lie before its gates: row i of head h is row 2h * size + i, or size rows further for a gate.
static uint32_t ungated_row(uint32_t row, uint32_t n_queries, uint32_t head_size) {
    uint32_t gate = row >= n_queries, query = row - gate * n_queries;
    return query + (query / head_size + gate) * head_size;
}

static bool is_permuted(const struct loader *l, const struct bound *b) {
    uint32_t flags = b->spec->flags;
    return (flags & TENSOR_GATED_HEADS) || (l->gguf && (flags & TENSOR_GGUF_ROPE_PAIRS));
}

// The stored row that serves as row `row` of n.
static uint32_t stored_row(const struct loader *l, const struct bound *b, uint32_t row, uint32_t n) {
    uint32_t head = (uint32_t)l->m->arch.dim[DIM_HEAD];
    return b->spec->flags & TENSOR_GATED_HEADS ? ungated_row(row, n / 2, head) : unpaired_row(row, head);
}

static enum status finish_tensor(const struct loader *l, const struct tensor *t, struct err *e) {
    TRY(checkpoint_check_read(l->checkpoint, t, e));
    checkpoint_release(l->checkpoint, t);
    return STATUS_OK;
}

// What a vector's stored values stand for.
static void serve_values(const struct loader *l, const struct bound *b, const struct tensor *t, float *x) {
    uint32_t flags = t == b->weight ? b->spec->flags : 0;
    uint64_t n = bind_n_values(t);
    for (uint64_t i = 0; i < n; i++) {
        if ((flags & TENSOR_ZERO_CENTRED) && !l->converted) x[i] = 1.0f + x[i];
        if (flags & TENSOR_NEGATED_EXP) x[i] = -(float)math_exp64((double)x[i]);
    }
}

// Values in the order in which they are served: rows permuted, taps the outer dimension.
static const float *sort_values(const struct loader *l, const struct bound *b, const struct tensor *t) {
    uint32_t rows = (uint32_t)t->shape[0], n = (uint32_t)bind_n_values(t), columns = n / rows;
    if (!is_permuted(l, b) && columns == 1) return l->values;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = is_permuted(l, b) ? stored_row(l, b, i, n) : i % rows;
        l->sorted[i] = l->values[row * columns + i / rows];
    }
    return l->sorted;
}

static enum status load_vector(const struct loader *l, const struct bound *b, const struct tensor *t, size_t at,
                               dptr *out, struct err *e) {
    weights_read_vector(t, l->values);
    serve_values(l, b, t, l->values);
    const float *values = sort_values(l, b, t);
    *out = dptr_at(l->m->weights, at);
    TRY(l->m->backend->ops->upload(l->m->backend, *out, values, bind_n_values(t) * sizeof *values, e));
    return finish_tensor(l, t, e);
}

static enum status load_linear(const struct loader *l, const struct bound *b, const struct plan_place *place,
                               struct backend_weight *out, struct err *e) {
    const struct tensor *t = b->weight;
    struct backend_pack_source source = {
        .dtype = t->dtype, .n = (uint32_t)t->shape[0], .k = (uint32_t)t->shape[1], .rows = t->data};
    if (is_permuted(l, b)) {
        for (uint32_t i = 0; i < source.n; i++) l->row_map[i] = stored_row(l, b, i, source.n);
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
        if (bind_is_vector(b->spec))
            TRY(load_vector(l, b, b->weight, place->weight_at, &w->vector, e));
        else
            TRY(load_linear(l, b, place, &w->linear, e));
    }
    return STATUS_OK;
}

enum status weights_load(struct loaded *m, const struct checkpoint *c, const struct binding *binding, struct err *e) {
    struct loader l = {
        .m = m, .checkpoint = c, .gguf = checkpoint_kind(c) == CHECKPOINT_GGUF, .converted = binding->converted};
    uint64_t longest = 1;
    for (size_t i = 0; i < binding->n; i++) {
        const struct bound *b = &binding->bound[i];
        bool vector = bind_is_vector(b->spec);
        if (!vector && !b->bias && !is_permuted(&l, b)) continue;
        uint64_t n = vector ? bind_n_values(b->weight) : b->weight->shape[0];
        if (n > longest) longest = n;
    }
    l.values = mem_new(longest, sizeof *l.values);
    l.sorted = mem_new(longest, sizeof *l.sorted);
    l.row_map = mem_new(longest, sizeof *l.row_map);
    enum status status = STATUS_NO_MEMORY;
    if (l.values && l.sorted && l.row_map)
        status = load_all(&l, binding, e);
    else
        err_set(e, status, "no memory to load vectors of %llu", (unsigned long long)longest);
    mem_free(l.values);
    mem_free(l.sorted);
    mem_free(l.row_map);
    return status;
}
