// The thread pool: parts are claimed on one 64-bit word, so a late worker can never touch a finished job.
#include "base/pool.h"

#include "base/cpu.h"
#include "base/mem.h"

#include <fenv.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The claim word holds epoch << 32 | next << 16 | total. A claim is one compare-and-swap of next to next + 1, so it
// succeeds only on the job that is open now; fn and context are read after it, and stay until the claimed part is done.
enum { LINE = 64 };

// Looks at a word before sleeping: some tens of microseconds, longer than the gap between two ops of a forward.
enum { SPINS_BETWEEN_JOBS = 4000, SPINS_AT_END = 2000 };

struct pool_worker {
    struct pool *pool;
    uint32_t index;
    pthread_t thread;
};

struct pool {
    _Alignas(LINE) _Atomic uint64_t claim;
    pool_fn *fn;
    void *context;
    _Alignas(LINE) _Atomic uint32_t done; // finished parts of this job; a futex while the caller sleeps on it
    _Atomic uint32_t caller_sleeps;
    _Alignas(LINE) _Atomic uint32_t wake; // futex of sleeping workers
    _Atomic uint32_t sleepers;
    _Atomic bool closing;
    uint32_t threads, started, spins;
    struct pool_worker *workers; // [threads], entry 0 unused
};

static uint32_t claim_next(uint64_t word) { return (uint32_t)(word >> 16) & 0xffff; }
static uint32_t claim_total(uint64_t word) { return (uint32_t)word & 0xffff; }
static bool claim_open(uint64_t word) { return claim_next(word) < claim_total(word); }

static void futex_sleep(_Atomic uint32_t *word, uint32_t expected) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, uint32_t n) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

static inline void spin_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Counts one finished part; the last one wakes a sleeping caller.
static void finish_part(struct pool *p, uint32_t total) {
    if (atomic_fetch_add(&p->done, 1) + 1 == total && atomic_load(&p->caller_sleeps)) futex_wake(&p->done, 1);
}

// Claims and computes parts until none is left.
static void work(struct pool *p, uint32_t worker) {
    uint64_t word = atomic_load(&p->claim);
    while (claim_open(word)) {
        if (!atomic_compare_exchange_weak(&p->claim, &word, word + (1 << 16))) continue;
        uint32_t total = claim_total(word);
        p->fn(p->context, claim_next(word), total, worker);
        finish_part(p, total);
        word = atomic_load(&p->claim);
    }
}

// Returns once a job is open or the pool closes.
static void await_job(struct pool *p) {
    for (uint32_t i = 0; i < p->spins; i++) {
        if (claim_open(atomic_load_explicit(&p->claim, memory_order_relaxed))) return;
        spin_pause();
    }
    for (;;) {
        uint32_t seen = atomic_load(&p->wake);
        atomic_fetch_add(&p->sleepers, 1); // before the last look: pool_run opens the job, then reads sleepers
        bool ready = claim_open(atomic_load(&p->claim)) || atomic_load(&p->closing);
        if (!ready) futex_sleep(&p->wake, seen);
        atomic_fetch_sub(&p->sleepers, 1);
        if (ready || claim_open(atomic_load(&p->claim)) || atomic_load(&p->closing)) return;
    }
}

static void await_end(struct pool *p, uint32_t parts) {
    for (uint32_t i = 0; i < p->spins && i < SPINS_AT_END; i++) {
        if (atomic_load_explicit(&p->done, memory_order_acquire) == parts) return;
        spin_pause();
    }
    atomic_store(&p->caller_sleeps, 1);
    for (uint32_t done = atomic_load(&p->done); done != parts; done = atomic_load(&p->done)) {
        futex_sleep(&p->done, done);
    }
    atomic_store(&p->caller_sleeps, 0);
}

static void *worker_main(void *context) {
    struct pool_worker *w = context;
    fesetenv(FE_DFL_ENV); // the arithmetic rounds to nearest and keeps subnormals
    while (!atomic_load(&w->pool->closing)) {
        work(w->pool, w->index);
        await_job(w->pool);
    }
    return NULL;
}

// Pins a thread to the index-th processor of the mask. The caller of pool_run stays free to move: pinning it would
// change what the rest of the program inherits.
static void pin(pthread_t thread, const cpu_set_t *mask, uint32_t index) {
    size_t cpu = 0;
    while (cpu < CPU_SETSIZE && !(CPU_ISSET(cpu, mask) && index-- == 0)) cpu++;
    if (cpu == CPU_SETSIZE) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)pthread_setaffinity_np(thread, sizeof one, &one); // a refusal costs speed only
}

static enum status start_workers(struct pool *p, struct err *e) {
    cpu_set_t mask;
    bool pinned = sched_getaffinity(0, sizeof mask, &mask) == 0 && (uint32_t)CPU_COUNT(&mask) >= p->threads;
    for (uint32_t i = 1; i < p->threads; i++) {
        struct pool_worker *w = &p->workers[i];
        *w = (struct pool_worker){.pool = p, .index = i};
        int error = pthread_create(&w->thread, NULL, worker_main, w);
        if (error) return err_set(e, STATUS_NO_MEMORY, "thread %u of %u: %s", i + 1, p->threads, strerror(error));
        p->started = i;
        if (pinned) pin(w->thread, &mask, i);
    }
    return STATUS_OK;
}

enum status pool_open(uint32_t threads, struct pool **out, struct err *e) {
    if (threads < 1 || threads > 1024) return err_set(e, STATUS_INVALID, "%u threads: use 1 to 1024", threads);
    struct pool *p = mem_map(sizeof *p); // page-aligned, so that its lines do not share
    struct pool_worker *workers = mem_new(threads, sizeof *workers);
    if (!p || !workers) {
        mem_unmap(p, sizeof *p);
        mem_free(workers);
        return err_set(e, STATUS_NO_MEMORY, "no memory for %u threads", threads);
    }
    p->threads = threads;
    p->workers = workers;
    p->spins = threads <= cpu_count() ? SPINS_BETWEEN_JOBS : 0; // with fewer processors a spin only delays the others
    enum status status = start_workers(p, e);
    if (status != STATUS_OK) {
        pool_close(p);
        return status;
    }
    *out = p;
    return STATUS_OK;
}

void pool_close(struct pool *p) {
    if (!p) return;
    atomic_store(&p->closing, true);
    atomic_fetch_add(&p->wake, 1);
    futex_wake(&p->wake, INT_MAX);
    for (uint32_t i = 1; i <= p->started; i++) pthread_join(p->workers[i].thread, NULL);
    mem_free(p->workers);
    mem_unmap(p, sizeof *p);
}

void pool_run(struct pool *p, pool_fn *fn, void *context, uint32_t parts) {
    if (p->threads == 1 || parts <= 1) {
        for (uint32_t i = 0; i < parts; i++) fn(context, i, parts, 0);
        return;
    }
    p->fn = fn;
    p->context = context;
    atomic_store(&p->done, 0);
    uint64_t epoch = (atomic_load(&p->claim) >> 32) + 1;
    atomic_store(&p->claim, epoch << 32 | parts);
    if (atomic_load(&p->sleepers)) {
        atomic_fetch_add(&p->wake, 1);
        futex_wake(&p->wake, parts - 1);
    }
    work(p, 0);
    await_end(p, parts);
}
