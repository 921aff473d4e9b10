// A layer's recurrent memory over one forward: which rows are committed, which only look, and what is kept of them.
#ifndef TF_KERNELS_DELTA_DELTA_MEMORY_H
#define TF_KERNELS_DELTA_DELTA_MEMORY_H

#include "kernels/conv/conv.h"
#include "kernels/delta/delta.h"

#include <stdbool.h>

// One stream's memory in a layer, and what its window asks of it: first the held rows of its last window that were
// accepted since are committed, then its own leading rows, one by one in order. Rows behind those leave the memory
// alone, see their own ancestors only, and are held. `before` of the first row behind the committed ones is the last
// committed one.
struct delta_window {
    float *conv;  // [taps - 1][channels] inputs of the newest committed rows, oldest first
    float *state; // [v_heads][k_dim][v_dim]
    float *held;  // [][channels + 2 * v_heads] u, a, b of the last window's rows behind the committed ones
    bool fresh;   // conv and state count as zero, whatever they hold
    const uint32_t *replay; // [n_replay] held rows to commit first
    uint32_t n_replay;
    uint32_t first_row, n_rows, n_commit; // rows of the forward; leading ones to commit
    uint32_t first; // of the pass's rows: the replayed ones, then its own
};

// One step of the recurrence: a replayed row, or a row of this forward.
struct delta_row {
    const float *u, *a, *b; // [channels] before the convolution, [v_heads], [v_heads]
    float *y;               // [v_heads * v_dim]; NULL for replayed rows
    int32_t before;         // the row before it, of the pass's rows; -1: the window's memory
    uint32_t window;
};

// All windows of a forward, in one layer.
struct delta_pass {
    struct delta_shape shape;
    uint32_t n_taps, n_windows, n_rows;
    const float *taps;           // [n_taps][channels]
    const float *decay, *dt_bias; // [v_heads]
    struct delta_window *windows;
    struct delta_row *rows;
    const float *zeros; // [channels]
    float *c;           // [n_rows][channels] what prepare makes of each row
    float *gates;       // [n_rows][2][v_heads] alpha, beta
};

// The forward's rows as the ops have them.
struct delta_inputs {
    const float *u, *a, *b; // [rows][ldu], [rows][ldg], [rows][ldg]
    float *y;               // [rows][ldy]
    const int32_t *parents; // [rows] rows of the forward; -1 for the first row of a window
    uint32_t ldu, ldg, ldy;
};

// Lists the rows of all windows (at most rows of the forward + replayed ones) and sets `first` and n_rows.
void delta_list_rows(struct delta_pass *p, const struct delta_inputs *in);

// The convolution's inputs for a row: itself last, before it its ancestors, then the window's memory.
void delta_history(const struct delta_pass *p, uint32_t row, const float *x[CONV_TAPS_MAX]);

// Convolution, SiLU, lengths and gates of key heads [begin, end) and their value heads, of one row.
void delta_prepare_row(const struct delta_pass *p, conv_silu_fn *conv, delta_prepare_fn *prepare, uint32_t row,
                       const uint32_t heads[2]);

// Columns of one value head of one window, all its rows: writes y and the committed state.
struct delta_part {
    uint32_t window, v_head, column, columns;
};
void delta_run(const struct delta_pass *p, delta_step_fn *step, const struct delta_part *part, float *scratch);

// Floats of scratch for delta_run.
size_t delta_scratch_floats(uint32_t k_dim, uint32_t columns, uint32_t rows_behind);

// Columns [begin, end) of channels + 2 * v_heads: moves the newest committed inputs into `conv` and the rows behind
// into `held`. After every delta_prepare_row, since these read what it overwrites; columns may be cut anywhere.
void delta_keep(const struct delta_pass *p, uint32_t window, size_t begin, size_t end);

#endif
