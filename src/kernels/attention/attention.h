// Causal attention of window and prompt rows over a paged fp32 cache, one definition for any width and any tree.
#ifndef TF_KERNELS_ATTENTION_ATTENTION_H
#define TF_KERNELS_ATTENTION_ATTENTION_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum {
    ATTENTION_PAGE = 64, // cache slots a page
    ATTENTION_TILE = 16, // keys side by side
};

// One layer's cache. Slot s of a stream lies in page pages[s / 64] at place s % 64.
// keys    [page][kv_head][4 tiles][head_dim][16]   so that lanes are keys
// values  [page][kv_head][64][value_dim]
struct attention_cache {
    float *keys, *values;
    uint32_t kv_heads, head_dim, value_dim;
};

size_t attention_key_page_floats(const struct attention_cache *c);
size_t attention_value_page_floats(const struct attention_cache *c);

// What one row sees: the tokens at positions 0 .. n_prefix-1 in slots of the same number, then those of its own path
// at positions n_prefix + j in slot path[j]. The row's own token is the last of them. A prompt row or a row of a chain
// has n_path = 0 and n_prefix = position + 1.
struct attention_row {
    const int32_t *pages;
    const uint32_t *path;
    uint32_t n_prefix, n_path; // n_prefix + n_path >= 1
    uint32_t slot;             // where this row's own key and value are stored
};

// Copies the rows' keys and values into the cache. keys [rows][ldk], values [rows][ldv].
struct attention_store_args {
    const struct attention_cache *cache;
    const struct attention_row *rows;
    const float *keys, *values;
    uint32_t ldk, ldv;
};
void attention_store(const struct attention_store_args *a, uint32_t row_begin, uint32_t row_end);

// Moves one stored token from slot `from` to slot `to` of a stream (keep of a tree's accepted path).
void attention_move(const struct attention_cache *c, const int32_t *pages, uint32_t from, uint32_t to);

// y[r, h] over the visible keys, n of them, at absolute positions p = 0 .. n-1, for query head h and kv head h / group:
//   score[p] = (ascending over dims, from 0: s = fmaf(q[d], key[p][d], s)) * scale
//   m = exact max of scores;  e[p] = exp(score[p] - m) with the project's own exp
//   total: lane l sums e[p] for p mod 16 == l ascending, from 0; then the tree lane[l] += lane[l+8], +4, +2, +1
//   y[d] = (ascending over p, from 0: a = fmaf(e[p], value[p][d], a)) * (1 / total)
// shape   q [rows][ldq] = heads x head_dim, y [rows][ldy] = heads x value_dim; scratch: attention_scratch_floats
//         floats a worker, for the most visible keys of any row
// needs   every visible slot stored; heads % kv_heads == 0; slots past the last visible key may hold anything, NaN too
// order   above: never depends on rows, tiles, pages or the path's shape
// check   equal bits to the reference
struct attention_args {
    const struct attention_cache *cache;
    const struct attention_row *rows;
    const float *q;
    float *y;
    uint32_t ldq, ldy, heads;
    float scale;
};
// One part: rows [row_begin, row_end) of kv head `kv_head` (its group of query heads).
typedef void attention_fn(const struct attention_args *a, uint32_t kv_head, uint32_t row_begin, uint32_t row_end,
                          float *scratch);

attention_fn *attention_select(enum isa isa);

// Floats of scratch for one worker when a row sees at most n_keys keys and a call covers at most `rows` rows.
size_t attention_scratch_floats(const struct attention_cache *c, uint32_t heads, uint32_t n_keys, uint32_t rows);

#define VARIANT(fn, isa) attention_fn fn;
#include "kernels/attention/attention.def"
#undef VARIANT

#endif
