// How many prompt rows a round may carry, from what rows have cost so far.
#ifndef TF_ENGINE_WIDTH_H
#define TF_ENGINE_WIDTH_H

#include <stdint.h>

struct width {
    uint32_t forced;      // rows a pass when the user fixed it, else 0
    uint32_t rows_max;    // the model's limit
    double prompt_ms;     // longest pass of a lone prompt
    double row_ms;        // recent cost of a prompt row; 0 while unknown
    double decode_ms;     // recent cost of a round without prompt rows; 0 while unknown
};

void width_init(struct width *w, uint32_t forced, uint32_t rows_max, double prompt_ms);

// Prompt rows for the next round. While streams decode in it (`decoding`), the round may take max(4 x a decode-only
// round, 150 ms), else prompt_ms; before anything was measured a pass is a modest 64 rows.
uint32_t width_choose(const struct width *w, int decoding);

// Records a round of `prompt_rows` and `other_rows` that took `ms`.
void width_record(struct width *w, uint32_t prompt_rows, uint32_t other_rows, double ms);

#endif
