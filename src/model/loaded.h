// A loaded model: weights on their backend, the paged cache, and the host arrays of one round.
#ifndef TF_MODEL_LOADED_H
#define TF_MODEL_LOADED_H

#include "backend/backend.h"
#include "model/arch.h"
#include "model/model.h"
#include "model/plan.h"
#include "model/recurrent.h"

// One weight as the backend keeps it: a linear (or embedding), or a vector.
struct weight {
    struct backend_weight linear;
    dptr vector;
};

// The round being computed, and its results until the next one.
struct round_state {
    struct backend_rows rows;    // n, and the arrays below
    struct backend_row *row;     // [rows_max]
    int32_t *ids;                // [rows_max]
    int64_t *positions;          // [rows_max]
    int32_t *parents;            // [rows_max] indices in the round
    uint32_t *depth;             // [rows_max] in its window; row 0 has depth 0
    uint32_t *chain;             // [rows_max] leading ancestors that are rows 0, 1, .. of its window, with itself
    uint32_t *paths;             // [path_cap]
    const int32_t **page_tables; // [n_slots]
    uint32_t n_paths, path_cap;
    uint32_t *output_row;           // [outputs_max] row of each output; drawn ones first
    int32_t *output_of;             // [rows_max] its output, or -1
    const struct draw_rule **rules; // [outputs_max]
    uint64_t *token_index;          // [outputs_max]
    int32_t *drawn;                 // [outputs_max]
    uint32_t n_outputs, n_drawn, n_windows;
    uint64_t ticket; // of the last round; 0 = none
};

struct loaded {
    struct model base;
    struct backend *backend;
    struct arch arch;
    struct plan plan; // its places are freed once the weights are loaded
    dptr weights, cache, state, work;
    struct weight *weight;             // [bind_slots]
    struct backend_cache *layer_cache; // [attention layers]
    struct recurrent recurrent;
    double *inverse;                   // [rope pairs]
    struct round_state round;
};

extern const struct model_ops loaded_ops;

// The arrays of a round, sized by the plan; round_fini frees them.
enum status round_init(struct round_state *r, const struct plan *p, struct err *e) TF_MUST_CHECK;
void round_fini(struct round_state *r);

// Checks a round and lays out its rows: positions, slots, what each row sees, and its outputs. A fault of the caller is
// STATUS_INTERNAL, a token outside the vocabulary STATUS_INVALID.
enum status round_lay_out(struct round_state *r, const struct model_geometry *g, const struct model_round *round,
                          struct err *e) TF_MUST_CHECK;

// model_ops.digest
enum status loaded_digest(struct model *model, uint32_t slot, const int32_t *pages, int64_t n_kept, char out[65],
                          struct err *e) TF_MUST_CHECK;

// Runs the laid-out round through all layers, and its outputs through the head and the draw.
void forward_run(struct loaded *m);

#endif
