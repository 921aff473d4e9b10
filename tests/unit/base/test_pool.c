// The thread pool: every part once, many tiny jobs, more threads than processors, a processor taken by someone else.
#include "base/clock.h"
#include "base/cpu.h"
#include "base/pool.h"
#include "tests/support/test.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { PARTS_MAX = 1000 };

struct counts {
    uint32_t runs[PARTS_MAX]; // plain on purpose: a part run twice or after pool_run is a race that tsan reports
    uint32_t workers, wrong_worker, wrong_rounding;
};

static void count_part(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    struct counts *c = context;
    (void)parts;
    c->runs[part]++;
    if (worker >= c->workers) c->wrong_worker = 1;
    if (fegetround() != FE_TONEAREST) c->wrong_rounding = 1;
}

static struct pool *open_pool(uint32_t threads) {
    struct err e = {0};
    struct pool *p = NULL;
    if (pool_open(threads, &p, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
    return p;
}

static void runs_every_part_once(void) {
    static const uint32_t threads[] = {1, 2, 3, 7};
    static const uint32_t parts[] = {0, 1, 2, 3, 64, PARTS_MAX};
    for (size_t t = 0; t < 4; t++) {
        struct pool *p = open_pool(threads[t]);
        if (!p) return;
        for (size_t k = 0; k < 6; k++) {
            struct counts c = {.workers = threads[t]};
            pool_run(p, count_part, &c, parts[k]);
            for (uint32_t i = 0; i < PARTS_MAX; i++) CHECK_INT(i < parts[k], c.runs[i]);
            CHECK_INT(0, c.wrong_worker);
            CHECK_INT(0, c.wrong_rounding);
        }
        pool_close(p);
    }
}

static void survives_many_tiny_jobs(void) {
    static const uint32_t threads[] = {2, 5};
    for (size_t t = 0; t < 2; t++) {
        struct pool *p = open_pool(threads[t]);
        if (!p) return;
        struct counts c = {.workers = threads[t]};
        uint32_t jobs = threads[t] > cpu_count() ? 5000 : 100000, expected[4] = {0};
        for (uint32_t j = 0; j < jobs; j++) {
            uint32_t parts = 1 + j % 4;
            pool_run(p, count_part, &c, parts);
            for (uint32_t i = 0; i < parts; i++) expected[i]++;
        }
        for (uint32_t i = 0; i < 4; i++) CHECK_INT(expected[i], c.runs[i]);
        pool_close(p);
    }
}

static double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void sleeps_when_idle(void) {
    struct pool *p = open_pool(3);
    if (!p) return;
    struct counts c = {.workers = 3};
    pool_run(p, count_part, &c, 8);
    double before = cpu_seconds();
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    double used = cpu_seconds() - before;
    if (used > 0.05)
        test_fail(__FILE__, __LINE__, "expected an idle pool to sleep, got %.3f s of work in 0.2 s", used);
    pool_run(p, count_part, &c, 8);
    for (uint32_t i = 0; i < 8; i++) CHECK_INT(2, c.runs[i]);
    pool_close(p);
}

static void refuses_absurd_thread_counts(void) {
    struct pool *p = NULL;
    struct err e = {0};
    CHECK_INT(STATUS_INVALID, pool_open(0, &p, &e));
    err_clear(&e);
    CHECK_INT(STATUS_INVALID, pool_open(100000, &p, &e));
    CHECK(strstr(e.message, "100000") != NULL);
}

static void chew(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    (void)parts;
    (void)worker;
    volatile uint32_t *sink = (volatile uint32_t *)context + part * 16;
    for (uint32_t i = 0; i < 4000; i++) *sink += i;
}

// Milliseconds of `jobs` jobs of the size that one product of a forward has.
static double run_jobs(struct pool *p, uint32_t jobs) {
    static uint32_t sinks[8 * 16];
    struct clock clock = clock_system();
    uint64_t begin = clock_now_ns(&clock);
    for (uint32_t j = 0; j < jobs; j++) pool_run(p, chew, sinks, 8);
    return clock_ms_between(begin, clock_now_ns(&clock));
}

static atomic_bool stop_burning;

static void *burn(void *context) {
    (void)context;
    while (!atomic_load_explicit(&stop_burning, memory_order_relaxed)) {
    }
    return NULL;
}

static void keeps_half_its_speed_with_one_processor_busy(void) {
    if (cpu_count() < 2) {
        test_skip("one processor");
        return;
    }
    struct pool *alone = open_pool(1), *pair = open_pool(2);
    if (!alone || !pair) return;
    pthread_t burner;
    cpu_set_t mask, one;
    sched_getaffinity(0, sizeof mask, &mask);
    size_t last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &mask)) last--;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    atomic_store(&stop_burning, false);
    CHECK_INT(0, pthread_create(&burner, NULL, burn, NULL));
    pthread_setaffinity_np(burner, sizeof one, &one);
    double best = 0;
    for (int i = 0; i < 5; i++) { // others may use this machine too: the best of interleaved pairs counts
        double single = run_jobs(alone, 2000), both = run_jobs(pair, 2000);
        if (single / both > best) best = single / both;
    }
    atomic_store(&stop_burning, true);
    pthread_join(burner, NULL);
    if (best < 0.5) test_fail(__FILE__, __LINE__, "expected half the one-thread speed, got %.2f of it", best);
    pool_close(alone);
    pool_close(pair);
}

static const struct test_case cases[] = {
    {"runs every part exactly once, on any number of threads", runs_every_part_once},
    {"survives a hundred thousand tiny jobs", survives_many_tiny_jobs},
    {"sleeps when idle and wakes again", sleeps_when_idle},
    {"refuses absurd thread counts", refuses_absurd_thread_counts},
    {"keeps half its one-thread speed with one processor busy", keeps_half_its_speed_with_one_processor_busy},
};
TEST_MAIN("base/pool", cases)
