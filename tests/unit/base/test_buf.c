// Growable buffers: limits, failures remembered, always terminated.
#include "base/buf.h"
#include "tests/support/test.h"

static void refuses_growth_past_its_limit(void) {
    struct buf b;
    buf_init(&b, 5);
    buf_text(&b, "hello");
    CHECK_TEXT("hello", b.data);
    buf_byte(&b, '!');
    CHECK_INT(STATUS_TOO_LARGE, b.failed);
    CHECK_INT(5, b.n);
    buf_fini(&b);
}

static void remembers_a_failure_until_reset(void) {
    struct buf b;
    buf_init(&b, 4);
    buf_text(&b, "12345");
    buf_text(&b, "x");
    CHECK_INT(0, b.n);
    buf_reset(&b);
    buf_printf(&b, "%d", 42);
    CHECK_TEXT("42", b.data);
    buf_fini(&b);
}

static const struct test_case cases[] = {
    {"refuses growth past its limit", refuses_growth_past_its_limit},
    {"remembers a failure until it is reset", remembers_a_failure_until_reset},
};
TEST_MAIN("base/buf", cases)
