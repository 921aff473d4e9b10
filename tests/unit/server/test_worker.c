// The worker on the strict fake model: many threads submit, take, cancel and free, and each reply is an honest one.
#include "server/worker.h"

#include "base/mem.h"
#include "tests/support/fake_model.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { VOCAB = 50, CONTEXT = 300, PROMPT_MAX = 200, WAIT_MS = 20000, THREADS = 8 };

struct bench {
    struct model *model;
    struct engine *engine;
    struct worker *worker;
};

static void bench_open(struct bench *b, uint32_t n_slots, uint32_t jobs_max, uint64_t fail_round) {
    const struct fake_options fake = {
        .geometry = {.vocab = VOCAB, .context = CONTEXT, .page_tokens = 8, .n_pages = 40 * n_slots, .n_slots = n_slots,
                     .rows_max = 64, .outputs_max = 64},
        .fail_round = fail_round,
    };
    const struct engine_options options = {.clock = clock_system()};
    b->model = fake_model_new(&fake);
    CHECK_INT(STATUS_OK, engine_new(b->model, &options, &b->engine, NULL));
    const struct worker_options worker = {.engine = b->engine, .jobs_max = jobs_max};
    CHECK_INT(STATUS_OK, worker_start(&worker, &b->worker, NULL));
}

static void model_close(struct bench *b) {
    CHECK_TEXT(NULL, fake_model_fault(b->model));
    engine_free(b->engine);
    b->model->ops->close(b->model);
}

static void bench_close(struct bench *b) {
    worker_stop(b->worker, WAIT_MS);
    model_close(b);
}

static void sleep_ms(long ms) {
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

// A request with a random prompt, greedy or sampled.
struct question {
    struct engine_request request;
    int32_t prompt[PROMPT_MAX];
};

static void ask(struct question *q, struct test_random *r, uint32_t n_prompt, uint64_t max_tokens) {
    for (uint32_t i = 0; i < n_prompt; i++) q->prompt[i] = (int32_t)test_random_below(r, VOCAB);
    q->request = (struct engine_request){.prompt = q->prompt, .n_prompt = n_prompt, .max_tokens = max_tokens};
    if (test_random_below(r, 2)) q->request.rule = (struct draw_rule){.temperature = 1, .top_p = 1, .seed = r->state};
}

struct answer {
    int32_t ids[CONTEXT];
    size_t n;
    struct job_event end;
};

// Takes what comes until the end, or until at least `enough` tokens came; false if neither happened in time.
static bool take(struct job *j, struct answer *a, size_t enough, long pause_ms) {
    while (a->n < enough) {
        struct job_event event;
        job_wait(j, WAIT_MS, &event);
        if (event.kind == JOB_NOTHING) return false;
        if (event.kind == JOB_END) {
            a->end = event;
            return true;
        }
        if (event.n == 0 || a->n + event.n > CONTEXT) return false;
        memcpy(a->ids + a->n, event.tokens, event.n * sizeof *a->ids);
        a->n += event.n;
        if (pause_ms) sleep_ms(pause_ms);
    }
    return true;
}

// How many of the answer's tokens an honest model would have given.
static size_t honest(const struct question *q, const struct answer *a) {
    int32_t all[CONTEXT];
    memcpy(all, q->prompt, q->request.n_prompt * sizeof *all);
    for (size_t i = 0; i < a->n; i++) {
        size_t n = q->request.n_prompt + i;
        all[n] = fake_model_next(&q->request.rule, VOCAB, all, n);
        if (all[n] != a->ids[i]) return i;
    }
    return a->n;
}

static void gives_whole_replies_with_their_figures(void) {
    struct bench b;
    struct test_random r = {1};
    struct question q;
    bench_open(&b, 1, 0, 0);
    ask(&q, &r, 150, 100);
    struct answer a = {0};
    struct job *j = NULL;
    CHECK_INT(STATUS_OK, worker_submit(b.worker, &q.request, &j, NULL));
    CHECK(take(j, &a, CONTEXT, 0));
    CHECK_INT(100, a.n);
    CHECK_INT(100, honest(&q, &a));
    CHECK_INT(JOB_END, a.end.kind);
    CHECK_INT(END_LENGTH, a.end.reason);
    char sha[13];
    engine_token_sha(a.ids, a.n, sha);
    CHECK_TEXT(sha, a.end.stats.token_sha);
    size_t rows = 0;
    for (size_t i = 0; i < a.end.stats.n_prefill_widths; i++) rows += a.end.stats.prefill_widths[i];
    CHECK_INT(150, rows);
    struct job_event event;
    job_wait(j, 0, &event);
    CHECK_INT(JOB_NOTHING, event.kind);
    struct worker_state state;
    worker_state(b.worker, &state);
    CHECK(state.ready);
    CHECK_INT(1, state.requests);
    CHECK_INT(150, state.prompt_tokens);
    CHECK_INT(100, state.reply_tokens);
    CHECK_INT(0, state.running + state.waiting + state.cancelled + state.failed);
    job_free(j);
    bench_close(&b);
}

static void refuses_a_bad_request_at_once(void) {
    struct bench b;
    struct err e = {0};
    const int32_t prompt[] = {1, VOCAB};
    struct job *j = NULL;
    bench_open(&b, 1, 0, 0);
    const struct engine_request request = {.prompt = prompt, .n_prompt = 2};
    CHECK_INT(STATUS_INVALID, worker_submit(b.worker, &request, &j, &e));
    CHECK_TEXT("prompt token 1 is 50, outside the 50 ids of this model", e.message);
    CHECK(j == NULL);
    bench_close(&b);
}

static void refuses_when_memory_runs_out(void) {
    struct bench b;
    struct test_random r = {2};
    struct question q;
    bench_open(&b, 1, 0, 0);
    ask(&q, &r, 10, 5);
    for (uint64_t n = 1; n <= 4; n++) {
        struct job *j = NULL;
        mem_fail_after(n);
        CHECK_INT(STATUS_NO_MEMORY, worker_submit(b.worker, &q.request, &j, NULL));
        mem_fail_after(0);
    }
    bench_close(&b);
}

// A gate in the accept callback holds rounds up, so that a test knows what the worker is doing.
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool open, reached;
};

static void gate_open(struct gate *g) {
    pthread_mutex_lock(&g->mutex);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

static void gate_await(struct gate *g) {
    pthread_mutex_lock(&g->mutex);
    while (!g->reached) pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static enum accept pass_gate(void *context, int32_t token, int32_t *forced) {
    (void)token, (void)forced;
    struct gate *g = context;
    pthread_mutex_lock(&g->mutex);
    g->reached = true;
    pthread_cond_broadcast(&g->changed);
    while (!g->open) pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return ACCEPT_CONTINUE;
}

static const struct gate closed_gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void a_full_queue_and_a_waiting_job_that_is_cancelled(void) {
    struct bench b;
    struct test_random r = {3};
    struct gate gate = closed_gate;
    struct question q[3];
    struct job *j[3] = {0};
    struct answer a = {0}, none = {0};
    struct err e = {0};
    bench_open(&b, 1, 2, 0);
    for (int i = 0; i < 3; i++) ask(&q[i], &r, 20, 10);
    q[0].request.accept = pass_gate;
    q[0].request.accept_context = &gate;
    CHECK_INT(STATUS_OK, worker_submit(b.worker, &q[0].request, &j[0], NULL));
    gate_await(&gate);
    CHECK_INT(STATUS_OK, worker_submit(b.worker, &q[1].request, &j[1], NULL));
    CHECK_INT(STATUS_BUSY, worker_submit(b.worker, &q[2].request, &j[2], &e));
    CHECK_TEXT("2 requests are running or waiting already; try again later", e.message);
    struct worker_state state;
    worker_state(b.worker, &state);
    CHECK_INT(1, state.running);
    CHECK_INT(1, state.waiting);
    job_cancel(j[1]);
    gate_open(&gate);
    CHECK(take(j[1], &none, CONTEXT, 0));
    CHECK_INT(END_CANCELLED, none.end.reason);
    CHECK_INT(0, none.n);
    CHECK(take(j[0], &a, CONTEXT, 0));
    CHECK_INT(10, honest(&q[0], &a));
    job_free(j[0]);
    job_free(j[1]);
    CHECK_INT(STATUS_OK, worker_submit(b.worker, &q[2].request, &j[2], NULL));
    job_free(j[2]);
    bench_close(&b);
}

static void a_running_job_is_cancelled(void) {
    struct bench b;
    struct test_random r = {8};
    struct gate gate = closed_gate;
    struct question q;
    struct answer a = {0};
    struct job *j = NULL;
    bench_open(&b, 1, 0, 0);
    ask(&q, &r, 20, 200);
    q.request.accept = pass_gate;
    q.request.accept_context = &gate;
    CHECK_INT(STATUS_OK, worker_submit(b.worker, &q.request, &j, NULL));
    gate_await(&gate);
    job_cancel(j);
    gate_open(&gate);
    CHECK(take(j, &a, CONTEXT, 0));
    CHECK_INT(END_CANCELLED, a.end.reason);
    CHECK_INT(1, a.n); // of the round that was running
    struct worker_state state;
    worker_state(b.worker, &state);
    CHECK_INT(1, state.cancelled);
    job_free(j);
    bench_close(&b);
}

static void a_taker_that_sleeps_holds_nobody_up(void) {
    struct bench b;
    struct test_random r = {4};
    struct question slow, quick;
    struct job *j, *k;
    struct answer a = {0}, c = {0};
    bench_open(&b, 2, 0, 0);
    ask(&slow, &r, 10, 0);
    ask(&quick, &r, 10, 50);
    CHECK_INT(STATUS_OK, worker_submit(b.worker, &slow.request, &j, NULL));
    CHECK_INT(STATUS_OK, worker_submit(b.worker, &quick.request, &k, NULL));
    CHECK(take(k, &a, CONTEXT, 0));
    CHECK_INT(50, honest(&quick, &a));
    struct worker_state state;
    for (int i = 0; i < 1000; i++) {
        worker_state(b.worker, &state);
        if (state.running == 0) break;
        sleep_ms(10);
    }
    CHECK_INT(0, state.running);
    struct job_event all;
    job_wait(j, 0, &all);
    CHECK_INT(JOB_TOKENS, all.kind);
    CHECK_INT(CONTEXT - 10, all.n);
    memcpy(c.ids, all.tokens, all.n * sizeof *c.ids);
    c.n = all.n;
    CHECK_INT(c.n, honest(&slow, &c));
    job_wait(j, 0, &all);
    CHECK_INT(JOB_END, all.kind);
    CHECK_INT(END_CONTEXT, all.reason);
    job_free(j);
    job_free(k);
    bench_close(&b);
}

static enum accept count_calls(void *context, int32_t token, int32_t *forced) {
    (void)token, (void)forced;
    *(int *)context += 1; // touched after job_free, a sanitizer would say so
    return ACCEPT_CONTINUE;
}

static void one_random_job(struct bench *b, struct test_random *r) {
    struct question q;
    struct answer a = {0};
    struct job *j = NULL;
    struct err e = {0};
    int *calls = mem_new(1, sizeof *calls);
    ask(&q, r, 1 + test_random_below(r, PROMPT_MAX), 1 + test_random_below(r, 60));
    uint32_t n = (uint32_t)q.request.max_tokens, act = test_random_below(r, 6);
    q.request.accept = count_calls;
    q.request.accept_context = calls;
    CHECK_INT(STATUS_OK, worker_submit(b->worker, &q.request, &j, &e));
    CHECK_TEXT("", e.message);
    if (act >= 2) CHECK(take(j, &a, act == 2 ? n / 2 : act == 3 ? 1 : CONTEXT, act == 4 ? 1 : 0));
    if (act == 1 || act == 2) {
        job_cancel(j);
        CHECK(take(j, &a, CONTEXT, 0));
        CHECK(a.end.reason == END_CANCELLED || a.n == n);
    }
    if (act >= 4) {
        CHECK_INT(n, a.n);
        CHECK_INT(END_LENGTH, a.end.reason);
        CHECK_INT(n, *calls);
    }
    CHECK_INT(a.n, honest(&q, &a));
    job_free(j);
    mem_free(calls);
}

struct crowd {
    struct bench *b;
    uint64_t seed;
    int jobs;
};

static void *run_jobs(void *context) {
    const struct crowd *c = context;
    struct test_random r = {c->seed};
    for (int i = 0; i < c->jobs; i++) one_random_job(c->b, &r);
    return NULL;
}

static void crowd_on(uint32_t n_slots) {
    struct bench b;
    pthread_t threads[THREADS];
    struct crowd crowd[THREADS];
    bench_open(&b, n_slots, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){&b, 100 + (uint64_t)i + n_slots * 1000, 25};
        CHECK_INT(0, pthread_create(&threads[i], NULL, run_jobs, &crowd[i]));
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    struct worker_state state;
    worker_state(b.worker, &state);
    CHECK_INT(THREADS * 25, state.requests);
    CHECK_INT(0, state.running + state.waiting + state.failed);
    CHECK(state.ready);
    bench_close(&b);
}

static void many_threads_on_one_slot(void) { crowd_on(1); }
static void many_threads_on_four_slots(void) { crowd_on(4); }

static void a_failed_round_ends_its_jobs_only(void) {
    struct bench b;
    struct test_random r = {5};
    struct question q;
    bench_open(&b, 1, 0, 3);
    for (int i = 0; i < 2; i++) {
        struct answer a = {0};
        struct job *j;
        ask(&q, &r, 10, 8);
        CHECK_INT(STATUS_OK, worker_submit(b.worker, &q.request, &j, NULL));
        CHECK(take(j, &a, CONTEXT, 0));
        CHECK_INT(i ? END_LENGTH : END_FAILED, a.end.reason);
        CHECK_TEXT(i ? "" : "the fake was told to fail", a.end.err.message);
        CHECK_INT(a.n, honest(&q, &a));
        job_free(j);
    }
    struct worker_state state;
    worker_state(b.worker, &state);
    CHECK(state.ready);
    CHECK_INT(1, state.failed);
    bench_close(&b);
}

static enum status always_fail(struct model *m, const struct model_round *round, uint64_t *ticket, struct err *e) {
    (void)m, (void)round, (void)ticket;
    return err_set(e, STATUS_INTERNAL, "the device is gone");
}

static void an_engine_that_keeps_failing_is_not_ready(void) {
    struct bench b;
    struct test_random r = {6};
    struct question q;
    struct worker_state state;
    bench_open(&b, 1, 0, 0);
    const struct model_ops *good = b.model->ops;
    struct model_ops bad = *good;
    bad.verify = always_fail;
    for (int i = 0; i < 5; i++) {
        struct answer a = {0};
        struct job *j;
        b.model->ops = i < 4 ? &bad : good; // the worker sleeps meanwhile
        ask(&q, &r, 10, 8);
        CHECK_INT(STATUS_OK, worker_submit(b.worker, &q.request, &j, NULL));
        CHECK(take(j, &a, CONTEXT, 0));
        worker_state(b.worker, &state);
        CHECK_INT(i < 2 || i == 4, state.ready);
        job_free(j);
    }
    bench_close(&b);
}

static enum accept dawdle(void *context, int32_t token, int32_t *forced) {
    (void)context, (void)token, (void)forced;
    sleep_ms(2);
    return ACCEPT_CONTINUE;
}

static void stops_after(uint32_t grace_ms, enum end_reason reason) {
    struct bench b;
    struct test_random r = {7};
    struct question q;
    struct job *j[3];
    bench_open(&b, 2, 0, 0);
    for (int i = 0; i < 3; i++) {
        ask(&q, &r, 10, 40);
        q.request.accept = dawdle;
        CHECK_INT(STATUS_OK, worker_submit(b.worker, &q.request, &j[i], NULL));
    }
    worker_stop(b.worker, grace_ms);
    for (int i = 0; i < 3; i++) {
        struct answer a = {0};
        CHECK(take(j[i], &a, CONTEXT, 0));
        CHECK_INT(reason, a.end.reason);
        if (reason == END_LENGTH) CHECK_INT(40, a.n);
        job_free(j[i]);
    }
    model_close(&b);
}

static void a_stop_with_grace_lets_jobs_end(void) { stops_after(WAIT_MS, END_LENGTH); }
static void a_stop_without_grace_cancels_them(void) { stops_after(0, END_CANCELLED); }

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void an_idle_worker_takes_no_time(void) {
    struct bench b;
    bench_open(&b, 1, 0, 0);
    sleep_ms(20);
    uint64_t before = cpu_ns();
    sleep_ms(300);
    CHECK(cpu_ns() - before < 30000000u);
    bench_close(&b);
}

static const struct test_case cases[] = {
    {"a reply comes whole, with its figures", gives_whole_replies_with_their_figures},
    {"a bad request is refused at once, with the engine's words", refuses_a_bad_request_at_once},
    {"a request is refused when memory runs out, and nothing leaks", refuses_when_memory_runs_out},
    {"a full queue refuses as busy; a waiting job can be cancelled", a_full_queue_and_a_waiting_job_that_is_cancelled},
    {"a running job that is cancelled ends behind its round", a_running_job_is_cancelled},
    {"a taker that sleeps holds nobody up and loses nothing", a_taker_that_sleeps_holds_nobody_up},
    {"many threads submit, take, cancel and free at random on one slot", many_threads_on_one_slot},
    {"many threads submit, take, cancel and free at random on four slots", many_threads_on_four_slots},
    {"a failed round ends its jobs with the reason, and the next job runs", a_failed_round_ends_its_jobs_only},
    {"an engine that keeps failing is not ready until a job goes well", an_engine_that_keeps_failing_is_not_ready},
    {"a stop with grace lets jobs end", a_stop_with_grace_lets_jobs_end},
    {"a stop without grace cancels them, and jobs outlive the worker", a_stop_without_grace_cancels_them},
    {"an idle worker takes no processor time", an_idle_worker_takes_no_time},
};
TEST_MAIN("worker", cases)
