// The vocabulary in which a family describes itself: settings, tensors and the steps of a layer. Families include only this.
#ifndef TF_MODEL_ARCH_H
#define TF_MODEL_ARCH_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

// Geometry that settings fill in; shapes below name these.
enum dim {
    DIM_NONE,
    DIM_VOCAB,
    DIM_HIDDEN,
    DIM_LAYERS,
    DIM_INTERMEDIATE,
    DIM_HEADS,
    DIM_KV_HEADS,
    DIM_HEAD,     // size of one query and key head
    DIM_CONTEXT,
    DIM_Q,        // heads * head size
    DIM_KV,       // kv heads * head size
    DIM_COUNT
};

// Places a weight can take. Per-layer roles repeat for every layer that has them.
enum role {
    ROLE_EMBED,
    ROLE_HEAD,
    ROLE_FINAL_NORM,
    ROLE_LAYER_FIRST,
    ROLE_MIXER_NORM = ROLE_LAYER_FIRST,
    ROLE_Q,
    ROLE_K,
    ROLE_V,
    ROLE_O,
    ROLE_MLP_NORM,
    ROLE_GATE,
    ROLE_UP,
    ROLE_DOWN,
    ROLE_Q_BIAS,
    ROLE_K_BIAS,
    ROLE_V_BIAS,
    ROLE_O_BIAS,
    ROLE_GATE_BIAS,
    ROLE_UP_BIAS,
    ROLE_DOWN_BIAS,
    ROLE_ROPE_FACTORS, // GGUF: divides the rope frequencies
    ROLE_COUNT
};

enum tensor_flags {
    TENSOR_OPTIONAL = 1,        // may be absent (biases)
    TENSOR_TIED = 2,            // when absent, ROLE_EMBED serves
    TENSOR_GGUF_ROPE_PAIRS = 4, // GGUF stores its rows as interleaved rotation pairs a head: undone at bind
};

// One weight: its names (%u is the layer; NULL = the format has none) and shape, outermost first.
struct arch_tensor {
    enum role role;
    const char *hf, *gguf;
    enum dim rows, columns; // columns DIM_NONE: a vector
    uint32_t flags;
};

enum layer_kind { LAYER_ATTENTION, LAYER_KIND_COUNT };

struct arch; // filled by a family's settings()

// A family: one const description in families/<name>.c, listed in families.def.
struct family {
    const char *name;                   // "llama"
    const char *const *model_types;     // config.json model_type values, NULL-terminated
    const char *const *gguf_archs;      // general.architecture values, NULL-terminated
    const struct arch_tensor *tensors;
    uint32_t n_tensors;
};

#endif
