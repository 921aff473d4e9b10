// The qwen3_5 family: most layers mix by a gated delta rule with a short convolution, each so-manieth attends.
#include "model/arch.h"

#define LAYER "layers.%u."
#define DELTA LAYER "linear_attn."

static const struct arch_setting settings[] = {
    {DIM_VOCAB, "vocab_size", NULL, DIM_NONE},
    {DIM_HIDDEN, "hidden_size", NULL, DIM_NONE},
    {DIM_LAYERS, "num_hidden_layers", NULL, DIM_NONE},
    {DIM_INTERMEDIATE, "intermediate_size", NULL, DIM_NONE},
    {DIM_HEADS, "num_attention_heads", NULL, DIM_NONE},
    {DIM_KV_HEADS, "num_key_value_heads", NULL, DIM_NONE},
    {DIM_HEAD, "head_dim", NULL, DIM_NONE},
    {DIM_CONTEXT, "max_position_embeddings", NULL, DIM_NONE},
    {DIM_DELTA_K_HEADS, "linear_num_key_heads", NULL, DIM_NONE},
    {DIM_DELTA_V_HEADS, "linear_num_value_heads", NULL, DIM_NONE},
    {DIM_DELTA_K, "linear_key_head_dim", NULL, DIM_NONE},
    {DIM_DELTA_V, "linear_value_head_dim", NULL, DIM_NONE},
    {DIM_DELTA_TAPS, "linear_conv_kernel_dim", NULL, DIM_NONE},
};

static const struct arch_fixed hf_fixed[] = {
    {.key = "hidden_act", .text = "silu"},
    {.key = "attn_output_gate", .truth = true, .has_truth = true},
    {.key = "output_gate_type", .text = "silu", .or_text = "swish"}, // of the delta rule's norm
    {.key = "num_experts", .number = 0, .has_number = true},
    {.key = "quantization_config"},
    {.key = "quantization"},
    {.key = NULL},
};

static const struct arch_tensor tensors[] = {
    {ROLE_EMBED, "embed_tokens", NULL, DIM_VOCAB, DIM_HIDDEN, BIAS_NONE, 0},
    {ROLE_FINAL_NORM, "norm", NULL, DIM_HIDDEN, DIM_NONE, BIAS_NONE, TENSOR_ZERO_CENTRED},
    {ROLE_HEAD, "lm_head", NULL, DIM_VOCAB, DIM_HIDDEN, BIAS_NONE, TENSOR_TIED},
};

// clang-format off
#define NORMS_AND_MLP                                                                                                 \
    {ROLE_MIXER_NORM, LAYER "input_layernorm", NULL, DIM_HIDDEN, DIM_NONE, BIAS_NONE, TENSOR_ZERO_CENTRED},           \
    {ROLE_MLP_NORM, LAYER "post_attention_layernorm", NULL, DIM_HIDDEN, DIM_NONE, BIAS_NONE, TENSOR_ZERO_CENTRED},    \
    {ROLE_GATE, LAYER "mlp.gate_proj", NULL, DIM_INTERMEDIATE, DIM_HIDDEN, BIAS_NONE, 0},                             \
    {ROLE_UP, LAYER "mlp.up_proj", NULL, DIM_INTERMEDIATE, DIM_HIDDEN, BIAS_NONE, 0},                                 \
    {ROLE_DOWN, LAYER "mlp.down_proj", NULL, DIM_HIDDEN, DIM_INTERMEDIATE, BIAS_NONE, 0}

static const struct arch_tensor attention_tensors[] = {
    {ROLE_Q, LAYER "self_attn.q_proj", NULL, DIM_Q_GATED, DIM_HIDDEN, BIAS_ATTENTION, TENSOR_GATED_HEADS},
    {ROLE_K, LAYER "self_attn.k_proj", NULL, DIM_KV, DIM_HIDDEN, BIAS_ATTENTION, 0},
    {ROLE_V, LAYER "self_attn.v_proj", NULL, DIM_KV, DIM_HIDDEN, BIAS_ATTENTION, 0},
    {ROLE_Q_NORM, LAYER "self_attn.q_norm", NULL, DIM_HEAD, DIM_NONE, BIAS_NONE, TENSOR_ZERO_CENTRED},
    {ROLE_K_NORM, LAYER "self_attn.k_norm", NULL, DIM_HEAD, DIM_NONE, BIAS_NONE, TENSOR_ZERO_CENTRED},
    {ROLE_O, LAYER "self_attn.o_proj", NULL, DIM_HIDDEN, DIM_Q, BIAS_ATTENTION, 0},
    NORMS_AND_MLP,
};

static const struct arch_tensor delta_tensors[] = {
    {ROLE_DELTA_TAPS, DELTA "conv1d", NULL, DIM_DELTA_CHANNELS, DIM_DELTA_TAPS, BIAS_NONE, TENSOR_TAPS},
    {ROLE_DELTA_U, DELTA "in_proj_qkv", NULL, DIM_DELTA_CHANNELS, DIM_HIDDEN, BIAS_NONE, 0},
    {ROLE_DELTA_GATE, DELTA "in_proj_z", NULL, DIM_DELTA_VALUES, DIM_HIDDEN, BIAS_NONE, 0},
    {ROLE_DELTA_A, DELTA "in_proj_a", NULL, DIM_DELTA_V_HEADS, DIM_HIDDEN, BIAS_NONE, 0},
    {ROLE_DELTA_B, DELTA "in_proj_b", NULL, DIM_DELTA_V_HEADS, DIM_HIDDEN, BIAS_NONE, 0},
    {ROLE_DELTA_DECAY, DELTA "A_log", NULL, DIM_DELTA_V_HEADS, DIM_NONE, BIAS_NONE, TENSOR_BARE | TENSOR_NEGATED_EXP},
    {ROLE_DELTA_DT_BIAS, DELTA "dt_bias", NULL, DIM_DELTA_V_HEADS, DIM_NONE, BIAS_NONE, TENSOR_BARE},
    {ROLE_DELTA_NORM, DELTA "norm", NULL, DIM_DELTA_V, DIM_NONE, BIAS_NONE, 0},
    {ROLE_O, DELTA "out_proj", NULL, DIM_HIDDEN, DIM_DELTA_VALUES, BIAS_NONE, 0},
    NORMS_AND_MLP,
};
// clang-format on

static const enum step attention_steps[] = {
    STEP_MIXER_NORM, STEP_QKV, STEP_HEAD_NORM, STEP_ROPE,    STEP_STORE,  STEP_ATTEND,
    STEP_OUT_GATE,   STEP_OUT, STEP_MLP_NORM,  STEP_GATE_UP, STEP_SWIGLU, STEP_DOWN,
};

static const enum step delta_steps[] = {
    STEP_MIXER_NORM, STEP_DELTA_PROJECT, STEP_DELTA,  STEP_DELTA_NORM, STEP_OUT,
    STEP_MLP_NORM,   STEP_GATE_UP,       STEP_SWIGLU, STEP_DOWN,
};

const struct family family_qwen3_5 = {
    .name = "qwen3_5",
    .model_types = (const char *const[]){"qwen3_5", "qwen3_5_text", NULL},
    .gguf_archs = (const char *const[]){NULL}, // its files have the value heads in another order
    .hf_nested = "text_config",
    .settings = settings,
    .n_settings = ARCH_COUNT(settings),
    .hf_fixed = hf_fixed,
    .hf_names = (const struct arch_names[]){{"", "model.language_model."},
                                            {"language_model.", "language_model.model."},
                                            {"", "model."},
                                            {NULL, NULL}},
    .hf_layer = LAYER,
    .hf_inert = (const char *const[]){".rotary_emb.inv_freq", NULL},
    .tensors = tensors,
    .n_tensors = ARCH_COUNT(tensors),
    .layers = {[LAYER_ATTENTION] = {attention_tensors, attention_steps, ARCH_COUNT(attention_tensors),
                                    ARCH_COUNT(attention_steps)},
               [LAYER_DELTA] = {delta_tensors, delta_steps, ARCH_COUNT(delta_tensors), ARCH_COUNT(delta_steps)}},
    .interval = 4,
    .partial_rotary = 0.25,
};
