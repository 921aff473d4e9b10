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

// gumbel(seed, p, id): standard Gumbel noise from a 64-bit hash of the three. w = (h63 + 1/2) / 2^63 from 63 bits, never
// 0 or 1; E = -log1p(-w); G = -log E, in double with the project's own log.
double draw_gumbel(uint64_t seed, uint64_t token_index, uint32_t id);

// Scratch for one call over n_ids ids, in bytes.
size_t draw_scratch_bytes(uint32_t n_ids);

// The token at index `token_index` (the drawn token's place in prompt + reply): the argmax over kept candidates of
// logit / T + gumbel, lower id on ties. Candidates: temperature, then top_k, then top_p over the survivors, then min_p.
// Nucleus in fixed point: q_i = round(exp((l_i - l_max) / T) * 2^40), shortest descending prefix (lower id on ties) whose
// sum >= ceil(top_p * total), by a 128-bit product. NaN logits count as minus infinity. Never allocates.
// shape   logits [at least n_ids] float; scratch draw_scratch_bytes, 16-byte aligned
int32_t draw_token(const struct draw_rule *rule, const float *logits, uint64_t token_index, void *scratch);

#endif
