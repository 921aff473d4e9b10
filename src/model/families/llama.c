// The llama family: grouped-query attention with full rotary positions and a gated MLP, norms before both.
#include "model/arch.h"

#define LAYER "layers.%u."
#define BLOCK "blk.%u."

static const struct arch_setting settings[] = {
    {DIM_VOCAB, "vocab_size", "vocab_size", DIM_NONE},
    {DIM_HIDDEN, "hidden_size", "embedding_length", DIM_NONE},
    {DIM_LAYERS, "num_hidden_layers", "block_count", DIM_NONE},
    {DIM_INTERMEDIATE, "intermediate_size", "feed_forward_length", DIM_NONE},
    {DIM_HEADS, "num_attention_heads", "attention.head_count", DIM_NONE},
    {DIM_KV_HEADS, "num_key_value_heads", "attention.head_count_kv", DIM_HEADS},
    {DIM_HEAD, "head_dim", "attention.key_length", DIM_HIDDEN}, // then a head's share of it
    {DIM_CONTEXT, "max_position_embeddings", "context_length", DIM_NONE},
};

static const struct arch_fixed hf_fixed[] = {
    {.key = "hidden_act", .text = "silu"},
    {.key = "sliding_window"},
    {.key = "partial_rotary_factor", .number = 1, .has_number = true},
    {.key = "rope_parameters.partial_rotary_factor", .number = 1, .has_number = true},
    {.key = "rope_scaling.partial_rotary_factor", .number = 1, .has_number = true},
    {.key = "num_local_experts", .number = 0, .has_number = true},
    {.key = "attn_logit_softcapping"},
    {.key = "final_logit_softcapping"},
    {.key = "embedding_multiplier", .number = 1, .has_number = true},
    {.key = "residual_multiplier", .number = 1, .has_number = true},
    {.key = "attention_multiplier"},
    {.key = "logits_scaling", .number = 1, .has_number = true},
    {.key = "quantization_config"},
    {.key = "quantization"},
    {.key = NULL},
};

static const struct arch_fixed gguf_fixed[] = {
    {.key = "rope.scaling.type", .text = "none"},
    {.key = "rope.scale_linear", .number = 1, .has_number = true},
    {.key = "attention.sliding_window", .number = 0, .has_number = true},
    {.key = "expert_count", .number = 0, .has_number = true},
    {.key = "attn_logit_softcapping"},
    {.key = "final_logit_softcapping"},
    {.key = "embedding_scale", .number = 1, .has_number = true},
    {.key = "residual_scale", .number = 1, .has_number = true},
    {.key = "attention.scale"},
    {.key = "logit_scale", .number = 1, .has_number = true},
    {.key = NULL},
};

static const struct arch_tensor tensors[] = {
    {ROLE_EMBED, "embed_tokens", "token_embd", DIM_VOCAB, DIM_HIDDEN, BIAS_NONE, 0},
    {ROLE_FINAL_NORM, "norm", "output_norm", DIM_HIDDEN, DIM_NONE, BIAS_NONE, 0},
    {ROLE_HEAD, "lm_head", "output", DIM_VOCAB, DIM_HIDDEN, BIAS_NONE, TENSOR_TIED},
    {ROLE_ROPE_FACTORS, NULL, "rope_freqs", DIM_ROPE_PAIRS, DIM_NONE, BIAS_NONE, TENSOR_OPTIONAL},
};

// clang-format off
static const struct arch_tensor layer_tensors[] = {
    {ROLE_MIXER_NORM, LAYER "input_layernorm", BLOCK "attn_norm", DIM_HIDDEN, DIM_NONE, BIAS_NONE, 0},
    {ROLE_Q, LAYER "self_attn.q_proj", BLOCK "attn_q", DIM_Q, DIM_HIDDEN, BIAS_ATTENTION, TENSOR_GGUF_ROPE_PAIRS},
    {ROLE_K, LAYER "self_attn.k_proj", BLOCK "attn_k", DIM_KV, DIM_HIDDEN, BIAS_ATTENTION, TENSOR_GGUF_ROPE_PAIRS},
    {ROLE_V, LAYER "self_attn.v_proj", BLOCK "attn_v", DIM_KV, DIM_HIDDEN, BIAS_ATTENTION, 0},
    {ROLE_O, LAYER "self_attn.o_proj", BLOCK "attn_output", DIM_HIDDEN, DIM_Q, BIAS_ATTENTION, 0},
    {ROLE_MLP_NORM, LAYER "post_attention_layernorm", BLOCK "ffn_norm", DIM_HIDDEN, DIM_NONE, BIAS_NONE, 0},
    {ROLE_GATE, LAYER "mlp.gate_proj", BLOCK "ffn_gate", DIM_INTERMEDIATE, DIM_HIDDEN, BIAS_MLP, 0},
    {ROLE_UP, LAYER "mlp.up_proj", BLOCK "ffn_up", DIM_INTERMEDIATE, DIM_HIDDEN, BIAS_MLP, 0},
    {ROLE_DOWN, LAYER "mlp.down_proj", BLOCK "ffn_down", DIM_HIDDEN, DIM_INTERMEDIATE, BIAS_MLP, 0},
};
// clang-format on

static const enum step layer_steps[] = {
    STEP_MIXER_NORM, STEP_QKV,      STEP_ROPE,    STEP_STORE,  STEP_ATTEND,
    STEP_OUT,        STEP_MLP_NORM, STEP_GATE_UP, STEP_SWIGLU, STEP_DOWN,
};

const struct family family_llama = {
    .name = "llama",
    .model_types = (const char *const[]){"llama", NULL},
    .gguf_archs = (const char *const[]){"llama", NULL},
    .settings = settings,
    .n_settings = ARCH_COUNT(settings),
    .hf_fixed = hf_fixed,
    .gguf_fixed = gguf_fixed,
    .hf_names = (const struct arch_names[]){{"", "model."}, {NULL, NULL}},
    .hf_layer = LAYER,
    .gguf_layer = BLOCK,
    .hf_inert = (const char *const[]){".rotary_emb.inv_freq", NULL},
    .tensors = tensors,
    .n_tensors = ARCH_COUNT(tensors),
    .layers = {[LAYER_ATTENTION] = {layer_tensors, layer_steps, ARCH_COUNT(layer_tensors), ARCH_COUNT(layer_steps)}},
};
