// Loaded models against stored logits of a public implementation, and against themselves in every other order of work.
#include "tests/unit/model/golden.h"
#include "tests/unit/model/session.h"

#include <math.h>

static void gives_the_stored_logits(void) {
    for (size_t f = 0; f < N_FOLDERS; f++) {
        struct golden g;
        struct session s;
        if (!golden_read(&g, folders[f])) continue;
        if (!session_open(&s, folders[f], 2, isa_best())) return;
        float *out = calloc(g.n_positions * s.g.vocab, sizeof *out);
        CHECK_INT(g.logits.columns, s.g.vocab);
        session_prompt(&s, g.prompt, g.n_prompt, 512, g.positions, g.n_positions, out);
        double worst = 0;
        for (size_t i = 0; i < g.n_positions * s.g.vocab; i++) {
            double off = fabs((double)out[i] - (double)g.logits.data[i]);
            if (!(off <= worst)) worst = off;
        }
        if (!(worst <= 1e-3)) test_fail(__FILE__, __LINE__, "%s: expected within 1e-3, got %g", folders[f], worst);
        free(out);
        npy_free(&g.logits);
        session_close(&s);
    }
}

static void decodes_the_stored_ids(void) {
    for (size_t f = 0; f < N_FOLDERS; f++) {
        struct golden g;
        struct session s;
        if (!golden_read(&g, folders[f])) continue;
        if (!session_open(&s, folders[f], 1, isa_best())) return;
        session_prompt(&s, g.prompt, g.n_prompt - 1, 128, NULL, 0, NULL);
        int32_t token = g.prompt[g.n_prompt - 1];
        for (size_t i = 0; i < g.n_greedy; i++) {
            token = session_step(&s, token, NULL);
            CHECK_INT(g.greedy[i], token);
        }
        npy_free(&g.logits);
        session_close(&s);
    }
}

enum { BITS_IDS = 105 }; // over a page's end; the plain C reference is slow

// Logits of the stored positions under one way of working.
static float *run(const struct golden *g, const char *folder, uint32_t threads, enum isa isa, uint32_t width) {
    struct session s;
    if (!session_open(&s, folder, threads, isa)) return NULL;
    float *out = calloc(g->n_positions * s.g.vocab, sizeof *out);
    session_prompt(&s, g->prompt, g->n_prompt, width, g->positions, g->n_positions, out);
    session_close(&s);
    return out;
}

static void gives_the_same_bits_in_every_way(void) {
    static const struct {
        uint32_t threads;
        enum isa isa;
        uint32_t width;
    } ways[] = {{2, ISA_REF, 7},    {3, ISA_AVX2, 128}, {1, ISA_AVX2, 1},    {3, ISA_AVX2, 2},
                {2, ISA_AVX2, 7},   {1, ISA_AVX2, 128}, {2, ISA_AVX2, 512},  {7, ISA_AVX2, 100},
                {1, ISA_AVX512, 1}, {2, ISA_AVX512, 7}, {3, ISA_AVX512, 512}};
    for (size_t f = 0; f < N_FOLDERS; f++) {
        struct golden g;
        if (!golden_read(&g, folders[f])) continue;
        g.n_prompt = BITS_IDS;
        while (g.positions[g.n_positions - 1] >= BITS_IDS) g.n_positions--;
        size_t bytes = g.n_positions * g.logits.columns * sizeof(float);
        float *base = run(&g, folders[f], 1, ISA_REF, 512);
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
            if (!isa_available(ways[w].isa)) continue;
            float *got = run(&g, folders[f], ways[w].threads, ways[w].isa, ways[w].width);
            if (base && got && memcmp(base, got, bytes) != 0) {
                test_fail(__FILE__, __LINE__, "%s: %u threads, %s, width %u: other bits than ref at once", folders[f],
                          ways[w].threads, isa_name(ways[w].isa), ways[w].width);
            }
            free(got);
        }
        free(base);
        npy_free(&g.logits);
    }
}

enum { N_TREE = 7, N_START = 70 };
// Two branches from row 0, one of them forked again, a third from the chain's end.
static const int32_t tree_parents[N_TREE] = {-1, 0, 0, 1, 2, 2, 4};
static const int32_t tree_tokens[N_TREE] = {11, 12, 13, 14, 15, 16, 17};

// Logits after each row of `path`, decoded one by one after the start.
static void decode_serially(const char *folder, const struct golden *g, const uint32_t *path, size_t n, float *out) {
    struct session s;
    if (!session_open(&s, folder, 1, isa_best())) return;
    session_prompt(&s, g->prompt, N_START, 512, NULL, 0, NULL);
    for (size_t i = 0; i < n; i++) session_step(&s, tree_tokens[path[i]], out + i * s.g.vocab);
    session_close(&s);
}

static void computes_a_tree_as_it_would_serially(void) {
    static const struct { uint32_t n, rows[4]; } paths[] = {{3, {0, 1, 3}}, {4, {0, 2, 4, 6}}, {3, {0, 2, 5}}};
    for (size_t f = 0; f < N_FOLDERS; f++) {
        struct golden g;
        if (!golden_read(&g, folders[f])) continue;
        for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++) {
            struct session s;
            static float serial[8 * VOCAB_MAX], tree[VOCAB_MAX];
            const int32_t after[] = {21, 22, 23};
            if (!session_open(&s, folders[f], 2, isa_best())) return;
            decode_serially(folders[f], &g, paths[p].rows, paths[p].n, serial);
            session_prompt(&s, g.prompt, N_START, 7, NULL, 0, NULL);
            struct model_window w = session_tree(&s, tree_tokens, tree_parents, N_TREE);
            uint64_t ticket = session_round(&s, &w);
            for (uint32_t i = 0; i < paths[p].n; i++) {
                session_logits(&s, ticket, paths[p].rows[i], tree);
                CHECK_BYTES(serial + i * s.g.vocab, tree, s.g.vocab * sizeof(float));
            }
            // What is kept must carry on as if nothing else had been there.
            session_keep(&s, &w, paths[p].rows, paths[p].n);
            for (size_t i = 0; i < 3; i++) session_step(&s, after[i], tree);
            struct session plain;
            if (!session_open(&plain, folders[f], 1, isa_best())) return;
            session_prompt(&plain, g.prompt, N_START, 512, NULL, 0, NULL);
            for (uint32_t i = 0; i < paths[p].n; i++) session_step(&plain, tree_tokens[paths[p].rows[i]], NULL);
            for (size_t i = 0; i < 3; i++) session_step(&plain, after[i], serial);
            CHECK_BYTES(serial, tree, s.g.vocab * sizeof(float));
            session_close(&plain);
            session_close(&s);
        }
        npy_free(&g.logits);
    }
}

static void forgets_rejected_drafts(void) {
    for (size_t f = 0; f < N_FOLDERS; f++) {
        struct golden g;
        if (!golden_read(&g, folders[f])) return;
        struct session s, plain;
        static float expected[VOCAB_MAX], got[VOCAB_MAX];
        if (!session_open(&s, folders[f], 2, isa_best()) || !session_open(&plain, folders[f], 1, isa_best())) return;
        session_prompt(&s, g.prompt, 63, 512, NULL, 0, NULL);
        session_prompt(&plain, g.prompt, 63, 512, NULL, 0, NULL);
        for (int32_t i = 0; i < 8; i++) {
            const int32_t tokens[] = {i + 30, 400 + i, 300 + i, 200 + i}, chain[] = {-1, 0, 1, 2};
            struct model_window w = session_tree(&s, tokens, chain, 4);
            uint64_t ticket = session_round(&s, &w);
            session_logits(&s, ticket, 0, got);
            session_keep(&s, &w, &(uint32_t){0}, 1);
            session_step(&plain, tokens[0], expected);
            CHECK_BYTES(expected, got, s.g.vocab * sizeof(float));
        }
        npy_free(&g.logits);
        session_close(&s);
        session_close(&plain);
    }
}

// A prompt of 40 beside a decode row of another stream with pages of its own.
static void serve_two_streams(const char *folder, const struct golden *g) {
    struct session s, alone;
    static float expected[VOCAB_MAX], got[VOCAB_MAX];
    if (!session_open(&s, folder, 2, isa_best()) || !session_open(&alone, folder, 1, isa_best())) return;
    session_prompt(&alone, g->prompt, 40, 512, (const int32_t[]){39}, 1, expected);
    int32_t other[SESSION_PAGES];
    for (int32_t i = 0; i < SESSION_PAGES; i++) other[i] = (s.pages[i] + 1) % (int32_t)s.g.n_pages;
    for (int32_t i = 0; i < 41; i++) {
        s.rows[i] = (struct model_row){.token = g->prompt[i ? i - 1 : 77],
                                       .parent = i > 1 ? i - 1 : MODEL_NO_PARENT,
                                       .position = i ? i - 1 : 0,
                                       .output = i == 40  ? MODEL_OUTPUT_LOGITS
                                                 : i == 0 ? MODEL_OUTPUT_DRAW
                                                          : 0};
    }
    const struct model_window windows[] = {
        {.kind = WINDOW_DECODE, .slot = 1, .first_row = 0, .n_rows = 1, .pages = other, .rule = &s.rule},
        {.kind = WINDOW_PROMPT, .slot = 0, .first_row = 1, .n_rows = 40, .pages = s.pages, .rule = &s.rule}};
    struct model_round round = {.rows = s.rows, .windows = windows, .n_rows = 41, .n_windows = 2};
    struct err e = {0};
    uint64_t ticket;
    int32_t drawn[41];
    CHECK_INT(STATUS_OK, s.model->ops->verify(s.model, &round, &ticket, &e));
    CHECK_INT(STATUS_OK, s.model->ops->drawn(s.model, ticket, drawn, 41, &e));
    CHECK_TEXT("", e.message);
    CHECK(drawn[0] >= 0);
    for (int i = 1; i < 41; i++) CHECK_INT(-1, drawn[i]);
    session_logits(&s, ticket, 40, got);
    CHECK_BYTES(expected, got, s.g.vocab * sizeof(float));
    session_restart(&alone);
    CHECK_INT(session_step(&alone, g->prompt[77], NULL), drawn[0]);
    session_close(&s);
    session_close(&alone);
}

static void serves_two_streams_in_one_round(void) {
    for (size_t f = 1; f < N_FOLDERS; f++) {
        struct golden g;
        if (!golden_read(&g, folders[f])) return;
        serve_two_streams(folders[f], &g);
        npy_free(&g.logits);
    }
}

static void refuses_broken_rounds(void) {
    struct session s;
    if (!session_open(&s, folders[0], 1, isa_best())) return;
    const int32_t tokens[] = {1, 2, 3}, chain[] = {-1, 0, 1};
    static const struct {
        uint32_t row;
        int32_t token, parent;
        int64_t position;
        enum status status;
    } faults[] = {{1, 512, 0, 1, STATUS_INVALID}, {1, -1, 0, 1, STATUS_INVALID}, {2, 3, 2, 2, STATUS_INTERNAL},
                  {2, 3, -1, 2, STATUS_INTERNAL}, {2, 3, 1, 3, STATUS_INTERNAL}, {0, 1, 1, 0, STATUS_INTERNAL},
                  {0, 1, -1, 64, STATUS_INTERNAL}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct err e = {0};
        uint64_t ticket;
        struct model_window w = session_tree(&s, tokens, chain, 3);
        struct model_row *row = &s.rows[faults[i].row];
        row->token = faults[i].token;
        row->parent = faults[i].parent;
        row->position = faults[i].position;
        struct model_round round = {.rows = s.rows, .windows = &w, .n_rows = 3, .n_windows = 1};
        CHECK_INT(faults[i].status, s.model->ops->verify(s.model, &round, &ticket, &e));
    }
    struct err e = {0};
    uint64_t ticket;
    struct model_window w = session_tree(&s, tokens, chain, 3);
    w.n_kept = 2046; // runs past the context of 2048
    struct model_round round = {.rows = s.rows, .windows = &w, .n_rows = 3, .n_windows = 1};
    CHECK_INT(STATUS_INTERNAL, s.model->ops->verify(s.model, &round, &ticket, &e));
    CHECK(session_step(&s, 5, NULL) >= 0); // and is as good as before
    session_close(&s);
}

static void names_every_end_id_once(void) {
    struct checkpoint *c = NULL;
    struct err e = {0};
    int32_t ids[8];
    size_t n = 0;
    CHECK_INT(STATUS_OK, checkpoint_open(folders[0], &c, &e));
    if (!c) return;
    CHECK_INT(STATUS_OK, model_end_ids(c, ids, 8, &n, &e));
    CHECK_INT(1, n); // config.json and generation_config.json name the same
    CHECK_INT(2, ids[0]);
    checkpoint_close(c);
}

static const struct test_case cases[] = {
    {"gives the stored logits", gives_the_stored_logits},
    {"decodes the stored ids", decodes_the_stored_ids},
    {"gives the same bits on any threads, instructions and pass widths", gives_the_same_bits_in_every_way},
    {"computes a tree as it would serially, and keeps a path of it", computes_a_tree_as_it_would_serially},
    {"forgets rejected drafts", forgets_rejected_drafts},
    {"serves two streams in one round", serves_two_streams_in_one_round},
    {"refuses broken rounds and lives on", refuses_broken_rounds},
    {"names every end id once", names_every_end_id_once},
};
TEST_MAIN("model/model", cases)
