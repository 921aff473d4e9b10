// Gates for ops that turn each row of floats into a row of floats by itself: bits, rows, partition, edges.
#ifndef TF_KERNELS_CHECK_ROWS_H
#define TF_KERNELS_CHECK_ROWS_H

#include "kernels/check.h"

// Rows [begin, end) of `in` [rows][ld] and `out` [rows][ld], at width n.
struct check_rows_call {
    uint32_t n, ld, begin, end;
    const float *in;
    float *out;
};

typedef void check_rows_fn(const void *variant, const struct check_rows_call *call);

struct check_rows_op {
    uint32_t in_per, out_per, plus; // a row of width n reads in_per * n + plus floats and writes out_per * n + plus
    check_rows_fn *run;             // one of the variants being checked
    const void *reference;          // the variant that is right
};

// Widths from 1 to about 1,000 and all kinds of data, special values included: the reference's bits.
void check_rows_bits(struct check *c, const struct check_rows_op *op, const void *variant);
// One row alone, and at every place among rows of NaN: equal bits.
void check_rows_alone(struct check *c, const struct check_rows_op *op, const void *variant);
// Random ranges of rows, in any order, on several threads: what one call makes.
void check_rows_partition(struct check *c, const struct check_rows_op *op, const void *variant);
// Rows outside the range and the gap between rows stay as they were; nothing is read past the last row.
void check_rows_edges(struct check *c, const struct check_rows_op *op, const void *variant);

// What planted faults do to rows [begin, end) of an output y [rows][ld] of width n.
void check_rows_clear(float *y, uint32_t n, uint32_t ld, uint32_t begin, uint32_t end);
// Zeros from the end of a row to the end of its last register of 8.
void check_rows_spill(float *y, uint32_t n, uint32_t ld, uint32_t begin, uint32_t end);

#endif
