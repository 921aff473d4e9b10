// Attention over a paged cache: rows known by heart, pages in any order, moved tokens, and every set's bits.
#include "base/mem.h"
#include "kernels/attention/attention.h"
#include "tests/support/test.h"

#include <math.h>

enum { KV = 2, GROUP = 3, DIM = 12, PAGES = 3, TOKENS = 150, HEADS = KV * GROUP };

// Two kv heads of a stream of TOKENS tokens whose pages are 2, 0, 1; slots past the last token hold NaN.
struct stream {
    struct attention_cache cache;
    int32_t pages[PAGES];
    float *q, *y, *want, *scratch; // q [TOKENS][HEADS * DIM]; y and want alike
};

static void open_stream(struct stream *s) {
    *s = (struct stream){.cache = {NULL, NULL, KV, DIM, DIM}, .pages = {2, 0, 1}};
    size_t floats = attention_key_page_floats(&s->cache) * PAGES, row = HEADS * DIM;
    s->cache.keys = mem_new(floats, sizeof(float));
    s->cache.values = mem_new(floats, sizeof(float));
    for (size_t i = 0; i < floats; i++) s->cache.keys[i] = s->cache.values[i] = NAN;
    s->q = mem_new(TOKENS * row, sizeof(float));
    s->y = mem_new(TOKENS * row, sizeof(float));
    s->want = mem_new(TOKENS * row, sizeof(float));
    s->scratch = mem_new(attention_scratch_floats(&s->cache, HEADS, TOKENS, TOKENS), sizeof(float));
    struct test_random r = {3};
    for (uint32_t t = 0; t < TOKENS; t++) {
        float key[KV * DIM], value[KV * DIM];
        for (int i = 0; i < KV * DIM; i++) key[i] = test_random_float(&r), value[i] = test_random_float(&r);
        for (size_t i = 0; i < row; i++) s->q[t * row + i] = 3.0f * test_random_float(&r);
        struct attention_row at = {s->pages, NULL, t + 1, 0, t};
        attention_store(&(struct attention_store_args){&s->cache, &at, key, value, KV * DIM, KV * DIM}, 0, 1);
    }
}

static void close_stream(struct stream *s) {
    mem_free(s->cache.keys);
    mem_free(s->cache.values);
    mem_free(s->q);
    mem_free(s->y);
    mem_free(s->want);
    mem_free(s->scratch);
}

static void attend(const struct stream *s, attention_fn *fn, const struct attention_row *rows, uint32_t n, float *y) {
    struct attention_args a = {&s->cache, rows, s->q, y, HEADS * DIM, HEADS * DIM, HEADS, 0.5f};
    for (uint32_t h = 0; h < KV; h++) fn(&a, h, 0, n, s->scratch);
}

static void one_key_gives_its_value(void) {
    struct stream s;
    open_stream(&s);
    struct attention_row row = {s.pages, NULL, 1, 0, 0};
    attend(&s, attention_select(ISA_REF), &row, 1, s.y);
    const float *page = s.cache.values + 2 * attention_value_page_floats(&s.cache);
    for (size_t h = 0; h < HEADS; h++)
        CHECK_BYTES(page + h / GROUP * ATTENTION_PAGE * DIM, s.y + h * DIM, DIM * sizeof(float));
    close_stream(&s);
}

// Queries of zeros weigh all keys alike: the plain mean of the values.
static void equal_scores_give_the_mean(void) {
    struct stream s;
    open_stream(&s);
    for (size_t i = 0; i < HEADS * DIM; i++) s.q[i] = 0.0f;
    struct attention_row row = {s.pages, NULL, 20, 0, 19};
    attend(&s, attention_select(ISA_REF), &row, 1, s.y);
    const float *page = s.cache.values + 2 * attention_value_page_floats(&s.cache);
    for (int d = 0; d < DIM; d++) {
        double sum = 0;
        for (int p = 0; p < 20; p++) sum += (double)page[p * DIM + d];
        CHECK(fabs(sum / 20 - (double)s.y[d]) < 1e-6);
    }
    close_stream(&s);
}

static void every_set_gives_the_same_bits(void) {
    struct stream s;
    open_stream(&s);
    struct attention_row rows[TOKENS];
    for (uint32_t t = 0; t < TOKENS; t++) rows[t] = (struct attention_row){s.pages, NULL, t + 1, 0, t};
    attend(&s, attention_ref, rows, TOKENS, s.want);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        attend(&s, attention_select((enum isa)isa), rows, TOKENS, s.y);
        CHECK_BYTES(s.want, s.y, (size_t)TOKENS * HEADS * DIM * sizeof(float));
    }
    close_stream(&s);
}

// The tokens at positions 100, 101 lie in slots 140, 130; then they are moved to where a chain has them.
static void a_path_equals_the_chain_it_becomes(void) {
    struct stream s;
    open_stream(&s);
    const uint32_t path[2] = {140, 130};
    struct attention_row row = {s.pages, path, 100, 2, 130};
    attend(&s, attention_select(isa_best()), &row, 1, s.want);
    attention_move(&s.cache, s.pages, 140, 100);
    attention_move(&s.cache, s.pages, 130, 101);
    row = (struct attention_row){s.pages, NULL, 102, 0, 101};
    attend(&s, attention_select(isa_best()), &row, 1, s.y);
    CHECK_BYTES(s.want, s.y, HEADS * DIM * sizeof(float));
    close_stream(&s);
}

static const struct test_case cases[] = {
    {"a row that sees one key gets its value", one_key_gives_its_value},
    {"equal scores give the mean of the values", equal_scores_give_the_mean},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
    {"a path equals the chain it becomes", a_path_equals_the_chain_it_becomes},
};
TEST_MAIN("attention", cases)
