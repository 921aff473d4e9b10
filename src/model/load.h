// Opening a checkpoint as a model: what it is, what memory it needs, and loading it onto a backend.
#ifndef TF_MODEL_LOAD_H
#define TF_MODEL_LOAD_H

#include "backend/backend.h"
#include "base/err.h"
#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

struct model_options {
    uint32_t n_slots;            // streams resident at once; 0 = 1
    uint64_t context;            // most tokens a stream may hold; 0 = the checkpoint's own, cut to what memory allows
    uint32_t rows_max;           // rows a round may carry; 0 = the backend's choice
    uint32_t window_rows;        // most rows of a decode window of a model with recurrent state; 0 = 1: no drafts
    uint64_t memory_limit_bytes; // all planned memory must fit; 0 = what the machine has free
};

// What headers alone tell. Strings live as long as the checkpoint.
struct model_info {
    const char *family;           // "llama"
    uint64_t vocab, hidden, layers, heads, kv_heads, head_dim, intermediate;
    uint64_t attention_layers, delta_layers; // of `layers`: with a paged cache, with recurrent state
    uint64_t delta_k_heads, delta_v_heads, delta_k_dim, delta_v_dim, delta_taps; // 0 without delta layers
    uint64_t context;             // the checkpoint's own
    uint64_t parameters;          // elements of all bound tensors, each counted once
    bool tied;                    // the output matrix is the embedding
    char formats[128];            // "Q4_1 210, F32 61, Q8_0 1": tensors bound, by stored dtype
    uint64_t stored_bytes;        // of bound tensors in the files
    uint64_t embed_bytes, head_bytes, layer_bytes; // stored bytes by part (head 0 when tied)
    uint64_t packed_bytes;        // weights as the backend keeps them
    uint64_t cache_token_bytes;   // paged cache a token
    uint64_t state_bytes;         // recurrent state of one stream
    uint64_t planned_context;     // tokens a stream may hold under `options`
    uint64_t cache_bytes, scratch_bytes, total_bytes; // planned under `options`
    uint64_t token_read_bytes;    // packed bytes that one decoded token reads
    size_t n_unknown;             // stored tensors that no module here uses
    const char *const *unknown;   // their names; owned by the info, freed by model_info_fini
};

// Detects the family, binds every tensor by name and shape and plans memory, without reading weights. One error names
// file and tensor or key.
enum status model_inspect(const struct checkpoint *c, struct backend *b, const struct model_options *options,
                          struct model_info *info, struct err *e) TF_MUST_CHECK;
void model_info_fini(struct model_info *info);

// Loads the weights. The backend must outlive the model; the checkpoint may be closed afterwards. Memory is as planned
// by model_inspect under the same options; source pages are released tensor by tensor.
enum status model_open(const struct checkpoint *c, struct backend *b, const struct model_options *options,
                       const struct log *log, struct model **out, struct err *e) TF_MUST_CHECK;

// Every end-of-sequence id that config.json, generation_config.json or the GGUF metadata names, each once.
enum status model_end_ids(const struct checkpoint *c, int32_t *ids, size_t cap, size_t *n, struct err *e) TF_MUST_CHECK;

#endif
