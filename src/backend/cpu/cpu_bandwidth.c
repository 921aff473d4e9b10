// How fast all threads together read memory: the yardstick for a decode step, which streams the weights.
#include "backend/cpu/cpu_backend.h"

#include "base/clock.h"
#include "base/mem.h"

enum { PASSES = 3, CHUNK = 1 << 20, UNROLL = 8 };

struct sweep {
    uint64_t *words;
    uint64_t sum[1024]; // a worker's sum, so that no read is dropped
};

static void fill(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    struct sweep *s = context;
    (void)worker;
    for (size_t i = (size_t)begin * (CHUNK / 8); i < (size_t)end * (CHUNK / 8); i++) s->words[i] = i;
}

static void sum_chunks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    struct sweep *s = context;
    uint64_t lane[UNROLL] = {0};
    for (size_t i = (size_t)begin * (CHUNK / 8); i < (size_t)end * (CHUNK / 8); i += UNROLL) {
        for (int l = 0; l < UNROLL; l++) lane[l] += s->words[i + (size_t)l];
    }
    for (int l = 0; l < UNROLL; l++) s->sum[worker] += lane[l];
}

double cpu_read_bandwidth(struct backend *b, size_t bytes) {
    struct cpu_backend *c = cpu_of(b);
    struct clock clock = clock_system();
    uint32_t chunks = (uint32_t)(bytes / CHUNK ? bytes / CHUNK : 1);
    struct sweep s = {.words = mem_map((size_t)chunks * CHUNK)};
    if (!s.words) return 0;
    mem_prefer_large_pages(s.words, (size_t)chunks * CHUNK);
    cpu_for_rows(c, fill, &s, chunks, CHUNK);
    double best = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        uint64_t begin = clock_now_ns(&clock);
        cpu_for_rows(c, sum_chunks, &s, chunks, CHUNK);
        double rate = (double)chunks * CHUNK / (clock_ms_between(begin, clock_now_ns(&clock)) * 1e-3);
        best = rate > best ? rate : best;
    }
    volatile uint64_t kept = s.sum[0]; // the sums are used
    (void)kept;
    mem_unmap(s.words, (size_t)chunks * CHUNK);
    return best;
}
