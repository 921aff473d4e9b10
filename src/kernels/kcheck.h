// The kernel contract: runs every registered kernel through its gates, and every planted fault into its own.
#ifndef TF_KERNELS_KCHECK_H
#define TF_KERNELS_KCHECK_H

#include "base/clock.h"
#include "base/cpu.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct kcheck_options {
    const char *op; // glob over names, in any case: linear.Q4_0.avx2, linear.fault.tail-by-window; NULL = all
    uint32_t isas;  // bit per enum isa; 0 = all. Planted faults run in any case
    uint64_t seed;
    bool bench, list; // speed lines instead of checks; names instead of checks
    struct clock clock;
    void (*write)(void *context, const char *line); // one line of the report, no newline
    void *context;
};

struct kcheck_summary {
    uint32_t passed, failed, skipped; // kernels
    uint32_t red, missed;             // planted faults
    uint32_t visited;                 // kernels and faults that `op` and `isas` chose
    uint32_t limits;                  // kernels that allocated, or left the floating-point environment changed
};

// "avx2,ref" to bits for `isas`; an unknown name is refused. One that this machine lacks is skipped by name.
enum status kcheck_parse_isas(const char *list, uint32_t *isas, struct err *e) TF_MUST_CHECK;

// Runs the checks. Its last line is
//   SUMMARY n kernels: a pass, b fail; c controls: d red as planted, e missed; f limit problems
// STATUS_OK means that it ran: the summary says how it went. One caller at a time in a process (it handles SIGSEGV).
enum status kcheck_run(const struct kcheck_options *o, struct kcheck_summary *s, struct err *e) TF_MUST_CHECK;

static inline bool kcheck_good(const struct kcheck_summary *s) { return !s->failed && !s->missed && !s->limits; }

#endif
