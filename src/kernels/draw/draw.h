// Drawing one token from a row of logits: keyed noise, so the same request always draws the same token.
#ifndef TF_KERNELS_DRAW_DRAW_H
#define TF_KERNELS_DRAW_DRAW_H

#include <stddef.h>
#include <stdint.h>

// How a stream draws. Zero-initialised it is greedy over all ids once n_ids is set.
struct draw_rule {
    double temperature; // 0 = the largest logit, lower id on ties
    double top_p;       // 0 < top_p < 1 cuts; anything else keeps all
    double min_p;       // > 0 cuts candidates below min_p times the best one's probability
    uint32_t top_k;     // > 0 keeps the top_k largest logits, lower id on ties
    uint32_t n_ids;     // ids from here on are never drawn (padding of the output matrix); >= 1
    uint64_t seed;
};

// The rule's top_p for a 0 to 1 that somebody asked for, where 0 keeps the likeliest token alone.
static inline double draw_top_p(double asked) { return asked > 0 ? asked : 0x1p-1022; }

// gumbel(seed, p, id): standard Gumbel noise. h = mix(mix(seed ^ mix(p)) + id) with mix a 64-bit bijection (draw.c);
// w = (h with its lowest bit set) / 2^64, that is (h63 + 1/2) / 2^63, never 0 or 1; E = -log1p(-w), which for the upper
// half of the numbers is -log(1 - w) with 1 - w made from integers; G = -log E. In double with the project's own log.
double draw_gumbel(uint64_t seed, uint64_t token_index, uint32_t id);

// Scratch for one call over n_ids ids, in bytes.
size_t draw_scratch_bytes(uint32_t n_ids);

// The token at index `token_index` (the drawn token's place in prompt + reply): the argmax over kept candidates of
// (logit - l_max) / T + gumbel in double, lower id on ties. Candidates: all ids below n_ids by descending logit, lower
// id first on ties; of them the first top_k; of those the shortest prefix whose q sum up to ceil(top_p * total), q_i =
// floor(exp((l_i - l_max) / T) * 2^40 + 1/2), top_p cut to 63 bits, by a 128-bit product; of those the ones with
// q_i >= ceil(min_p * 2^40). NaN logits count as minus infinity; a largest logit that is infinite is drawn at once.
// Never allocates.
// shape   logits [at least n_ids] float; scratch draw_scratch_bytes, 16-byte aligned
int32_t draw_token(const struct draw_rule *rule, const float *logits, uint64_t token_index, void *scratch);

// The same, step by step as written above (a full sort); for checking draw_token.
int32_t draw_token_ref(const struct draw_rule *rule, const float *logits, uint64_t token_index, void *scratch);

#endif
