// The engine on the strict fake model: the promise of rounds, drafts, neighbours and ends, token for token.
#include "engine/engine.h"
#include "base/mem.h"
#include "tests/support/fake_model.h"
#include "tests/support/test.h"

#include <string.h>

enum { VOCAB = 50, CONTEXT = 400, REPLY_MAX = 400, STREAMS_MAX = 16 };

struct reply {
    uint64_t stream;
    int32_t ids[REPLY_MAX];
    size_t n;
    bool ended;
    enum end_reason reason;
    struct engine_stats stats;
    uint32_t widths[CONTEXT];
    char message[128];
};

struct bench {
    struct model *model;
    struct engine *engine;
    struct reply replies[STREAMS_MAX];
    size_t n_replies;
};

static uint64_t tick(void *context) { return *(uint64_t *)context += 1000000; }

static struct model_geometry geometry(uint32_t n_slots) {
    return (struct model_geometry){.vocab = VOCAB, .context = CONTEXT, .page_tokens = 8, .n_pages = 60 * n_slots,
                                   .n_slots = n_slots, .rows_max = 128, .outputs_max = 64};
}

static void bench_open(struct bench *b, const struct fake_options *fake, uint32_t width, const struct proposer *p) {
    static uint64_t now;
    memset(b, 0, sizeof *b);
    b->model = fake_model_new(fake);
    const struct engine_options options = {.clock = {.now_ns = tick, .context = &now}, .prefill_width = width,
                                           .proposer = p, .drafts_max = 7};
    CHECK_INT(STATUS_OK, engine_new(b->model, &options, &b->engine, NULL));
}

static void bench_close(struct bench *b) {
    CHECK_TEXT(NULL, fake_model_fault(b->model));
    engine_free(b->engine);
    b->model->ops->close(b->model);
}

static struct reply *submit(struct bench *b, const struct engine_request *r) {
    struct reply *reply = &b->replies[b->n_replies++];
    struct err e = {0};
    CHECK_INT(STATUS_OK, engine_submit(b->engine, r, &reply->stream, &e));
    CHECK_TEXT("", e.message);
    return reply;
}

static void take_events(struct bench *b) {
    struct engine_event event;
    while (engine_next_event(b->engine, &event)) {
        struct reply *r = b->replies;
        while (r->stream != event.stream) r++;
        CHECK(!r->ended);
        if (event.kind == EVENT_TOKEN) {
            r->ids[r->n++] = event.token;
            continue;
        }
        r->ended = true;
        r->reason = event.reason;
        r->stats = event.stats;
        memcpy(r->widths, event.stats.prefill_widths, event.stats.n_prefill_widths * sizeof *r->widths);
        memcpy(r->message, event.err.message, sizeof r->message - 1);
    }
}

static void run(struct bench *b) {
    bool busy = true;
    for (int i = 0; busy && i < 5000; i++) {
        engine_round(b->engine, &busy);
        take_events(b);
    }
    CHECK(!busy);
}

static void fill_prompt(int32_t *prompt, size_t n, uint64_t seed) {
    struct test_random r = {seed};
    for (size_t i = 0; i < n; i++) prompt[i] = (int32_t)test_random_below(&r, VOCAB);
}

// What an honest model would answer, one token after another.
static size_t expect(const struct engine_request *r, int32_t *ids, size_t n) {
    int32_t all[CONTEXT];
    memcpy(all, r->prompt, r->n_prompt * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        ids[i] = all[r->n_prompt + i] = fake_model_next(&r->rule, VOCAB, all, r->n_prompt + i);
        for (size_t j = 0; j < r->n_stop_ids; j++)
            if (r->stop_ids[j] == ids[i]) return i + 1;
    }
    return n;
}

static void check_reply(const struct reply *reply, const int32_t *ids, size_t n) {
    CHECK(reply->ended);
    CHECK_INT(n, reply->n);
    CHECK_BYTES(ids, reply->ids, (n < reply->n ? n : reply->n) * sizeof *ids);
}

// Guesses right with a chance of three in four, so that every length of accepted path occurs.
static uint32_t noisy_propose(void *context, const int32_t *tokens, size_t n, int32_t *drafts, uint32_t cap) {
    struct test_random *r = context;
    int32_t all[CONTEXT + 8];
    const struct draw_rule greedy = {0};
    memcpy(all, tokens, n * sizeof *all);
    uint32_t count = test_random_below(r, cap + 1);
    for (uint32_t i = 0; i < count; i++) {
        bool right = test_random_below(r, 4) != 0;
        drafts[i] = right ? fake_model_next(&greedy, VOCAB, all, n + i) : (int32_t)test_random_below(r, VOCAB);
        all[n + i] = drafts[i];
    }
    return count;
}

static void any_prompt_width_gives_the_same_reply(void) {
    int32_t prompt[150], ids[40];
    fill_prompt(prompt, 150, 1);
    const struct engine_request request = {.prompt = prompt, .n_prompt = 150, .max_tokens = 40};
    CHECK_INT(40, expect(&request, ids, 40));
    static const uint32_t widths[] = {1, 2, 7, 64, 128, 0};
    for (size_t i = 0; i < 6; i++) {
        const struct fake_options fake = {.geometry = geometry(1)};
        struct bench b;
        bench_open(&b, &fake, widths[i], NULL);
        const struct reply *reply = submit(&b, &request);
        run(&b);
        check_reply(reply, ids, 40);
        CHECK_INT(END_LENGTH, reply->reason);
        uint32_t fed = 0;
        for (size_t j = 0; j < reply->stats.n_prefill_widths; j++) {
            if (widths[i]) CHECK(reply->widths[j] <= widths[i]);
            fed += reply->widths[j];
        }
        CHECK_INT(150, fed);
        bench_close(&b);
    }
}

static void drafts_never_change_a_token(void) {
    int32_t prompt[30], ids[200];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        fill_prompt(prompt, 30, seed);
        struct engine_request request = {.prompt = prompt, .n_prompt = 30, .max_tokens = 200};
        if (seed % 2) request.rule = (struct draw_rule){.temperature = 0.8, .seed = seed};
        CHECK_INT(200, expect(&request, ids, 200));
        struct fake_options fake = {.geometry = geometry(1)};
        fake.geometry.window_rows = seed > 30 ? (uint32_t)seed - 30 : 0;
        struct test_random random = {seed};
        const struct proposer proposer = {noisy_propose, &random};
        struct bench b;
        bench_open(&b, &fake, 0, &proposer);
        const struct reply *reply = submit(&b, &request);
        run(&b);
        check_reply(reply, ids, 200);
        if (seed % 2 == 0 && seed != 32) CHECK(fake_model_rounds(b.model) < 150); // greedy guesses do land
        bench_close(&b);
    }
}

static void neighbours_arrivals_and_cancels_never_change_a_token(void) {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        const struct fake_options fake = {.geometry = geometry(4)};
        struct test_random random = {seed}, guess = {seed + 100};
        const struct proposer proposer = {noisy_propose, &guess};
        struct bench b;
        bench_open(&b, &fake, 0, &proposer);
        int32_t prompts[8][60], ids[100];
        struct engine_request requests[8];
        bool cancelled[8] = {0};
        for (size_t i = 0; i < 8; i++) {
            fill_prompt(prompts[i], 60, seed * 10 + i);
            requests[i] = (struct engine_request){.prompt = prompts[i], .n_prompt = 1 + test_random_below(&random, 60),
                                                  .max_tokens = 1 + test_random_below(&random, 100)};
            submit(&b, &requests[i]);
            bool busy;
            for (uint32_t k = test_random_below(&random, 12); k; k--) {
                engine_round(b.engine, &busy);
                take_events(&b);
            }
            if (test_random_below(&random, 4) == 0) {
                cancelled[i] = true;
                engine_cancel(b.engine, b.replies[i].stream);
            }
        }
        run(&b);
        for (size_t i = 0; i < 8; i++) {
            size_t n = expect(&requests[i], ids, requests[i].max_tokens);
            const struct reply *reply = &b.replies[i];
            bool cut = cancelled[i] && reply->reason == END_CANCELLED;
            check_reply(reply, ids, cut ? reply->n : n);
        }
        bench_close(&b);
    }
}

static void a_stop_id_counts_and_ends_the_reply(void) {
    int32_t prompt[5] = {1, 2, 3, 4, 5}, ids[200];
    int32_t stops[2] = {7, 11};
    const struct engine_request request = {.prompt = prompt, .n_prompt = 5, .stop_ids = stops, .n_stop_ids = 2};
    const struct fake_options fake = {.geometry = geometry(1)};
    struct test_random random = {3};
    const struct proposer proposer = {noisy_propose, &random};
    struct bench b;
    bench_open(&b, &fake, 0, &proposer);
    const struct reply *reply = submit(&b, &request);
    run(&b);
    size_t n = expect(&request, ids, 200);
    CHECK(n < 200);
    check_reply(reply, ids, n);
    CHECK_INT(END_STOP_TOKEN, reply->reason);
    char sha[13];
    engine_token_sha(ids, n, sha);
    CHECK_TEXT(sha, reply->stats.token_sha);
    bench_close(&b);
}

static void a_reply_without_a_limit_fills_the_context(void) {
    int32_t prompt[CONTEXT - 20], ids[20];
    fill_prompt(prompt, CONTEXT - 20, 9);
    const struct engine_request request = {.prompt = prompt, .n_prompt = CONTEXT - 20};
    const struct fake_options fake = {.geometry = geometry(1)};
    struct test_random random = {4};
    const struct proposer proposer = {noisy_propose, &random};
    struct bench b;
    bench_open(&b, &fake, 0, &proposer);
    const struct reply *reply = submit(&b, &request);
    run(&b);
    check_reply(reply, ids, expect(&request, ids, 20));
    CHECK_INT(END_CONTEXT, reply->reason);
    bench_close(&b);
}

struct verdicts {
    size_t seen, stop_at, force_at;
};

static enum accept judge(void *context, int32_t token, int32_t *forced) {
    struct verdicts *v = context;
    (void)token;
    v->seen++;
    if (v->seen == v->stop_at) return ACCEPT_STOP;
    if (v->seen != v->force_at) return ACCEPT_CONTINUE;
    *forced = 42;
    return ACCEPT_FORCE;
}

static void the_callback_stops_and_forces_tokens(void) {
    int32_t prompt[6] = {9, 8, 7, 6, 5, 4}, all[40];
    for (size_t force = 1; force <= 12; force++) {
        struct verdicts v = {.stop_at = 20, .force_at = force};
        const struct engine_request request = {.prompt = prompt, .n_prompt = 6, .accept = judge, .accept_context = &v};
        struct fake_options fake = {.geometry = geometry(1)};
        fake.geometry.window_rows = (uint32_t)force % 4; // 0 is no limit, 1 leaves no room for drafts or forced tokens
        struct test_random random = {force};
        const struct proposer proposer = {noisy_propose, &random};
        struct bench b;
        bench_open(&b, &fake, 0, &proposer);
        const struct reply *reply = submit(&b, &request);
        run(&b);
        memcpy(all, prompt, sizeof prompt);
        for (size_t i = 0; i < 20; i++)
            all[6 + i] = i == force ? 42 : fake_model_next(&request.rule, VOCAB, all, 6 + i);
        check_reply(reply, all + 6, 20);
        CHECK_INT(END_STOP_TEXT, reply->reason);
        bench_close(&b);
    }
}

static void a_failed_round_ends_its_streams_and_not_the_engine(void) {
    int32_t prompt[4] = {1, 2, 3, 4}, ids[10];
    const struct engine_request request = {.prompt = prompt, .n_prompt = 4, .max_tokens = 10};
    const struct fake_options fake = {.geometry = geometry(1), .fail_round = 5};
    struct bench b;
    bench_open(&b, &fake, 0, NULL);
    struct reply *first = submit(&b, &request), *second = submit(&b, &request);
    run(&b);
    expect(&request, ids, 10);
    CHECK_INT(END_FAILED, first->reason);
    CHECK_TEXT("the fake was told to fail", first->message);
    check_reply(first, ids, 4);
    check_reply(second, ids, 10);
    bench_close(&b);
}

static void impossible_requests_are_refused_with_numbers(void) {
    int32_t prompt[CONTEXT + 1] = {0}, outside[2] = {3, VOCAB};
    const struct fake_options fake = {.geometry = geometry(1)};
    struct bench b;
    bench_open(&b, &fake, 0, NULL);
    const struct {
        struct engine_request request;
        const char *message;
    } refused[] = {
        {{.prompt = prompt}, "the prompt is empty; it needs at least one token"},
        {{.prompt = prompt, .n_prompt = CONTEXT},
         "the prompt has 400 tokens and the context holds 400; shorten it to at most 399"},
        {{.prompt = outside, .n_prompt = 2}, "prompt token 1 is 50, outside the 50 ids of this model"},
        {{.prompt = prompt, .n_prompt = 1, .rule = {.temperature = -1}},
         "temperature: -1 is not between 0 and 1000000"},
        {{.prompt = prompt, .n_prompt = 1, .rule = {.top_p = 1.5}}, "top_p: 1.5 is not between 0 and 1"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        uint64_t stream;
        struct err e = {0};
        CHECK(engine_submit(b.engine, &refused[i].request, &stream, &e) != STATUS_OK);
        CHECK_TEXT(refused[i].message, e.message);
    }
    bool busy;
    engine_round(b.engine, &busy);
    CHECK(!busy);
    bench_close(&b);
}

static void rounds_take_no_memory(void) {
    int32_t prompt[100];
    fill_prompt(prompt, 100, 2);
    const struct engine_request request = {.prompt = prompt, .n_prompt = 100, .max_tokens = 50};
    const struct fake_options fake = {.geometry = geometry(2)};
    struct bench b;
    bench_open(&b, &fake, 0, NULL);
    submit(&b, &request);
    submit(&b, &request);
    uint64_t before = mem_count();
    bool busy = true;
    for (int i = 0; i < 20 && busy; i++) {
        engine_round(b.engine, &busy);
        CHECK_INT(before, mem_count());
        take_events(&b);
    }
    run(&b);
    bench_close(&b);
}

static void pages_and_slots_come_back_after_every_end(void) {
    int32_t prompt[3] = {5, 6, 7}, ids[3];
    const struct fake_options fake = {.geometry = geometry(1)};
    struct bench b;
    bench_open(&b, &fake, 0, NULL);
    for (int i = 0; i < 70; i++) {
        b.n_replies = 0;
        b.replies[0] = (struct reply){0};
        const struct engine_request whole = {.prompt = prompt, .n_prompt = 3, .accept = judge,
                                             .accept_context = &(struct verdicts){.stop_at = 3}};
        const struct reply *reply = submit(&b, &whole);
        if (i % 5 == 4) engine_cancel(b.engine, reply->stream);
        run(&b);
        size_t n = expect(&whole, ids, 3);
        check_reply(reply, ids, i % 5 == 4 ? 0 : n);
    }
    bench_close(&b);
}

static void every_failed_allocation_is_an_error_and_leaks_nothing(void) {
    int32_t prompt[10] = {0};
    const struct engine_request request = {.prompt = prompt, .n_prompt = 10, .max_tokens = 5};
    const struct fake_options fake = {.geometry = geometry(1)};
    struct model *model = fake_model_new(&fake);
    const struct engine_options options = {.clock = clock_system()};
    for (uint64_t n = 1; n < 40; n++) {
        struct engine *engine = NULL;
        uint64_t stream;
        struct err e = {0};
        mem_fail_after(n);
        enum status status = engine_new(model, &options, &engine, &e);
        if (status == STATUS_OK) status = engine_submit(engine, &request, &stream, &e);
        mem_fail_after(0);
        if (status != STATUS_OK) CHECK_INT(STATUS_NO_MEMORY, status);
        engine_free(engine);
        if (n > 20) CHECK_INT(STATUS_OK, status);
    }
    model->ops->close(model);
}

static void the_fingerprint_is_the_first_twelve_digits_of_sha256(void) {
    // printf 1,22,333 | sha256sum
    char sha[13];
    const int32_t ids[3] = {1, 22, 333};
    engine_token_sha(ids, 3, sha);
    CHECK_TEXT("891551674528", sha);
    engine_token_sha(ids, 0, sha);
    CHECK_TEXT("e3b0c44298fc", sha);
}

static const struct test_case cases[] = {
    {"any prompt width gives the same reply", any_prompt_width_gives_the_same_reply},
    {"drafts never change a token", drafts_never_change_a_token},
    {"neighbours, arrivals and cancels never change a token", neighbours_arrivals_and_cancels_never_change_a_token},
    {"a stop id counts and ends the reply", a_stop_id_counts_and_ends_the_reply},
    {"a reply without a limit fills the context", a_reply_without_a_limit_fills_the_context},
    {"the callback stops and forces tokens", the_callback_stops_and_forces_tokens},
    {"a failed round ends its streams and not the engine", a_failed_round_ends_its_streams_and_not_the_engine},
    {"impossible requests are refused with numbers", impossible_requests_are_refused_with_numbers},
    {"rounds take no memory", rounds_take_no_memory},
    {"pages and slots come back after every end", pages_and_slots_come_back_after_every_end},
    {"every failed allocation is an error and leaks nothing", every_failed_allocation_is_an_error_and_leaks_nothing},
    {"the fingerprint is the first twelve digits of SHA-256", the_fingerprint_is_the_first_twelve_digits_of_sha256},
};
TEST_MAIN("engine/engine", cases)
