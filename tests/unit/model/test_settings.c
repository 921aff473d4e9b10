// The ways in which config.json spells settings, with the values that transformers reads out of each.
#include "model/settings.h"
#include "tests/unit/model/tiny.h"

#define LLAMA3 "\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4"
#define OLD_LLAMA3 "\"type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4"
#define ORIGINAL "\"original_max_position_embeddings\":64"

static const struct spelling {
    const char *rope;
    double theta, factor, original;
} spellings[] = {
    {"", 10000, 0, 0},
    {",\"rope_theta\":500", 500, 0, 0},
    {",\"rope_theta\":500,\"rope_scaling\":null", 500, 0, 0},
    {",\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":500}", 500, 0, 0},
    {",\"rope_parameters\":{" LLAMA3 "," ORIGINAL ",\"rope_theta\":500}", 500, 8, 64},
    {",\"rope_theta\":500,\"rope_parameters\":{" LLAMA3 "," ORIGINAL "}", 500, 8, 64},
    {",\"rope_theta\":500,\"rope_scaling\":{" LLAMA3 "," ORIGINAL "}", 500, 8, 64},
    {",\"rope_theta\":500,\"rope_scaling\":{" OLD_LLAMA3 "," ORIGINAL "}", 500, 8, 64},
    // The dictionary's own theta goes before the one beside it.
    {",\"rope_theta\":500,\"rope_scaling\":{" LLAMA3 "," ORIGINAL ",\"rope_theta\":700}", 700, 8, 64},
    // rope_scaling goes before rope_parameters, theta included, unless it is empty.
    {",\"rope_scaling\":{\"type\":\"default\",\"rope_theta\":700},\"rope_parameters\":{" LLAMA3 "," ORIGINAL
     ",\"rope_theta\":500}",
     700, 0, 0},
    {",\"rope_scaling\":{},\"rope_parameters\":{" LLAMA3 "," ORIGINAL ",\"rope_theta\":500}", 500, 8, 64},
    // The length before scaling: at the top, in the dictionary, else the context.
    {",\"rope_parameters\":{" LLAMA3 "," ORIGINAL "},\"original_max_position_embeddings\":128", 10000, 8, 128},
    {",\"rope_parameters\":{" LLAMA3 "}", 10000, 8, 256},
};

static void reads_rope_in_every_spelling(void) {
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const struct spelling *s = &spellings[i];
        char settings[1024];
        snprintf(settings, sizeof settings, "%s%s", TINY_SETTINGS, s->rope);
        struct tiny t;
        struct checkpoint *c = NULL;
        struct arch a = {0};
        struct err e = {0};
        tiny_init(&t);
        t.settings = settings;
        CHECK(tiny_write(&t));
        enum status status = checkpoint_open(t.folder, &c, &e);
        if (status == STATUS_OK) status = settings_read(c, &a, &e);
        checkpoint_close(c);
        tiny_delete(&t);
        if (status != STATUS_OK) test_fail(__FILE__, __LINE__, "%s: %s", s->rope, e.message);
        const struct arch_rope *r = &a.rope;
        if (r->theta == s->theta && r->factor == s->factor && r->original_context == s->original) continue;
        test_fail(__FILE__, __LINE__, "%s: expected theta %g, factor %g, original %g, got %g, %g, %g", s->rope,
                  s->theta, s->factor, s->original, r->theta, r->factor, r->original_context);
    }
}

#define HYBRID                                                                                                       \
    "\"vocab_size\":48,\"hidden_size\":32,\"num_hidden_layers\":6,\"intermediate_size\":64,"                           \
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":20,\"max_position_embeddings\":256,"           \
    "\"linear_num_key_heads\":2,\"linear_num_value_heads\":6,\"linear_key_head_dim\":8,"                             \
    "\"linear_value_head_dim\":10,\"linear_conv_kernel_dim\":4"
#define TEXT "{\"model_type\":\"qwen3_5_text\"," HYBRID
#define NESTED "{\"model_type\":\"qwen3_5\",\"text_config\":{" HYBRID
#define A "\"full_attention\""
#define L "\"linear_attention\""

static const struct hybrid {
    const char *text, *kinds; // A attends
    double theta;
    uint32_t turned, pairs;
    bool tied;
} hybrids[] = {
    {TEXT "}", "LLLALL", 10000, 5, 3, false},
    {TEXT ",\"full_attention_interval\":2}", "LALALA", 10000, 5, 3, false},
    {TEXT ",\"full_attention_interval\":1}", "AAAAAA", 10000, 5, 3, false},
    {TEXT ",\"full_attention_interval\":9}", "LLLLLL", 10000, 5, 3, false},
    {TEXT ",\"full_attention_interval\":2,\"layer_types\":[" A "," L "," L "," A "," L "," L "]}", "ALLALL", 10000, 5,
     3, false},
    {TEXT ",\"rope_theta\":500,\"partial_rotary_factor\":0.5}", "LLLALL", 500, 10, 5, false},
    {TEXT ",\"partial_rotary_factor\":0.5,\"rope_parameters\":{\"rope_theta\":700,\"partial_rotary_factor\":1}}",
     "LLLALL", 700, 20, 10, false},
    {TEXT ",\"tie_word_embeddings\":true}", "LLLALL", 10000, 5, 3, true},
    {NESTED "}}", "LLLALL", 10000, 5, 3, false},
    {NESTED ",\"rope_parameters\":{\"rope_theta\":700,\"partial_rotary_factor\":0.3,\"type\":\"default\"}}}", "LLLALL",
     700, 6, 3, false},
    {NESTED ",\"tie_word_embeddings\":true}}", "LLLALL", 10000, 5, 3, true},
    {NESTED "},\"tie_word_embeddings\":true}", "LLLALL", 10000, 5, 3, true},
};

static void check_hybrid(const struct hybrid *h, const struct arch *a) {
    char kinds[7] = "";
    for (int i = 0; i < 6; i++) kinds[i] = a->layer_kind[i] == LAYER_ATTENTION ? 'A' : 'L';
    CHECK_TEXT(h->kinds, kinds);
    CHECK(a->rope.theta == h->theta);
    CHECK_INT(h->turned, a->rope.dims);
    CHECK_INT(h->pairs, a->dim[DIM_ROPE_PAIRS]);
    CHECK_INT(h->tied, a->tied);
    CHECK_INT(60, a->dim[DIM_DELTA_VALUES]);
    CHECK_INT(92, a->dim[DIM_DELTA_CHANNELS]);
    CHECK_INT(6, a->n_kind[LAYER_ATTENTION] + a->n_kind[LAYER_DELTA]);
    for (int i = 1; i < 6; i++) { // places count each kind by itself
        uint32_t before = 0;
        for (int j = 0; j < i; j++) before += a->layer_kind[j] == a->layer_kind[i];
        CHECK_INT(before, a->layer_place[i]);
    }
}

static void reads_hybrids_in_every_spelling(void) {
    for (size_t i = 0; i < sizeof hybrids / sizeof hybrids[0]; i++) {
        struct config *c = NULL;
        struct arch a = {0};
        struct err e = {0};
        enum status status = config_parse("config.json", hybrids[i].text, strlen(hybrids[i].text), &c, &e);
        if (status == STATUS_OK) status = settings_parse(c, &a, &e);
        if (status == STATUS_OK)
            check_hybrid(&hybrids[i], &a);
        else
            test_fail(__FILE__, __LINE__, "%s: %s", hybrids[i].text, e.message);
        config_free(c);
    }
}

// What is refused, and a part of the message.
static const struct refusal {
    const char *text, *says;
} refusals[] = {
    {TEXT ",\"rms_norm_eps\":1e300}", "rms_norm_eps: 1e+300 is no positive number in float32"},
    {TEXT ",\"rms_norm_eps\":1e-60}", "rms_norm_eps: 1e-60 is no positive number in float32"},
    {TEXT ",\"rope_theta\":1e-300}", "rope_theta: 1e-300 is under 1"},
    {TEXT ",\"rope_parameters\":{\"rope_theta\":0.5}}", "rope_theta: 0.5 is under 1"},
    {TEXT ",\"rope_parameters\":{\"rope_type\":\"llama3\",\"factor\":1e-300,\"low_freq_factor\":1,"
          "\"high_freq_factor\":4}}",
     "factor: 1e-300 is under 1"},
    {TEXT ",\"rope_parameters\":[1]}", "\"rope_parameters.rope_theta\": expected a finite number"},
    {TEXT ",\"rope_parameters\":\"yarn\"}", "\"rope_parameters.rope_theta\": expected a finite number"},
    {NESTED ",\"rope_parameters\":{\"full_attention\":{}}}}",
     "text_config.rope_parameters.full_attention: rope by kind"},
};

static void refuses_what_would_give_no_numbers(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct config *c = NULL;
        struct arch a = {0};
        struct err e = {0};
        CHECK_INT(STATUS_OK, config_parse("config.json", refusals[i].text, strlen(refusals[i].text), &c, &e));
        enum status status = settings_parse(c, &a, &e);
        if (status == STATUS_OK || !strstr(e.message, refusals[i].says)) {
            test_fail(__FILE__, __LINE__, "%s: expected \"%s\", got \"%s\"", refusals[i].text, refusals[i].says,
                      status == STATUS_OK ? "accepted" : e.message);
        }
        config_free(c);
    }
}

static const struct test_case cases[] = {
    {"reads rotary settings in every spelling", reads_rope_in_every_spelling},
    {"reads hybrids in every spelling", reads_hybrids_in_every_spelling},
    {"refuses what would give no numbers, by its key", refuses_what_would_give_no_numbers},
};
TEST_MAIN("model/settings", cases)
