// The machine's monotonic clock.
#include "base/clock.h"

#include <time.h>

static uint64_t system_now(void *context) {
    (void)context;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct clock clock_system(void) { return (struct clock){.now_ns = system_now}; }
