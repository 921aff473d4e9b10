// What an instruction set supplies so that attention runs over blocks of queries that share loaded keys and values.
#ifndef TF_KERNELS_ATTENTION_ATTENTION_BLOCKS_H
#define TF_KERNELS_ATTENTION_ATTENTION_BLOCKS_H

#include "kernels/attention/attention_cache.h"

// Up to ATTENTION_QUERIES queries (one head of one row each) side by side.
struct attention_queries {
    uint32_t n, dims;                // dims of a key while scoring, of a value while adding
    float scale;
    const float *q[ATTENTION_QUERIES];
    float *score[ATTENTION_QUERIES]; // by position; later the weights
    float *y[ATTENTION_QUERIES];
};

struct attention_steps {
    uint32_t queries; // it takes side by side, at most ATTENTION_QUERIES
    // Scores of every query against `tiles` key tiles in a row, to score[] from position `at`, hidden keys included.
    void (*score)(const struct attention_queries *b, const float *keys, uint32_t tiles, uint32_t at);
    // score[0..n) become weights; gives their total. Room up to the next multiple of 16 may be overwritten.
    float (*weigh)(float *score, uint32_t n);
    // y += weight * value, ascending over `n` values in a row, the first at position `at`.
    void (*add)(const struct attention_queries *b, const float *values, uint32_t n, uint32_t at);
};

// attention_fn by these steps.
void attention_by_blocks(const struct attention_steps *steps, const struct attention_args *a, uint32_t kv_head,
                         const uint32_t rows[2], float *scratch);

#endif
