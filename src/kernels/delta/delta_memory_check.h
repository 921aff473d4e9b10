// A small recurrent memory for the checks to play with, and the ways of keeping it that are wrong on purpose.
#ifndef TF_KERNELS_DELTA_DELTA_MEMORY_CHECK_H
#define TF_KERNELS_DELTA_DELTA_MEMORY_CHECK_H

#include "kernels/check.h"
#include "kernels/delta/delta_memory.h"

struct delta_memory_variant {
    conv_silu_fn *conv;
    delta_prepare_fn *prepare;
    delta_step_fn *step;
    void (*list)(struct delta_pass *p, const struct delta_inputs *in);
    void (*run)(const struct delta_pass *p, delta_step_fn *step, const struct delta_part *part, float *scratch);
    void (*keep)(const struct delta_pass *p, uint32_t window, size_t begin, size_t end);
};

enum { LAB_SLOTS = 2, LAB_TOKENS = 40, LAB_ROWS = 40, LAB_BEHIND = 8 };

// Random weights, and what each of LAB_TOKENS tokens brings: a row of a forward is the number of a token.
struct delta_inventory {
    struct delta_shape shape;
    uint32_t n_taps;
    float *u, *a, *b; // [LAB_TOKENS][channels], [LAB_TOKENS][v_heads] twice
    float *taps, *decay, *dt_bias;
};

// How a forward's work is cut.
struct delta_cut {
    uint32_t heads, columns, slices; // key heads a call, columns a call, stretches of what is kept
    bool parallel;
};

struct delta_lab {
    struct check *check;
    const struct delta_memory_variant *variant;
    const struct delta_inventory *inventory;
    struct delta_cut cut;
    float *conv, *state, *held; // of LAB_SLOTS slots, poison at first
    struct delta_window window[LAB_SLOTS];
    struct delta_row row[LAB_ROWS + LAB_SLOTS * LAB_BEHIND];
    struct delta_pass pass;
    float *u, *a, *b, *y; // of a forward's rows, ldu, ldg and ldy floats apart
    uint32_t ldu, ldg, ldy;
    float *scratch; // a stretch a part
    size_t scratch_floats;
};

struct delta_forward {
    uint32_t n_rows, n_windows;
    uint32_t token[LAB_ROWS];
    int32_t parent[LAB_ROWS];
    uint32_t slot[LAB_SLOTS];
    struct delta_window window[LAB_SLOTS]; // without memory, which is the slot's
};

void delta_inventory_new(struct check *c, struct delta_inventory *i, const struct delta_shape *shape, uint32_t n_taps);
void delta_lab_new(struct check *c, struct delta_lab *lab, const struct delta_memory_variant *variant,
                   const struct delta_inventory *inventory);

// Cuts the work otherwise than whole; once a lab.
void delta_lab_cut(struct delta_lab *lab, const struct delta_cut *cut);

// Runs a forward; its outputs lie in lab->y.
void delta_lab_run(struct delta_lab *lab, const struct delta_forward *f);

// Adds a window of one slot to a forward: n chained rows of the given tokens, n_commit of them to commit.
struct delta_window *delta_forward_chain(struct delta_forward *f, uint32_t slot, const uint32_t *tokens, uint32_t n,
                                         uint32_t n_commit);

float *delta_lab_conv(const struct delta_lab *lab, uint32_t slot);
float *delta_lab_state(const struct delta_lab *lab, uint32_t slot);
float *delta_lab_held(const struct delta_lab *lab, uint32_t slot);
size_t delta_lab_conv_floats(const struct delta_lab *lab); // of one slot, as are the next two
size_t delta_lab_state_floats(const struct delta_lab *lab);
size_t delta_lab_held_floats(const struct delta_lab *lab);

enum { DELTA_MEMORY_FAULTS = 11 };
extern const struct check_fault delta_memory_faults[DELTA_MEMORY_FAULTS];

#endif
