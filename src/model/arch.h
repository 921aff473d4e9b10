// The vocabulary in which a family describes itself: settings, tensors, steps of a layer. Families include only this.
#ifndef TF_MODEL_ARCH_H
#define TF_MODEL_ARCH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAYERS_MAX = 1024 };

// Geometry. Settings fill in the first group, the second follows from it; shapes below name both.
enum dim {
    DIM_NONE,
    DIM_VOCAB,
    DIM_HIDDEN,
    DIM_LAYERS,
    DIM_INTERMEDIATE,
    DIM_HEADS,
    DIM_KV_HEADS,
    DIM_HEAD, // size of one query and key head
    DIM_CONTEXT,
    DIM_Q,          // heads * head size
    DIM_KV,         // kv heads * head size
    DIM_ROPE_PAIRS, // rotated pairs of a head
    DIM_COUNT
};

// One geometry setting. GGUF keys stand behind "<architecture>.". Absent: `otherwise` names the dim it equals then;
// DIM_NONE makes the key required.
struct arch_setting {
    enum dim dim;
    const char *hf, *gguf;
    enum dim otherwise;
};

// A setting that changes the mathematics and is served in one value only: anything else is refused by its key.
struct arch_fixed {
    const char *key;  // GGUF: behind "<architecture>."
    const char *text; // the one value, for a text setting
    double number;    // the one value, for a number; with neither text nor `has_number` the key must be absent
    bool has_number;
};

// Places a weight can take. Roles from ROLE_LAYER_FIRST on repeat for every layer that has them.
enum role {
    ROLE_EMBED,
    ROLE_HEAD,
    ROLE_FINAL_NORM,
    ROLE_ROPE_FACTORS, // GGUF: divides the rope frequencies
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
    ROLE_COUNT
};

// Which setting says that a linear has a bias.
enum bias { BIAS_NONE, BIAS_ATTENTION, BIAS_MLP, BIAS_COUNT };

enum tensor_flags {
    TENSOR_OPTIONAL = 1,        // may be absent
    TENSOR_TIED = 2,            // where none is stored and the settings say so, ROLE_EMBED serves instead
    TENSOR_GGUF_ROPE_PAIRS = 4, // GGUF stores its rows as interleaved rotation pairs a head: undone at bind
};

// One weight: its module's names (%u is the layer; NULL = the format has none), to which ".weight" and ".bias" are
// added, and its shape, outermost first.
struct arch_tensor {
    enum role role;
    const char *hf, *gguf;
    enum dim rows, columns; // columns DIM_NONE: a vector
    enum bias bias;
    uint32_t flags;
};

// What a layer does, in order. h is the residual stream, n the normed rows.
enum step {
    STEP_MIXER_NORM, // n = norm(h)
    STEP_QKV,        // q, k, v = products of n
    STEP_ROPE,       // q and k turned by their positions
    STEP_STORE,      // k and v to the paged cache
    STEP_ATTEND,     // q over the cache
    STEP_OUT,        // h += o(attended)
    STEP_MLP_NORM,   // n = norm(h)
    STEP_GATE_UP,    // gate, up = products of n
    STEP_SWIGLU,     // gate = silu(gate) * up
    STEP_DOWN,       // h += down(gate)
    STEP_COUNT
};

enum layer_kind { LAYER_ATTENTION, LAYER_KIND_COUNT };

// One kind of layer: the weights it has and the steps it takes.
struct arch_layer {
    const struct arch_tensor *tensors;
    const enum step *steps;
    uint32_t n_tensors, n_steps;
};

// A family: one const description in families/<name>.c, listed in families.def.
struct family {
    const char *name;               // "llama"
    const char *const *model_types; // config.json model_type values, NULL-terminated
    const char *const *gguf_archs;  // general.architecture values, NULL-terminated
    const struct arch_setting *settings;
    const struct arch_fixed *hf_fixed, *gguf_fixed; // up to an entry without a key
    const char *hf_layer, *gguf_layer;              // what a layer's tensor names begin with: "model.layers.%u."
    const char *const *hf_inert; // tensors of a running layer that hold no weight: ends of names, NULL-terminated
    const struct arch_tensor *tensors;
    uint32_t n_settings, n_tensors;
    struct arch_layer layers[LAYER_KIND_COUNT];
};

#define ARCH_COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

// The llama3 rule of rope scaling; factor 0: none.
struct arch_rope {
    double theta;
    double factor, low_freq_factor, high_freq_factor, original_context;
};

enum presence { PRESENCE_NONE, PRESENCE_OPTIONAL, PRESENCE_REQUIRED };

// One checkpoint's settings, read and checked.
struct arch {
    const struct family *family;
    uint64_t dim[DIM_COUNT];
    float norm_eps;
    struct arch_rope rope;
    bool tied; // the head is the embedding: none is stored, and the settings say so (GGUF: nothing has to)
    enum presence bias[BIAS_COUNT];
    uint8_t layer_kind[LAYERS_MAX]; // enum layer_kind, [layers]
};

#endif
