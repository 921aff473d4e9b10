// How a kernel family registers its checks: variants, one function a gate, planted faults, a bench, and tools for them.
//
// A family lives in src/kernels/<family>/<family>_check.c, is named in src/kernels/check.def, and looks like this:
//
//     struct variant { norm_rms_fn *fn; };
//     static const struct variant avx2 = {norm_rms_avx2}, backwards = {norm_rms_backwards};
//
//     static void bits(struct check *c, const void *variant) {
//         const struct variant *v = variant;
//         float *x = check_new(c, n * sizeof *x, 4), *want = ..., *got = ...;
//         if (check_failed(c)) return;                  // no memory
//         check_fill(c, x, n, CHECK_DATA_WIDE);
//         norm_rms_ref(&(struct norm_rms_args){x, want, ...}, 0, 1);
//         v->fn(&(struct norm_rms_args){x, got, ...}, 0, 1);
//         check_same(c, want, got, n, "y");
//     }
//     static const struct check_kernel kernels[] = {{"rms", ISA_AVX2, &avx2}};
//     static const struct check_fault faults[] = {{"backwards", "sums from the end", CHECK_GATE_BITS, &backwards}};
//     const struct check_family norm_check = {"norm", "n >= 1", {bits}, bench, kernels, 1, faults, 1};
#ifndef TF_KERNELS_CHECK_H
#define TF_KERNELS_CHECK_H

#include "base/cpu.h"
#include "base/err.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_gate {
    CHECK_GATE_BITS,        // 0: equal bits to the reference, all kinds of data
    CHECK_GATE_ACCURACY,    // 1: against double precision, within a derived bound
    CHECK_GATE_ROWS,        // 2: a row alone, in every width, at every place, beside random and NaN rows: equal bits
    CHECK_GATE_PARTITION,   // 3: any cut into parts, any order of parts, several threads: equal bits
    CHECK_GATE_COMPOSITION, // 4: fused = step by step, in place = apart, cut passes = whole
    CHECK_GATE_EDGES,       // nothing written outside the output, nothing read outside the input
    CHECK_GATE_COUNT
};

struct check; // one gate being run on one kernel

// `variant` is the family's own record, from check_kernel or check_fault. Reports through check_fail and the like.
typedef void check_fn(struct check *c, const void *variant);

struct check_kernel {
    const char *name; // "Q4_0"; reports call it linear.Q4_0.avx2
    enum isa isa;     // runs only where the processor has it
    const void *variant;
};

// A kernel that is wrong on purpose. Its gate must go red, or the gate is worth nothing.
struct check_fault {
    const char *name; // "split-by-width"; reports call it linear.fault.split-by-width
    const char *does; // what is wrong with it
    enum check_gate gate;
    const void *variant; // needs no instruction set: plain C
};

struct check_family {
    const char *name;   // "linear"
    const char *domain; // what inputs it is for: "n >= 1, k % 32 == 0"
    check_fn *gate[CHECK_GATE_COUNT]; // NULL where a gate does not apply
    check_fn *bench;                  // writes lines with check_line; or NULL
    const struct check_kernel *kernels;
    size_t n_kernels;
    const struct check_fault *faults;
    size_t n_faults;
};

// Results. The gate fails with the first message; later ones are dropped. A gate may return early once it failed.
void check_fail(struct check *c, const char *format, ...) TF_PRINTF(2, 3);
bool check_failed(const struct check *c);

// Equal bits, or NaN on both sides. `what` is formatted and begins the message. False when they differ.
bool check_same(struct check *c, const float *expected, const float *got, size_t n, const char *what, ...)
    TF_PRINTF(5, 6);
// |expected - got| <= bound; a NaN fails.
bool check_near(struct check *c, double expected, double got, double bound, const char *what, ...) TF_PRINTF(5, 6);

// Memory of the running gate, given back when it ends: `bytes` rounded down to an address of `align` (a power of two,
// at least 4), just before a page that cannot be touched, full of poison (each float a NaN). Touching the page behind
// it, or the page before it, fails the gate; so does a changed byte between. NULL when there is no more: the gate has
// failed then, so one `if (check_failed(c)) return;` after the last check_new is enough.
void *check_new(struct check *c, size_t bytes, size_t align);

// Gives back all that the gate has taken so far, after looking for overstepping: for gates that go through many cases.
void check_forget(struct check *c);

void check_poison(float *p, size_t n);
// These floats still hold poison.
bool check_untouched(struct check *c, const float *p, size_t n, const char *what, ...) TF_PRINTF(4, 5);

// Random numbers: the same for the same seed, kernel and gate.
uint64_t check_random(struct check *c);
uint32_t check_below(struct check *c, uint32_t n); // 0 .. n-1
float check_real(struct check *c);                 // in [-1, 1)

enum check_data {
    CHECK_DATA_PLAIN,   // in [-1, 1)
    CHECK_DATA_WIDE,    // any sign, exponents -30 .. 30
    CHECK_DATA_OUTLIER, // plain, every 64th or so a thousand times larger
    CHECK_DATA_SPARSE,  // mostly zeros of both signs, a few subnormal numbers
    CHECK_DATA_COUNT
};
void check_fill(struct check *c, float *x, size_t n, enum check_data kind);

// Runs parts on a few threads at once, as pool_run does.
void check_parallel(struct check *c, pool_fn *fn, void *context, uint32_t parts);

// Bench: best time of one call in nanoseconds, over several tenths of a second.
double check_time_ns(struct check *c, void (*fn)(void *context), void *context);
void check_line(struct check *c, const char *format, ...) TF_PRINTF(2, 3); // one line of the report

#endif
