// Tools that gates are written with: results, comparisons, random data, time.
#include "kernels/check_state.h"

#include "base/float16.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fail_list(struct check *c, const char *format, va_list args) TF_PRINTF(2, 0);
static void fail_list(struct check *c, const char *format, va_list args) {
    if (!c->failed) vsnprintf(c->message, sizeof c->message, format, args);
    c->failed = true;
}

// Adds to the message of a failure that was just recorded.
static void fail_detail(struct check *c, const char *format, ...) TF_PRINTF(2, 3);
static void fail_detail(struct check *c, const char *format, ...) {
    size_t used = strlen(c->message);
    va_list args;
    va_start(args, format);
    vsnprintf(c->message + used, sizeof c->message - used, format, args);
    va_end(args);
}

void check_fail(struct check *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_list(c, format, args);
    va_end(args);
}

bool check_failed(const struct check *c) { return c->failed; }

bool check_same(struct check *c, const float *expected, const float *got, size_t n, const char *what, ...) {
    size_t i = 0;
    while (i < n && (float_bits(expected[i]) == float_bits(got[i]) || (isnan(expected[i]) && isnan(got[i])))) i++;
    if (i == n) return true;
    if (c->failed) return false;
    va_list args;
    va_start(args, what);
    fail_list(c, what, args);
    va_end(args);
    fail_detail(c, "[%zu]: expected %.9g (%08x), got %.9g (%08x)", i, (double)expected[i], float_bits(expected[i]),
                (double)got[i], float_bits(got[i]));
    return false;
}

bool check_near(struct check *c, double expected, double got, double bound, const char *what, ...) {
    if (fabs(expected - got) <= bound) return true;
    if (c->failed) return false;
    va_list args;
    va_start(args, what);
    fail_list(c, what, args);
    va_end(args);
    fail_detail(c, ": expected %.9g, got %.9g, off by %.3g, at most %.3g", expected, got, fabs(expected - got), bound);
    return false;
}

void *check_new(struct check *c, size_t bytes, size_t align) {
    void *p = check_memory_new(&c->memory, bytes, align);
    if (!p) check_fail(c, "the check has no room for %zu bytes more", bytes);
    return p;
}

void check_forget(struct check *c) {
    char text[160];
    if (!check_memory_reset(&c->memory, text, sizeof text)) check_fail(c, "%s", text);
}

void check_poison(float *p, size_t n) {
    for (size_t i = 0; i < n; i++) p[i] = float_from_bits(CHECK_POISON);
}

bool check_untouched(struct check *c, const float *p, size_t n, const char *what, ...) {
    size_t i = 0;
    while (i < n && float_bits(p[i]) == CHECK_POISON) i++;
    if (i == n) return true;
    if (c->failed) return false;
    va_list args;
    va_start(args, what);
    fail_list(c, what, args);
    va_end(args);
    fail_detail(c, "[%zu]: written, but not its to write", i);
    return false;
}

uint64_t check_random(struct check *c) {
    uint64_t z = c->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t check_below(struct check *c, uint32_t n) { return (uint32_t)(check_random(c) % n); }

float check_real(struct check *c) { return (float)(int32_t)(check_random(c) >> 40) * 0x1p-23f - 1.0f; }

static float datum(struct check *c, enum check_data kind) {
    float x = check_real(c);
    switch (kind) {
    case CHECK_DATA_WIDE: return ldexpf(x, (int)check_below(c, 61) - 30);
    case CHECK_DATA_OUTLIER: return check_below(c, 64) == 0 ? 1000.0f * x : x;
    case CHECK_DATA_SPARSE: {
        uint32_t pick = check_below(c, 16);
        return pick < 8 ? 0.0f : pick < 12 ? -0.0f : pick < 14 ? x * 0x1p-130f : x;
    }
    case CHECK_DATA_PLAIN:
    case CHECK_DATA_COUNT: break;
    }
    return x;
}

void check_fill(struct check *c, float *x, size_t n, enum check_data kind) {
    for (size_t i = 0; i < n; i++) x[i] = datum(c, kind);
}

void check_parallel(struct check *c, pool_fn *fn, void *context, uint32_t parts) {
    pool_run(c->pool, fn, context, parts);
}

// Nanoseconds of `calls` calls in a row.
static uint64_t time_calls(struct check *c, void (*fn)(void *context), void *context, uint32_t calls) {
    const struct clock *clock = &c->options->clock;
    uint64_t begin = clock_now_ns(clock);
    for (uint32_t i = 0; i < calls; i++) fn(context);
    return clock_now_ns(clock) - begin;
}

double check_time_ns(struct check *c, void (*fn)(void *context), void *context) {
    enum { SAMPLE_NS = 5000000, SAMPLES = 40, SAMPLES_MIN = 3 };
    static const uint64_t TOTAL_NS = 300000000;
    uint64_t first = time_calls(c, fn, context, 1) + 1, spent = 0;
    uint32_t calls = first < SAMPLE_NS ? (uint32_t)(SAMPLE_NS / first) + 1 : 1;
    double best = INFINITY;
    for (int i = 0; i < SAMPLES && (i < SAMPLES_MIN || spent < TOTAL_NS); i++) {
        uint64_t ns = time_calls(c, fn, context, calls);
        spent += ns;
        best = fmin(best, (double)ns / calls);
    }
    return best;
}

void check_line(struct check *c, const char *format, ...) {
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    c->options->write(c->options->context, line);
}
