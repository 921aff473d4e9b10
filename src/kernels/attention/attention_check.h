// Test problems for the checks of attention, and the kernels that are wrong on purpose.
#ifndef TF_KERNELS_ATTENTION_ATTENTION_CHECK_H
#define TF_KERNELS_ATTENTION_ATTENTION_CHECK_H

#include "kernels/attention/attention.h"
#include "kernels/check.h"

struct attention_check_variant {
    attention_fn *fn;
};

// One stream: `first` tokens, then a window of `rows` tokens, each of which is a row.
struct attention_shape {
    uint32_t kv_heads, group, head_dim, value_dim, first, rows;
    enum check_data data;
    float sharpness; // factor of q: large values make one key win
    bool tree;       // window tokens hang on random earlier ones instead of forming a chain
};

struct attention_problem {
    struct attention_cache cache; // poison wherever nothing was stored
    struct attention_args args;   // y is poison
    struct attention_row *rows;   // args.rows
    float *keys, *values, *q;     // [tokens][kv_heads * dim], [rows][heads * head_dim]
    int32_t *pages;               // shuffled, with a gap here and there
    float *scratch;               // for all rows in one call
    uint32_t tokens;
    size_t y_floats, scratch_floats;
};

// Everything random, in guarded memory; nothing is stored yet. The check has failed when there was no memory.
struct attention_problem attention_problem_new(struct check *c, const struct attention_shape *s);

// Stores tokens [from, to) in the slots of their numbers.
void attention_problem_store(const struct attention_problem *p, uint32_t from, uint32_t to);

// Runs all kv heads over rows [begin, end).
void attention_problem_run(const struct attention_problem *p, attention_fn *fn, uint32_t begin, uint32_t end);

// A y of its own for the same problem.
struct attention_problem attention_problem_other(struct check *c, const struct attention_problem *p);

enum { ATTENTION_FAULTS = 12 };
extern const struct check_fault attention_faults[ATTENTION_FAULTS];

#endif
