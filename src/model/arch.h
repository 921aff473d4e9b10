// The vocabulary in which a family describes itself: settings, tensors, steps of a layer. Families include only this.
#ifndef TF_MODEL_ARCH_H
#define TF_MODEL_ARCH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAYERS_MAX = 1024 };

// Geometry. Settings fill in the first group, the second follows from it; shapes below name both. DELTA: of the gated
// delta rule in layers of linear attention.
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
    DIM_DELTA_K_HEADS,
    DIM_DELTA_V_HEADS,
    DIM_DELTA_K, // size of one of its key heads
    DIM_DELTA_V, // size of one of its value heads
    DIM_DELTA_TAPS,
    DIM_Q,              // heads * head size
    DIM_Q_GATED,        // 2 * DIM_Q: each query head has a gate beside it
    DIM_KV,             // kv heads * head size
    DIM_ROPE_PAIRS,     // rotated pairs of a head
    DIM_DELTA_CHANNELS, // of the convolution: queries, keys, values
    DIM_DELTA_VALUES,   // value heads * their size
    DIM_COUNT
};

// One geometry setting. GGUF keys stand behind "<architecture>.". Absent: `otherwise` names the dim it equals then;
// DIM_NONE makes the key required.
struct arch_setting {
    enum dim dim;
    const char *hf, *gguf;
    enum dim otherwise;
};

// A setting that changes the mathematics and is served in one meaning only: anything else is refused by its key.
// Without a text, a number or a truth the key must be absent.
struct arch_fixed {
    const char *key;            // GGUF: behind "<architecture>."
    const char *text, *or_text; // the one value, for a text setting, and another word for it
    double number;              // the one value, for a number
    bool has_number;
    bool truth, has_truth; // the one value, for true or false
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
    ROLE_Q_NORM, // of every query head
    ROLE_K_NORM, // of every key head
    ROLE_DELTA_U,    // queries, keys and values before the convolution
    ROLE_DELTA_GATE, // of the delta rule's output
    ROLE_DELTA_A,    // what the decay is made of
    ROLE_DELTA_B,    // what the step size is made of
    ROLE_DELTA_TAPS, // weights of the convolution
    ROLE_DELTA_DECAY,
    ROLE_DELTA_DT_BIAS,
    ROLE_DELTA_NORM, // of every value head of the delta rule's output
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
    TENSOR_BARE = 8,            // its name is the module's, without ".weight"
    TENSOR_ZERO_CENTRED = 16,   // a norm that stores w for 1 + w, unless the checkpoint's TENSOR_TAPS lie converted
    TENSOR_NEGATED_EXP = 32,    // a vector that stores log v for -v
    TENSOR_TAPS = 64,           // floats [rows][columns], stored [rows, 1, columns], or converted [rows, columns, 1]
    TENSOR_GATED_HEADS = 128,   // rows a head: its queries, then its gates; at bind all queries go before all gates
};

// One weight: its module's names (%u is the layer; NULL = the format has none), to which ".weight" and ".bias" are
// added, and its shape, outermost first.
struct arch_tensor {
    enum role role;
    const char *hf, *gguf; // hf: behind one of the family's arch_names
    enum dim rows, columns; // columns DIM_NONE: a vector
    enum bias bias;
    uint32_t flags;
};

// What the names of a published checkpoint begin with: ROLE_HEAD's, and all others'.
struct arch_names {
    const char *head, *body;
};

// What a layer does, in order. h is the residual stream, n the normed rows, m what its mixer gives.
enum step {
    STEP_MIXER_NORM,    // n = norm(h)
    STEP_QKV,           // q, k, v = products of n
    STEP_HEAD_NORM,     // q and k normed a head
    STEP_ROPE,          // q and k turned by their positions
    STEP_STORE,         // k and v to the paged cache
    STEP_ATTEND,        // m = q over the cache
    STEP_OUT_GATE,      // m = m * sigmoid(gates that lie behind q)
    STEP_DELTA_PROJECT, // u, gate, a, b = products of n
    STEP_DELTA,         // m = delta rule of u, a, b over the recurrent state
    STEP_DELTA_NORM,    // m = norm of each head of m * silu(gate)
    STEP_OUT,           // h += o(m)
    STEP_MLP_NORM,      // n = norm(h)
    STEP_GATE_UP,       // gate, up = products of n
    STEP_SWIGLU,        // gate = silu(gate) * up
    STEP_DOWN,          // h += down(gate)
    STEP_COUNT
};

enum layer_kind { LAYER_ATTENTION, LAYER_DELTA, LAYER_KIND_COUNT };

// One kind of layer: the weights it has and the steps it takes.
struct arch_layer {
    const struct arch_tensor *tensors;
    const enum step *steps;
    uint32_t n_tensors, n_steps; // no steps: the family has no such layer
};

// A family: one const description in families/<name>.c, listed in families.def.
struct family {
    const char *name;               // "llama"
    const char *const *model_types; // config.json model_type values, NULL-terminated
    const char *const *gguf_archs;  // general.architecture values, NULL-terminated
    const char *hf_nested;          // the object of config.json that may hold all settings; NULL = none
    const struct arch_setting *settings;
    const struct arch_fixed *hf_fixed, *gguf_fixed; // up to an entry without a key
    const struct arch_names *hf_names;              // up to an entry without a body
    const char *hf_layer, *gguf_layer;              // what a layer's tensor names begin with: "layers.%u."
    const char *const *hf_inert; // tensors of a running layer that hold no weight: ends of names, NULL-terminated
    const struct arch_tensor *tensors;
    uint32_t n_settings, n_tensors;
    struct arch_layer layers[LAYER_KIND_COUNT];
    uint32_t interval;     // each layer of so many attends where the settings do not say; 0 = all
    double partial_rotary; // share of a head that is turned where the settings do not say; 0 = all, whatever they say
};

#define ARCH_COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

// Rotary positions, and the llama3 rule of scaling them; factor 0: none.
struct arch_rope {
    uint32_t dims; // values of a head that the settings have turned: odd counts leave the last pair half used
    double theta;
    double factor, low_freq_factor, high_freq_factor, original_context;
};

enum presence { PRESENCE_NONE, PRESENCE_OPTIONAL, PRESENCE_REQUIRED };

// One checkpoint's settings, read and checked.
struct arch {
    const struct family *family;
    const struct arch_names *names; // those that its tensors have
    uint64_t dim[DIM_COUNT];
    float norm_eps;
    struct arch_rope rope;
    bool tied; // the head is the embedding: none is stored, and the settings say so (GGUF: nothing has to)
    enum presence bias[BIAS_COUNT];
    uint32_t n_kind[LAYER_KIND_COUNT]; // layers of each kind
    uint8_t layer_kind[LAYERS_MAX];    // enum layer_kind, [layers]
    uint16_t layer_place[LAYERS_MAX];  // how many layers of its kind come before it, [layers]
};

#endif
