// The ways in which config.json spells rotary positions, with the values that transformers reads out of each.
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

static const struct test_case cases[] = {
    {"reads rotary settings in every spelling", reads_rope_in_every_spelling},
};
TEST_MAIN("model/settings", cases)
