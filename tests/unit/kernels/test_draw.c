// Drawing a token: greedy and ties, cuts, the noise's law, and the quick way against the plain one.
#include "base/mem.h"
#include "kernels/draw/draw.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

enum { N = 400 };

static int32_t draw(const struct draw_rule *rule, const float *logits, uint64_t token_index) {
    void *scratch = mem_new(1, draw_scratch_bytes(rule->n_ids));
    int32_t id = draw_token(rule, logits, token_index, scratch);
    mem_free(scratch);
    return id;
}

static void greedy_takes_the_lower_id(void) {
    const float logits[6] = {NAN, 1, 3, -0.0f, 3, 9};
    CHECK_INT(2, draw(&(struct draw_rule){.n_ids = 5}, logits, 0));
    const float nothing[3] = {NAN, -INFINITY, NAN}, zeros[3] = {-1, -0.0f, 0.0f};
    CHECK_INT(0, draw(&(struct draw_rule){.n_ids = 3}, nothing, 0));
    CHECK_INT(1, draw(&(struct draw_rule){.n_ids = 3}, zeros, 0));
}

static void cuts_keep_the_lower_id_of_a_tie(void) {
    const float logits[5] = {0, 2, 2, 2, 1};
    for (uint64_t p = 0; p < 200; p++) {
        int32_t id = draw(&(struct draw_rule){.temperature = 1, .top_k = 2, .n_ids = 5}, logits, p);
        CHECK(id == 1 || id == 2);
        CHECK_INT(1, draw(&(struct draw_rule){.temperature = 1, .top_p = 0.1, .n_ids = 5}, logits, p));
        id = draw(&(struct draw_rule){.temperature = 1, .min_p = 1.0, .n_ids = 5}, logits, p);
        CHECK(id >= 1 && id <= 3);
    }
}

static void seed_and_index_choose_the_noise(void) {
    float logits[N];
    for (int i = 0; i < N; i++) logits[i] = 0.0f;
    struct draw_rule rule = {.temperature = 1, .n_ids = N, .seed = 1};
    CHECK_INT(draw(&rule, logits, 7), draw(&rule, logits, 7));
    int32_t first = draw(&rule, logits, 0), same_index = 0, same_seed = 0;
    for (uint64_t i = 1; i <= 50; i++) {
        same_seed += draw(&rule, logits, i) == first;
        struct draw_rule other = rule;
        other.seed += i;
        same_index += draw(&other, logits, 0) == first;
    }
    CHECK(same_seed < 5 && same_index < 5);
}

// Standard Gumbel noise: mean 0.5772, variance 1.6449, median 0.3665, never infinite.
static void noise_follows_its_law(void) {
    enum { SAMPLES = 100000 };
    double sum = 0, squares = 0;
    int below = 0;
    for (uint32_t id = 0; id < SAMPLES; id++) {
        double g = draw_gumbel(5, 11, id);
        CHECK(g > -4 && g < 45);
        sum += g;
        squares += g * g;
        below += g < 0.36651292058166435;
    }
    double mean = sum / SAMPLES;
    CHECK(fabs(mean - 0.5772156649) < 0.02);
    CHECK(fabs(squares / SAMPLES - mean * mean - 1.644934) < 0.06);
    CHECK(abs(below - SAMPLES / 2) < 800);
}

static void quick_equals_plain(void) {
    struct test_random r = {2};
    float *logits = mem_new(N, sizeof *logits);
    void *scratch = mem_new(1, draw_scratch_bytes(N));
    for (int i = 0; i < 3000 && !test_failed(); i++) {
        uint32_t n = 1 + test_random_below(&r, N);
        float step = i % 2 ? 8.0f : 0.01f; // coarse: many ties
        for (uint32_t j = 0; j < n; j++) logits[j] = rintf(8.0f * test_random_float(&r) / step) * step;
        struct draw_rule rule = {.temperature = 0.2 + test_random_below(&r, 3), .n_ids = n};
        rule.seed = test_random_u64(&r);
        if (i % 3) rule.top_k = test_random_below(&r, n + 2);
        if (i % 5) rule.top_p = test_random_below(&r, 1000) / 1000.0;
        if (i % 4 == 0) rule.min_p = test_random_below(&r, 100) / 200.0;
        int32_t want = draw_token_ref(&rule, logits, (uint64_t)i, scratch);
        CHECK_INT(want, draw_token(&rule, logits, (uint64_t)i, scratch));
    }
    mem_free(logits);
    mem_free(scratch);
}

// Probabilities 1/2, 1/4, 1/8, 1/8: over 40,000 tokens each count is within 5 standard deviations.
static void frequencies_follow_softmax(void) {
    const float logits[4] = {2.0794415f, 1.3862944f, 0.6931472f, 0.6931472f};
    const double share[4] = {0.5, 0.25, 0.125, 0.125};
    int seen[4] = {0};
    struct draw_rule rule = {.temperature = 1, .n_ids = 4, .seed = 99};
    for (uint64_t p = 0; p < 40000; p++) seen[draw(&rule, logits, p)]++;
    for (int i = 0; i < 4; i++) CHECK(fabs(seen[i] - 40000 * share[i]) < 5 * sqrt(40000 * share[i] * (1 - share[i])));
}

static const struct test_case cases[] = {
    {"temperature 0 takes the largest logit, the lower id on ties", greedy_takes_the_lower_id},
    {"cuts keep the lower id of a tie", cuts_keep_the_lower_id_of_a_tie},
    {"seed and token index choose the noise", seed_and_index_choose_the_noise},
    {"noise follows Gumbel's law", noise_follows_its_law},
    {"the quick way equals the plain one", quick_equals_plain},
    {"frequencies follow softmax", frequencies_follow_softmax},
};
TEST_MAIN("draw", cases)
