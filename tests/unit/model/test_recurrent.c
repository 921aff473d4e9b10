// Recurrent state on the round seam: however tokens come to be kept, what a slot holds of them is the same.
#include "tests/unit/model/golden.h"
#include "tests/unit/model/session.h"

enum { N_TOKENS = 150 };

// The digest after the prompt's first n ids in passes of `width`, with the logits of the last of them.
static void feed_prompt(const char *folder, const struct golden *g, size_t n, uint32_t width, char digest[65],
                        float *logits) {
    struct session s;
    if (!session_open(&s, folder, width % 2 + 1, isa_best())) return;
    session_prompt(&s, g->prompt, n, width, (const int32_t[]){(int32_t)n - 1}, 1, logits);
    session_digest(&s, digest);
    session_close(&s);
}

static void a_prompt_leaves_what_decoding_leaves(void) {
    static const uint32_t widths[] = {1, 2, 7, 128, 512};
    for (size_t f = 0; f < N_FOLDERS; f++) {
        struct golden g;
        struct session s;
        static float expected[VOCAB_MAX], got[VOCAB_MAX];
        char one_by_one[65], digest[65];
        if (!golden_read(&g, folders[f]) || !session_open(&s, folders[f], 2, isa_best())) return;
        for (size_t i = 0; i < N_TOKENS; i++) session_step(&s, g.prompt[i], expected);
        session_digest(&s, one_by_one);
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            feed_prompt(folders[f], &g, N_TOKENS, widths[i], digest, got);
            CHECK_TEXT(one_by_one, digest);
            CHECK_BYTES(expected, got, s.g.vocab * sizeof(float));
        }
        feed_prompt(folders[f], &g, N_TOKENS - 1, 512, digest, got);
        CHECK(strcmp(one_by_one, digest) != 0); // it does tell states apart
        npy_free(&g.logits);
        session_close(&s);
    }
}

// A decode window whose right path is the ids that follow, hidden among wrong drafts. path[0 .. *n) are its rows.
static struct model_window mixed_window(struct session *s, const int32_t *ids, struct test_random *r, uint32_t *path,
                                        uint32_t *n) {
    int32_t tokens[8], parents[8];
    uint32_t rows = 1 + test_random_below(r, 8);
    *n = 1;
    path[0] = 0;
    tokens[0] = ids[0];
    parents[0] = MODEL_NO_PARENT;
    for (uint32_t i = 1; i < rows; i++) {
        bool right = test_random_below(r, 2);
        parents[i] = (int32_t)(right ? path[*n - 1] : test_random_below(r, i));
        tokens[i] = right ? ids[*n] : (int32_t)test_random_below(r, s->g.vocab);
        if (right) path[(*n)++] = i;
    }
    return session_tree(s, tokens, parents, rows);
}

// Logits after each of the first n ids, one by one.
static float *logits_one_by_one(const char *folder, const int32_t *ids, size_t n, char digest[65]) {
    struct session s;
    if (!session_open(&s, folder, 1, isa_best())) return NULL;
    float *out = calloc(n * s.g.vocab, sizeof *out);
    for (size_t i = 0; i < n; i++) session_step(&s, ids[i], out + i * s.g.vocab);
    session_digest(&s, digest);
    session_close(&s);
    return out;
}

// Kept rows of a window must have the logits that serial decoding gives at their positions.
static void check_path(struct session *s, uint64_t ticket, const uint32_t *path, uint32_t n, const float *serial) {
    static float got[VOCAB_MAX];
    for (uint32_t i = 0; i < n; i++) {
        session_logits(s, ticket, path[i], got);
        CHECK_BYTES(serial + ((size_t)s->n_kept + i) * s->g.vocab, got, s->g.vocab * sizeof(float));
    }
}

// Decodes `end` ids by drafts, now and then with a prompt pass or a digest in between.
static void decode_with_drafts(struct session *s, const struct golden *g, uint64_t seed, int64_t end,
                               const float *serial) {
    struct test_random r = {seed};
    char digest[65];
    uint32_t path[8], n;
    while (s->n_kept < end - 8 && !test_failed()) {
        uint32_t what = test_random_below(&r, 8);
        if (what == 0) session_prompt(s, g->prompt + s->n_kept, 1 + test_random_below(&r, 8), 5, NULL, 0, NULL);
        if (what == 1) session_digest(s, digest); // reads the state, so that accepted rows must join it
        if (what <= 1) continue;
        struct model_window w = mixed_window(s, g->prompt + s->n_kept, &r, path, &n);
        uint64_t ticket = session_round(s, &w);
        check_path(s, ticket, path, n, serial);
        if (n > 1 && what == 2) n -= 1; // right drafts may be dropped too
        session_keep(s, &w, path, n);
    }
    session_prompt(s, g->prompt + s->n_kept, (size_t)(end - s->n_kept), 3, NULL, 0, NULL);
}

static void drafts_leave_what_decoding_leaves(void) {
    for (size_t f = 0; f < N_FOLDERS; f++) {
        struct golden g;
        char expected[65], got[65];
        if (!golden_read(&g, folders[f])) return;
        float *serial = logits_one_by_one(folders[f], g.prompt, N_TOKENS, expected);
        for (uint64_t seed = 1; serial && seed <= 4; seed++) {
            struct session s;
            if (!session_open(&s, folders[f], (uint32_t)seed, isa_best())) break;
            decode_with_drafts(&s, &g, seed, N_TOKENS, serial);
            CHECK_TEXT(expected, session_digest(&s, got));
            session_close(&s);
        }
        free(serial);
        npy_free(&g.logits);
    }
}

enum { STREAMS = 3 };

// One of several streams in a model: its ids begin at `offset` of the prompt.
struct stream {
    int32_t pages[4];
    size_t offset;
    int64_t n_kept, end;
};

// Adds a window of `n` rows to the round: a prompt piece, or one right token with wrong drafts behind it.
static void add_window(struct session *s, const struct golden *g, const struct stream *t, uint32_t slot,
                       uint32_t n, struct model_window *w, uint32_t *n_rows) {
    bool prompt = n % 2;
    *w = (struct model_window){.kind = prompt ? WINDOW_PROMPT : WINDOW_DECODE,
                               .slot = slot,
                               .first_row = *n_rows,
                               .n_rows = n,
                               .n_kept = t->n_kept,
                               .pages = t->pages,
                               .rule = &s->rule};
    for (uint32_t i = 0; i < n; i++) {
        int32_t token = g->prompt[t->offset + (size_t)t->n_kept + i];
        s->rows[*n_rows + i] = (struct model_row){.token = prompt || i == 0 ? token : (token + 1) % 512,
                                                  .parent = i ? (int32_t)(*n_rows + i) - 1 : MODEL_NO_PARENT,
                                                  .position = t->n_kept + i};
    }
    *n_rows += n;
}

// One round of those streams that have ids left; which, in what order and how many rows is drawn.
static void run_round(struct session *s, const struct golden *g, struct stream *streams, struct test_random *r) {
    struct model_window windows[STREAMS];
    uint32_t n_windows = 0, n_rows = 0, first = test_random_below(r, STREAMS);
    struct err e = {0};
    uint64_t ticket;
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint32_t slot = (first + i) % STREAMS;
        struct stream *t = &streams[slot];
        if (t->n_kept == t->end || test_random_below(r, 4) == 0) continue;
        uint32_t n = 1 + test_random_below(r, 8);
        if (n > t->end - t->n_kept) n = 1;
        add_window(s, g, t, slot, n, &windows[n_windows++], &n_rows);
    }
    if (n_rows == 0) return;
    const struct model_round round = {.rows = s->rows, .windows = windows, .n_rows = n_rows, .n_windows = n_windows};
    uint64_t allocations = mem_count();
    CHECK_INT(STATUS_OK, s->model->ops->verify(s->model, &round, &ticket, &e));
    for (uint32_t i = 0; i < n_windows; i++) {
        const struct model_window *w = &windows[i];
        bool prompt = w->kind == WINDOW_PROMPT;
        if (!prompt) CHECK_INT(STATUS_OK, s->model->ops->keep(s->model, w, &w->first_row, 1, &e));
        streams[w->slot].n_kept += prompt ? w->n_rows : 1;
    }
    CHECK_INT(allocations, mem_count());
    CHECK_TEXT("", e.message);
}

static void neighbours_leave_what_a_lone_stream_leaves(void) {
    for (size_t f = FIRST_RECURRENT; f < N_FOLDERS; f++) {
        struct golden g;
        struct session s;
        if (!golden_read(&g, folders[f]) || !session_open(&s, folders[f], 2, isa_best())) return;
        struct test_random r = {f};
        struct stream streams[STREAMS];
        for (int32_t i = 0; i < STREAMS; i++) {
            streams[i] = (struct stream){.offset = (size_t)i * 50, .end = 60 + i};
            for (int32_t p = 0; p < 4; p++) streams[i].pages[p] = p * STREAMS + i;
        }
        for (int round = 0; round < 200; round++) run_round(&s, &g, streams, &r);
        for (uint32_t i = 0; i < STREAMS; i++) {
            char together[65], alone[65];
            struct err e = {0};
            struct session plain;
            CHECK_INT(streams[i].end, streams[i].n_kept);
            CHECK_INT(STATUS_OK,
                      s.model->ops->digest(s.model, i, streams[i].pages, streams[i].n_kept, together, &e));
            if (!session_open(&plain, folders[f], 1, isa_best())) return;
            session_prompt(&plain, g.prompt + streams[i].offset, (size_t)streams[i].end, 512, NULL, 0, NULL);
            CHECK_TEXT(session_digest(&plain, alone), together);
            session_close(&plain);
        }
        npy_free(&g.logits);
        session_close(&s);
    }
}

// Expects verify to refuse the window with a message that holds `word`.
static void expect_refusal(struct session *s, const struct model_window *windows, uint32_t n_windows,
                           const char *word) {
    struct model_round round = {.rows = s->rows, .windows = windows, .n_windows = n_windows};
    struct err e = {0};
    uint64_t ticket;
    for (uint32_t i = 0; i < n_windows; i++) round.n_rows += windows[i].n_rows;
    CHECK_INT(STATUS_INTERNAL, s->model->ops->verify(s->model, &round, &ticket, &e));
    if (!strstr(e.message, word)) test_fail(__FILE__, __LINE__, "expected %s, got: %s", word, e.message);
}

static void a_refused_round_leaves_the_state_alone(void) {
    struct golden g;
    struct session s, plain;
    char expected[65], got[65];
    const char *folder = folders[FIRST_RECURRENT];
    if (!golden_read(&g, folder) || !session_open(&s, folder, 1, isa_best())) return;
    CHECK(s.g.recurrent);
    CHECK_INT(8, s.g.window_rows);
    int32_t tokens[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, chain[9] = {-1, 0, 1, 2, 3, 4, 5, 6, 7};
    session_prompt(&s, g.prompt, 20, 512, NULL, 0, NULL);
    struct model_window w = session_tree(&s, tokens, chain, 9);
    expect_refusal(&s, &w, 1, "planned for 8");
    s.n_kept = 19; // a state cannot be cut back
    w = session_tree(&s, tokens, chain, 1);
    expect_refusal(&s, &w, 1, "20 tokens");
    s.n_kept = 20;
    w = session_tree(&s, tokens, chain, 1);
    s.rows[1] = s.rows[0];
    struct model_window twice[2] = {w, w};
    twice[1].first_row = 1;
    expect_refusal(&s, twice, 2, "two windows of slot 0");
    w = session_tree(&s, g.prompt + 20, chain, 4);
    struct err e = {0};
    CHECK(session_round(&s, &w) != 0);
    CHECK(session_keep(&s, &w, (const uint32_t[]){0, 1, 2}, 3));
    CHECK_INT(STATUS_INTERNAL, s.model->ops->keep(s.model, &w, (const uint32_t[]){0, 1}, 2, &e));
    CHECK(strstr(e.message, "kept already") != NULL);
    if (!session_open(&plain, folder, 1, isa_best())) return;
    session_prompt(&plain, g.prompt, 23, 512, NULL, 0, NULL);
    CHECK_TEXT(session_digest(&plain, expected), session_digest(&s, got));
    npy_free(&g.logits);
    session_close(&s);
    session_close(&plain);
}

static void a_slot_starts_afresh_after_reset(void) {
    struct golden g;
    struct session s;
    char empty[65], before[65], after[65];
    const int32_t chain[] = {-1, 0, 1};
    if (!golden_read(&g, folders[FIRST_RECURRENT])) return;
    if (!session_open(&s, folders[FIRST_RECURRENT], 2, isa_best())) return;
    session_digest(&s, empty);
    session_prompt(&s, g.prompt, 30, 512, NULL, 0, NULL);
    session_digest(&s, before);
    struct model_window w = session_tree(&s, g.prompt + 30, chain, 3);
    session_round(&s, &w);
    session_keep(&s, &w, (const uint32_t[]){0, 1, 2}, 3); // rows that wait to be replayed are forgotten too
    session_restart(&s);
    session_prompt(&s, g.prompt, 30, 7, NULL, 0, NULL);
    CHECK_TEXT(before, session_digest(&s, after));
    session_restart(&s);
    CHECK_TEXT(empty, session_digest(&s, after));
    npy_free(&g.logits);
    session_close(&s);
}

// qwen3_5 has 5 layers with 3 x 320 inputs and 6 states of 32 x 32, and one with a cache.
static void tells_what_a_stream_takes(void) {
    struct err e = {0};
    struct checkpoint *c = NULL;
    struct backend *b = NULL;
    CHECK_INT(STATUS_OK, checkpoint_open(folders[FIRST_RECURRENT], &c, &e));
    CHECK_INT(STATUS_OK, backend_open_cpu(&(struct backend_options){.threads = 1, .isa = ISA_REF}, &b, &e));
    uint64_t totals[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct model_info info;
        const struct model_options options = {.n_slots = 2, .context = 128, .rows_max = 32, .window_rows = 1 + i * 16};
        CHECK_INT(STATUS_OK, model_inspect(c, b, &options, &info, &e));
        uint64_t held = i * 16 * (320 + 2 * 6) * 4;
        CHECK_INT(1, info.attention_layers);
        CHECK_INT(5, info.delta_layers);
        CHECK_INT(2, info.delta_k_heads);
        CHECK_INT(6, info.delta_v_heads);
        CHECK_INT(32, info.delta_k_dim);
        CHECK_INT(32, info.delta_v_dim);
        CHECK_INT(4, info.delta_taps);
        CHECK_INT(5 * (3 * 320 * 4 + 6 * 32 * 32 * 4 + held), info.state_bytes);
        CHECK_INT(2 * 2 * 64 * 4, info.cache_token_bytes);
        CHECK_INT(2 * 128 * info.cache_token_bytes, info.cache_bytes);
        totals[i] = info.total_bytes - info.scratch_bytes;
        model_info_fini(&info);
    }
    CHECK_INT(2 * 5 * 16 * (320 + 12) * 4, totals[1] - totals[0]); // drafts of both streams, and nothing else
    b->ops->close(b);
    checkpoint_close(c);
}

static const struct test_case cases[] = {
    {"a prompt in any passes leaves what decoding leaves", a_prompt_leaves_what_decoding_leaves},
    {"drafts, right or wrong, leave what decoding leaves", drafts_leave_what_decoding_leaves},
    {"neighbours leave what a lone stream leaves", neighbours_leave_what_a_lone_stream_leaves},
    {"a refused round leaves the state alone", a_refused_round_leaves_the_state_alone},
    {"tells what a stream takes", tells_what_a_stream_takes},
    {"a slot starts afresh after reset", a_slot_starts_afresh_after_reset},
};
TEST_MAIN("model/recurrent", cases)
