// The golden folders: their stored ids and logits of a public implementation.
#ifndef TF_TESTS_UNIT_MODEL_GOLDEN_H
#define TF_TESTS_UNIT_MODEL_GOLDEN_H

#include "base/json.h"
#include "tests/support/npy.h"
#include "tests/support/test.h"

#include <stdio.h>

enum { IDS_MAX = 1024, VOCAB_MAX = 1024, POSITIONS_MAX = 64 };

static const char *const folders[] = {"tests/golden/llama", "tests/golden/llama_scaled_bias", "tests/golden/qwen3",
                                      "tests/golden/qwen3_5", "tests/golden/qwen3_5_uneven"};
enum { N_FOLDERS = sizeof folders / sizeof folders[0], FIRST_RECURRENT = 3 };

struct golden {
    int32_t prompt[IDS_MAX], positions[POSITIONS_MAX], greedy[POSITIONS_MAX];
    size_t n_prompt, n_positions, n_greedy;
    struct npy logits;
};

static inline size_t golden_ids(yyjson_val *list, int32_t *out, size_t cap) {
    size_t i, n;
    yyjson_val *v;
    yyjson_arr_foreach(list, i, n, v) {
        if (i < cap) out[i] = (int32_t)yyjson_get_int(v);
    }
    return yyjson_arr_size(list) < cap ? yyjson_arr_size(list) : cap;
}

// False after reporting why. Free the logits with npy_free.
static inline bool golden_read(struct golden *g, const char *folder) {
    char path[256];
    struct err e = {0};
    yyjson_doc *doc = NULL;
    snprintf(path, sizeof path, "%s/ref.json", folder);
    if (json_read(path, 1 << 20, &doc, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", e.message);
        return false;
    }
    yyjson_val *root = yyjson_doc_get_root(doc);
    g->n_prompt = golden_ids(yyjson_obj_get(root, "prompt"), g->prompt, IDS_MAX);
    g->n_positions = golden_ids(yyjson_obj_get(root, "positions"), g->positions, POSITIONS_MAX);
    g->n_greedy = golden_ids(yyjson_obj_get(root, "greedy"), g->greedy, POSITIONS_MAX);
    yyjson_doc_free(doc);
    snprintf(path, sizeof path, "%s/ref_logits.npy", folder);
    if (npy_read(path, &g->logits) && g->logits.rows == g->n_positions) return true;
    test_fail(__FILE__, __LINE__, "%s: no logits of %zu positions", path, g->n_positions);
    return false;
}

#endif
