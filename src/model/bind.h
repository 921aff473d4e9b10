// Binding: every weight of an arch finds its stored tensor by name, with its exact shape; what is left over is judged.
#ifndef TF_MODEL_BIND_H
#define TF_MODEL_BIND_H

#include "checkpoint/checkpoint.h"
#include "model/arch.h"

#include <stddef.h>

enum { BIND_NAME_MAX = 192 };

// One weight of the model and the tensors that hold it.
struct bound {
    const struct arch_tensor *spec;
    uint32_t layer;              // 0 for weights outside the layers
    const struct tensor *weight; // never NULL
    const struct tensor *bias;   // or NULL
};

struct binding {
    struct bound *bound; // [n] in the order of the description; optional ones that are absent are left out
    size_t n;
    const char **unknown; // [n_unknown] names of stored tensors that no module here uses
    size_t n_unknown;
    bool converted; // TENSOR_TAPS lie as a converter leaves them, which also adds 1 to zero-centred norms
};

// Binds all tensors. A missing tensor, another shape, or a tensor that belongs to a module that runs but has no place
// in it (an extra bias, scale or gate) is refused with its name and file.
enum status bind_tensors(const struct checkpoint *c, const struct arch *a, struct binding *out,
                         struct err *e) TF_MUST_CHECK;
void bind_free(struct binding *b);

// Elements of a stored tensor; its bytes are in a file, so that they can be counted.
static inline uint64_t bind_n_values(const struct tensor *t) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->n_dims; i++) n *= t->shape[i];
    return n;
}

// Held as plain floats rather than packed: vectors, and taps in the order [columns][rows].
static inline bool bind_is_vector(const struct arch_tensor *spec) {
    return spec->columns == DIM_NONE || (spec->flags & TENSOR_TAPS);
}

// Where a role's weight lies in an array of all weights; bind_slots is its length.
static inline size_t bind_slot(enum role role, uint32_t layer) {
    if (role < ROLE_LAYER_FIRST) return (size_t)role;
    return (size_t)role + (size_t)layer * (ROLE_COUNT - ROLE_LAYER_FIRST);
}
static inline size_t bind_slots(const struct arch *a) {
    return bind_slot(ROLE_LAYER_FIRST, (uint32_t)a->dim[DIM_LAYERS]);
}

#endif
