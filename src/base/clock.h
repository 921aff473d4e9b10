// Time is injected: whoever needs it is handed one of these.
#ifndef TF_BASE_CLOCK_H
#define TF_BASE_CLOCK_H

#include <stdint.h>

struct clock {
    uint64_t (*now_ns)(void *context); // monotonic nanoseconds
    void *context;
};

// The machine's monotonic clock.
struct clock clock_system(void);

static inline uint64_t clock_now_ns(const struct clock *c) { return c->now_ns(c->context); }

static inline double clock_ms_between(uint64_t from_ns, uint64_t to_ns) {
    return (double)(to_ns - from_ns) * 1e-6;
}

#endif
