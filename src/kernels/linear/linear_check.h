// Test products for the checks of the linear kernels, and the kernels that are wrong on purpose.
#ifndef TF_KERNELS_LINEAR_LINEAR_CHECK_H
#define TF_KERNELS_LINEAR_LINEAR_CHECK_H

#include "kernels/check.h"
#include "kernels/linear/linear.h"

// What the gates of family `linear` are handed.
struct linear_check_variant {
    linear_fn *fn;
    enum linear_format format;
};

struct linear_shape {
    uint32_t n, k, rows, ldy; // ldy 0 = n
    enum check_data data;     // of the activations
    bool odd_weights;         // some scales or weights are NaN, infinite, zero or subnormal
};

// One product with everything random: args are ready for any variant, y is poison.
struct linear_problem {
    struct linear_weight w;
    struct linear_args args;
    uint32_t tiles;
    size_t y_floats; // rows * ldy
};

// Makes weights (stored rows, packed), activations (quantised where the format asks for it) and outputs, each in
// guarded memory of its own. Fields that the format does not read are NULL. The check has failed when memory ran out.
struct linear_problem linear_problem_new(struct check *c, enum linear_format f, const struct linear_shape *s);

// A copy of the problem that writes to a y of its own.
struct linear_args linear_problem_other(struct check *c, const struct linear_problem *p);

// `n` further random rows of the same width in activations of their own.
struct linear_activations linear_problem_rows(struct check *c, const struct linear_weight *w, uint32_t n,
                                              enum check_data data);
// Copies row `from` of one to row `to` of the other.
void linear_problem_copy_row(const struct linear_weight *w, const struct linear_activations *source, uint32_t from,
                             const struct linear_activations *target, uint32_t to);

// Scale and minimum of output o's group g as they enter the sum (minimum 0 for Q8_0).
void linear_problem_scales(const struct linear_weight *w, uint32_t o, uint32_t g, float *d, float *m);

enum { LINEAR_FAULTS = 13 };
extern const struct check_fault linear_faults[LINEAR_FAULTS];

#endif
