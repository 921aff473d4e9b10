// The memory plan: where every weight, cache page and value between ops will lie, before anything is allocated.
#ifndef TF_MODEL_PLAN_H
#define TF_MODEL_PLAN_H

#include "backend/backend.h"
#include "model/bind.h"
#include "model/load.h"

#include <stddef.h>

// Where a bound weight lies in the region of weights.
struct plan_place {
    size_t weight_at, weight_bytes; // packed, or a vector of floats
    size_t bias_at, bias_bytes;     // 0 bytes: none
};

// Offsets into the region of work, rows side by side. floats unless said otherwise.
struct plan_work {
    size_t hidden, normed; // [rows][hidden]
    size_t q;              // [rows][q], or q and gates
    size_t k, v;           // [rows][kv]
    size_t u, z, a, b;     // [rows] channels, values, value heads, value heads of the delta rule
    size_t mixed;          // [rows] what a mixer gives: q or values
    size_t gate, up;       // [rows][intermediate]
    size_t cosine, sine;   // [rows][rope pairs]
    size_t gathered;       // [outputs][hidden]
    size_t logits;         // [outputs][vocab]
    size_t ids;            // [outputs] int32
    size_t bytes;
};

struct plan {
    struct plan_place *place; // [binding.n]
    size_t weight_bytes;      // the whole region
    struct plan_work work;
    size_t key_page_bytes, value_page_bytes; // of one layer
    size_t cache_bytes;
    size_t conv_bytes, delta_bytes, held_bytes; // recurrent memory of one layer, of all slots
    size_t state_bytes;                         // of all layers
    size_t scratch_bytes;                       // the backend's own
    size_t total_bytes;
    uint64_t context;
    uint32_t n_slots, n_pages, rows_max, outputs_max;
    uint32_t window_rows; // most rows of a decode window; 0 = as many as a round
    struct backend_limits limits;
};

// Refuses a context that the checkpoint does not have or the memory does not hold, with both numbers. A context left to
// the plan is the checkpoint's own, cut to what the memory holds.
enum status plan_make(const struct checkpoint *c, const struct arch *a, const struct binding *binding,
                      struct backend *b, const struct model_options *options, struct plan *out,
                      struct err *e) TF_MUST_CHECK;
void plan_free(struct plan *p);

// Bytes that one token takes in the paged cache of all layers that have one.
size_t plan_cache_token_bytes(const struct plan *p, const struct arch *a, const struct backend *b);

#endif
