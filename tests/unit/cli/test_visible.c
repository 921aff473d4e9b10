// Text for a terminal: control characters are replaced, all else stays byte for byte.
#include "cli/visible.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static void expect(const char *expected, const char *text, size_t n, int line) {
    char got[128] = "";
    FILE *out = fmemopen(got, sizeof got, "w");
    if (!out) {
        test_fail(__FILE__, __LINE__, "no stream");
        return;
    }
    if (line) {
        visible_print_line(out, text);
    } else {
        visible_print(out, text, n);
    }
    fclose(out);
    CHECK_TEXT(expected, got);
}

static void replaces_control_characters(void) {
    static const char text[] = "a\x1b[31m\x7f\xc2\x9b\xc2\xa0\t\n\0z";
    expect("a\uFFFD[31m\uFFFD\uFFFD\xc2\xa0\t\n\uFFFDz", text, sizeof text - 1, 0);
}

static void keeps_a_message_on_one_line(void) { expect("a\uFFFDb\uFFFDc", "a\nb\tc", 0, 1); }

static void passes_on_broken_utf8(void) { expect("\xc2", "\xc2", 1, 0); }

static const struct test_case cases[] = {
    {"replaces control characters", replaces_control_characters},
    {"keeps a message on one line", keeps_a_message_on_one_line},
    {"passes on what is no whole character", passes_on_broken_utf8},
};
TEST_MAIN("cli/visible", cases)
