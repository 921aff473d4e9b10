// The test runner.
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *case_name, *module_name, *skip_reason;
static bool case_failed;

void test_fail(const char *file, int line, const char *format, ...) {
    if (!case_failed) printf("FAIL %s: %s\n", module_name, case_name);
    case_failed = true;
    printf("  %s:%d: ", file, line);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

bool test_failed(void) { return case_failed; }
void test_skip(const char *reason) { skip_reason = reason; }

void test_check_text(const char *file, int line, const char *what, const char *expected, const char *got) {
    if (expected == got) return;
    if (expected && got && strcmp(expected, got) == 0) return;
    test_fail(file, line, "%s: expected \"%s\", got \"%s\"", what, expected ? expected : "(null)",
              got ? got : "(null)");
}

void test_check_bytes(const char *file, int line, const char *what, const void *expected, const void *got, size_t n) {
    const uint8_t *e = expected, *g = got;
    for (size_t i = 0; i < n; i++) {
        if (e[i] == g[i]) continue;
        test_fail(file, line, "%s: byte %zu of %zu: expected %02x, got %02x", what, i, n, e[i], g[i]);
        return;
    }
}

uint64_t test_random_u64(struct test_random *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t test_random_below(struct test_random *r, uint32_t n) { return (uint32_t)(test_random_u64(r) % n); }

float test_random_float(struct test_random *r) {
    return (float)(int32_t)(test_random_u64(r) >> 40) * 0x1p-23f - 1.0f;
}

int test_main(const char *module, const struct test_case *cases, size_t n, int argc, char **argv) {
    int passed = 0, failed = 0, skipped = 0;
    module_name = module;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < n; i++) {
        if (argc > 1 && strcmp(argv[1], "--list") == 0) {
            printf("%s\n", cases[i].name);
            continue;
        }
        if (argc > 1 && !strstr(cases[i].name, argv[1])) continue;
        case_name = cases[i].name;
        case_failed = false;
        skip_reason = NULL;
        cases[i].fn();
        if (case_failed) failed++;
        else if (skip_reason) {
            printf("skip %s: %s: %s\n", module, case_name, skip_reason);
            skipped++;
        } else passed++;
    }
    if (argc > 1 && strcmp(argv[1], "--list") == 0) return 0;
    printf("%d passed, %d failed", passed, failed);
    if (skipped) printf(", %d skipped", skipped);
    printf("\n");
    return failed ? 1 : 0;
}
