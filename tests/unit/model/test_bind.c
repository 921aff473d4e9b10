// Settings and tensors of a checkpoint: what is refused, and that the message names the key or the tensor.
#include "tests/unit/model/tiny.h"

static const struct model_options no_options = {0};

// Inspects `t` and expects a refusal whose message has both words.
static void expect_refusal(struct tiny *t, const char *name, const char *word) {
    struct tiny_result r = tiny_inspect(t, &no_options);
    if (r.status == STATUS_OK)
        test_fail(__FILE__, __LINE__, "expected a refusal that names %s", name);
    else if (!strstr(r.e.message, name) || !strstr(r.e.message, word)) {
        test_fail(__FILE__, __LINE__, "expected a message with %s and %s, got: %s", name, word, r.e.message);
    }
}

static void describes_a_whole_checkpoint(void) {
    struct tiny t;
    tiny_init(&t);
    struct tiny_result r = tiny_inspect(&t, &no_options);
    const struct model_info *info = &r.info;
    CHECK_TEXT("", r.e.message);
    CHECK_TEXT("llama", info->family);
    CHECK_INT(8, info->head_dim);
    CHECK(!info->tied);
    uint64_t layer = 32 + 1024 + 512 + 512 + 1024 + 32 + 3 * 2048;
    CHECK_INT(2 * 48 * 32 + 32 + 2 * layer, info->parameters);
    CHECK_INT(info->parameters * 4, info->stored_bytes);
    CHECK_INT(2 * layer * 4, info->layer_bytes);
    CHECK_INT(48 * 32 * 4, info->head_bytes);
    CHECK_INT(info->packed_bytes - 48 * 32 * 4, info->token_read_bytes);
    CHECK_TEXT("F32 21", info->formats);
    CHECK_INT(2 * 2 * 16 * 4, info->cache_token_bytes);
    CHECK_INT(256, info->planned_context);
    CHECK_INT(256 * info->cache_token_bytes, info->cache_bytes);
    CHECK_TEXT("", r.unknown);
}

static void lists_tensors_of_modules_that_do_not_run(void) {
    struct tiny t;
    tiny_init(&t);
    tiny_add(&t, "mtp.fc.weight", 4, 4);
    tiny_add(&t, "model.layers.2.self_attn.q_proj.weight", 32, 32);
    tiny_add(&t, "model.visual.patch.bias", 4, 0);
    tiny_add(&t, "model.layers.0.self_attn.rotary_emb.inv_freq", 4, 0);
    struct tiny_result r = tiny_inspect(&t, &no_options);
    CHECK_TEXT("", r.e.message);
    CHECK_TEXT("model.layers.2.self_attn.q_proj.weight model.visual.patch.bias mtp.fc.weight", r.unknown);
}

static void ties_the_head_where_the_settings_say_so(void) {
    struct tiny t;
    tiny_init(&t);
    t.settings = TINY_SETTINGS ",\"tie_word_embeddings\":true";
    tiny_remove(&t, "lm_head.weight");
    struct tiny_result r = tiny_inspect(&t, &no_options);
    CHECK_TEXT("", r.e.message);
    CHECK(r.info.tied);
    CHECK_INT(r.info.packed_bytes, r.info.token_read_bytes);
    tiny_init(&t);
    t.settings = TINY_SETTINGS ",\"tie_word_embeddings\":true"; // but a head is stored: it may differ, so it counts
    r = tiny_inspect(&t, &no_options);
    CHECK_TEXT("", r.e.message);
    CHECK(!r.info.tied);
    CHECK_INT(48 * 32 * 4, r.info.head_bytes);
    CHECK_TEXT("", r.unknown);
    tiny_init(&t);
    tiny_remove(&t, "lm_head.weight");
    expect_refusal(&t, "lm_head.weight", "missing");
}

static void names_a_tensor_that_is_missing_or_has_another_shape(void) {
    struct tiny t;
    tiny_init(&t);
    tiny_remove(&t, "model.layers.1.mlp.up_proj.weight");
    expect_refusal(&t, "model.layers.1.mlp.up_proj.weight", "missing");
    tiny_init(&t);
    tiny_find(&t, "model.layers.1.self_attn.k_proj.weight")->rows = 32;
    expect_refusal(&t, "model.layers.1.self_attn.k_proj.weight", "[16, 32], got [32, 32]");
    tiny_init(&t);
    tiny_find(&t, "model.norm.weight")->columns = 1;
    expect_refusal(&t, "model.norm.weight", "[32], got [32, 1]");
    tiny_init(&t);
    tiny_find(&t, "model.layers.0.mlp.gate_proj.weight")->dtype = "I64";
    expect_refusal(&t, "model.layers.0.mlp.gate_proj.weight", "I64");
    tiny_init(&t);
    tiny_find(&t, "model.norm.weight")->dtype = "I32";
    expect_refusal(&t, "model.norm.weight", "model.safetensors");
}

static void refuses_extra_tensors_of_modules_that_run(void) {
    static const char *const extra[] = {"model.layers.0.self_attn.q_proj.bias",
                                        "model.layers.0.self_attn.q_proj.weight_scale",
                                        "model.layers.1.self_attn.q_norm.weight",
                                        "model.layers.1.mlp.gate.weight",
                                        "lm_head.bias",
                                        "model.norm.bias",
                                        "model.embed_tokens.scales"};
    for (size_t i = 0; i < sizeof extra / sizeof extra[0]; i++) {
        struct tiny t;
        tiny_init(&t);
        tiny_add(&t, extra[i], 32, 0);
        expect_refusal(&t, extra[i], "model.safetensors");
    }
}

static void wants_the_biases_that_the_settings_name(void) {
    struct tiny t;
    tiny_init(&t);
    t.settings = TINY_SETTINGS ",\"attention_bias\":true";
    for (int l = 0; l < 2; l++) {
        static const char *const names[] = {"q", "k", "v", "o"};
        for (int i = 0; i < 4; i++) {
            char name[96];
            snprintf(name, sizeof name, "model.layers.%d.self_attn.%s_proj.bias", l, names[i]);
            tiny_add(&t, name, i == 1 || i == 2 ? 16 : 32, 0);
        }
    }
    struct tiny whole = t;
    struct tiny_result r = tiny_inspect(&whole, &no_options);
    CHECK_TEXT("", r.e.message);
    tiny_remove(&t, "model.layers.1.self_attn.v_proj.bias");
    expect_refusal(&t, "model.layers.1.self_attn.v_proj.bias", "missing");
}

static void refuses_settings_by_their_key(void) {
    static const struct {
        const char *settings, *key, *word;
    } faults[] = {
        {TINY_SETTINGS ",\"hidden_act\":\"gelu\"", "hidden_act", "gelu"},
        {TINY_SETTINGS ",\"sliding_window\":4096", "sliding_window", "config.json"},
        {TINY_SETTINGS ",\"partial_rotary_factor\":0.5", "partial_rotary_factor", "0.5"},
        {TINY_SETTINGS ",\"rope_parameters\":{\"rope_type\":\"yarn\"}", "rope_parameters.rope_type", "yarn"},
        {TINY_SETTINGS ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}", "rope_scaling.type", "linear"},
        {TINY_SETTINGS ",\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8}", "rope_scaling.low_freq_factor",
         ""},
        {TINY_SETTINGS ",\"rope_parameters\":{\"full_attention\":{}}", "rope_parameters.full_attention", ""},
        {TINY_SETTINGS ",\"rope_theta\":-1", "rope_theta", "positive"},
        {TINY_SETTINGS ",\"quantization_config\":{\"bits\":4}", "quantization_config", ""},
        {TINY_SETTINGS ",\"layer_types\":[\"full_attention\"]", "layer_types", "length"},
        {TINY_SETTINGS ",\"layer_types\":[\"full_attention\",\"linear_attention\"]", "layer_types",
         "linear_attention"},
        {TINY_SETTINGS ",\"head_dim\":7", "7", "pairs"},
        {TINY_SETTINGS ",\"tie_word_embeddings\":\"yes\"", "tie_word_embeddings", "config.json"},
        {"\"model_type\":\"llama\"", "vocab_size", "config.json"},
        {"\"model_type\":\"mamba\"", "model_type", "mamba"},
        {"\"hidden_size\":3", "model_type", "config.json"},
        {"\"model_type\":\"llama\",\"vocab_size\":48,\"hidden_size\":32,\"num_hidden_layers\":1000000000",
         "num_hidden_layers", "1000000000"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct tiny t;
        tiny_init(&t);
        t.settings = faults[i].settings;
        expect_refusal(&t, faults[i].key, faults[i].word);
    }
}

static void plans_no_more_rows_than_streams_hold(void) {
    struct tiny t;
    tiny_init(&t);
    struct tiny_result most = tiny_inspect(&t, &(struct model_options){.rows_max = 256});
    tiny_init(&t);
    struct tiny_result wide = tiny_inspect(&t, &(struct model_options){.rows_max = 1 << 16});
    CHECK_TEXT("", wide.e.message);
    CHECK_INT(most.info.total_bytes, wide.info.total_bytes);
}

static void plans_a_context_that_memory_holds(void) {
    struct tiny t;
    uint64_t last = 0;
    tiny_init(&t);
    struct tiny_result whole = tiny_inspect(&t, &no_options);
    for (uint64_t left = 0; left <= whole.info.cache_bytes; left += 16384) {
        tiny_init(&t);
        uint64_t limit = whole.info.total_bytes - whole.info.cache_bytes + left;
        struct tiny_result r = tiny_inspect(&t, &(struct model_options){.memory_limit_bytes = limit});
        if (r.status != STATUS_OK) {
            CHECK_INT(STATUS_NO_MEMORY, r.status);
            CHECK_INT(0, last);
            continue;
        }
        CHECK(r.info.total_bytes <= limit);
        CHECK(r.info.planned_context >= last); // more memory never gives less
        last = r.info.planned_context;
    }
    CHECK_INT(256, last);
    tiny_init(&t);
    struct tiny_result r = tiny_inspect(&t, &(struct model_options){.context = 300});
    CHECK_INT(STATUS_INVALID, r.status);
    CHECK(strstr(r.e.message, "300") && strstr(r.e.message, "256"));
    tiny_init(&t);
    r = tiny_inspect(&t, &(struct model_options){.context = 100, .n_slots = 3});
    CHECK_INT(100, r.info.planned_context);
    CHECK_INT(3 * 128 * r.info.cache_token_bytes, r.info.cache_bytes);
    tiny_init(&t);
    r = tiny_inspect(&t, &(struct model_options){.context = 256, .memory_limit_bytes = 1000});
    CHECK_INT(STATUS_NO_MEMORY, r.status);
}

static const struct test_case cases[] = {
    {"describes a whole checkpoint from its headers", describes_a_whole_checkpoint},
    {"lists tensors of modules that do not run", lists_tensors_of_modules_that_do_not_run},
    {"ties the head where the settings say so", ties_the_head_where_the_settings_say_so},
    {"names a tensor that is missing or has another shape", names_a_tensor_that_is_missing_or_has_another_shape},
    {"refuses extra tensors of modules that run", refuses_extra_tensors_of_modules_that_run},
    {"wants the biases that the settings name", wants_the_biases_that_the_settings_name},
    {"refuses settings by their key", refuses_settings_by_their_key},
    {"plans no more rows a round than streams hold tokens", plans_no_more_rows_than_streams_hold},
    {"plans a context that memory holds", plans_a_context_that_memory_holds},
};
TEST_MAIN("model/bind", cases)
