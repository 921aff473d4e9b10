// A fixed set of pinned worker threads that share one job at a time; who does a part never matters to its result.
#ifndef TF_BASE_POOL_H
#define TF_BASE_POOL_H

#include "base/err.h"

#include <stdint.h>

struct pool;

// Computes part `part` of `parts`. `worker` (0 .. threads-1) names scratch that only this worker uses now.
typedef void pool_fn(void *context, uint32_t part, uint32_t parts, uint32_t worker);

// Starts threads-1 workers; the caller of pool_run is worker 0. threads >= 1. Workers round to nearest,
// without flush-to-zero. Each is pinned to one processor of the process's affinity mask while there are
// enough of them.
enum status pool_open(uint32_t threads, struct pool **out, struct err *e) TF_MUST_CHECK;
void pool_close(struct pool *p);

// Runs fn for every part in 0 .. parts-1 and returns when all are done. Parts are claimed one by one, so a
// worker that the system took away holds back at most the part it was in, and one that is asleep holds back
// nothing. parts <= 65,535. One caller at a time; fn must not call pool_run. Never allocates.
void pool_run(struct pool *p, pool_fn *fn, void *context, uint32_t parts);

#endif
