// The test runner: a table of named cases, a line for each failure, `N passed, N failed` at the end.
#ifndef TF_TESTS_SUPPORT_TEST_H
#define TF_TESTS_SUPPORT_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_case {
    const char *name; // a sentence: "keeps the prefix up to the first mismatch"
    void (*fn)(void);
};

// Runs the cases whose name contains argv[1] (all without one); `--list` prints their names. Returns the exit status.
int test_main(const char *module, const struct test_case *cases, size_t n, int argc, char **argv);

#define TEST_MAIN(module, cases)                                                                   \
    int main(int argc, char **argv) {                                                              \
        return test_main(module, cases, sizeof(cases) / sizeof((cases)[0]), argc, argv);           \
    }

// The running case failed; the check macros below call it. Cases go on after a failed check.
void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool test_failed(void); // the running case has failed already
// The running case cannot be judged here (a processor without AVX-512, say); it is counted as skipped, with the reason.
void test_skip(const char *reason);

// The larger of two distances; one that is no number is the largest. (fmax would pass over it.)
static inline double test_worse(double worst, double off) { return off > worst || isnan(off) ? off : worst; }

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) test_fail(__FILE__, __LINE__, "expected %s", #cond);                          \
    } while (0)
#define CHECK_INT(expected, got)                                                                   \
    do {                                                                                           \
        long long e_ = (long long)(expected), g_ = (long long)(got);                               \
        if (e_ != g_) test_fail(__FILE__, __LINE__, "%s: expected %lld, got %lld", #got, e_, g_);  \
    } while (0)
#define CHECK_TEXT(expected, got) test_check_text(__FILE__, __LINE__, #got, expected, got)
#define CHECK_BYTES(expected, got, n) test_check_bytes(__FILE__, __LINE__, #got, expected, got, n)

void test_check_text(const char *file, int line, const char *what, const char *expected, const char *got);
void test_check_bytes(const char *file, int line, const char *what, const void *expected, const void *got, size_t n);

// Deterministic random numbers (splitmix64): same seed, same draws, everywhere.
struct test_random {
    uint64_t state;
};
uint64_t test_random_u64(struct test_random *r);
uint32_t test_random_below(struct test_random *r, uint32_t n);
float test_random_float(struct test_random *r); // in [-1, 1)
#endif
