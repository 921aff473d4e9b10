// How fast all threads together read memory: the yardstick for a decode step, which streams the weights.
#include "backend/cpu/cpu_backend.h"

#include "base/clock.h"
#include "base/mem.h"

enum { PASSES = 3, CHUNK = 1 << 20 };

// One cache line of words: sums of whole lines keep several loads in flight with any instruction set.
typedef uint64_t line __attribute__((vector_size(64)));
enum { LINES = CHUNK / sizeof(line) };

struct sweep {
    line *lines;
    uint64_t sum[1024]; // a worker's, so that no read is dropped
};

static void fill(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    struct sweep *s = context;
    (void)worker;
    for (size_t i = (size_t)begin * LINES; i < (size_t)end * LINES; i++) s->lines[i] = (line){i};
}

static void sum_chunks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    struct sweep *s = context;
    line even = {0}, odd = {0};
    for (size_t i = (size_t)begin * LINES; i < (size_t)end * LINES; i += 2) {
        even += s->lines[i];
        odd += s->lines[i + 1];
    }
    even += odd;
    for (int l = 0; l < 8; l++) s->sum[worker] += even[l];
}

double cpu_read_bandwidth(struct backend *b, size_t bytes) {
    struct cpu_backend *c = cpu_of(b);
    struct clock clock = clock_system();
    uint32_t chunks = (uint32_t)(bytes / CHUNK ? bytes / CHUNK : 1);
    struct sweep s = {.lines = mem_map((size_t)chunks * CHUNK)};
    if (!s.lines) return 0;
    mem_prefer_large_pages(s.lines, (size_t)chunks * CHUNK);
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
    mem_unmap(s.lines, (size_t)chunks * CHUNK);
    return best;
}
