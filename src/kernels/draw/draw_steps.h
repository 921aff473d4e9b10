// The small steps that the quick and the plain way of drawing share.
#ifndef TF_KERNELS_DRAW_DRAW_STEPS_H
#define TF_KERNELS_DRAW_DRAW_STEPS_H

#include "base/float16.h"
#include "kernels/draw/draw.h"
#include "kernels/math/math.h"

#include <math.h>
#include <stdbool.h>

// A candidate: `key` orders by logit, then by lower id; `weight` is what a cut adds up.
struct draw_candidate {
    uint64_t key, weight;
};

#define DRAW_ONE 0x1p+40 // weight of the largest logit

// One to one on 64 bits; every output bit depends on every input bit (the finishing steps of splitmix64).
static inline uint64_t draw_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// What all ids of one drawing share of the hash.
static inline uint64_t draw_stem(uint64_t seed, uint64_t token_index) { return draw_mix(seed ^ draw_mix(token_index)); }

static inline uint64_t draw_hash(uint64_t stem, uint32_t id) { return draw_mix(stem + id) | 1; }

// Larger for larger logits, then for lower ids; NaN counts as -inf, -0 as 0.
static inline uint64_t draw_key(float logit, uint32_t id) {
    uint32_t u = float_bits(logit == logit ? logit + 0.0f : -INFINITY);
    u = u >> 31 ? ~u : u | 0x80000000u;
    return (uint64_t)u << 32 | (0xffffffffu - id);
}

static inline uint32_t draw_key_id(uint64_t key) { return 0xffffffffu - (uint32_t)key; }

static inline double draw_scaled(float logit, float most, double temperature) {
    return ((double)logit - (double)most) / temperature;
}

// Probability, as a part of the largest one's, in units of 2^-40.
static inline uint64_t draw_weight(double part) { return (uint64_t)(int64_t)(part * DRAW_ONE + 0.5); }

static inline bool draw_cuts_top_p(const struct draw_rule *r) { return r->top_p > 0.0 && r->top_p < 1.0; }

// ceil(top_p * total), at least 1 for a total above 0.
static inline uint64_t draw_top_p_need(double top_p, uint64_t total) {
    uint64_t fraction = (uint64_t)(top_p * 0x1p+63);
    if (!fraction) fraction = 1;
    return (uint64_t)(((unsigned __int128)fraction * total + (UINT64_MAX >> 1)) >> 63);
}

static inline uint64_t draw_min_p_need(double min_p) {
    if (!(min_p > 0.0)) return 0;
    return min_p < 1.0 ? (uint64_t)ceil(min_p * DRAW_ONE) : (uint64_t)DRAW_ONE;
}

// Noise of one hash.
double draw_noise(uint64_t hash);

#endif
