// Normalization forms: the annex's own cases, Hangul, stretches, marks without end.
#include "text/normal_form.h"
#include "base/clock.h"
#include "base/mem.h"
#include "tests/support/test.h"

#include <string.h>

static void check(const char *text, const char *expected) {
    struct buf out;
    struct err e = {0};
    buf_init(&out, 1 << 20);
    if (normal_form_append(NORMAL_FORM_C, text, strlen(text), &out, &e) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s", e.message);
    CHECK_TEXT(expected, out.data ? out.data : "");
    if (normal_form_quick_check(NORMAL_FORM_C, text, strlen(text)) && strcmp(text, expected) != 0)
        test_fail(__FILE__, __LINE__, "\"%s\" passed the quick check but changes", text);
    buf_fini(&out);
}

static void composes_and_orders(void) {
    check("", "");
    check("plain text", "plain text");
    check("e\u0301", "\u00e9");
    check("ae\u0301b e\u0301", "a\u00e9b \u00e9");
    check("\u212b", "\u00c5");                           // a singleton
    check("\u1e9b\u0323", "\u1e9b\u0323");               // the annex's example: stays
    check("s\u0307\u0323", "\u1e69");                    // reordered, then composed twice
    check("d\u0307\u0323", "\u1e0d\u0307");              // one mark composes, the other stays
    check("q\u0307\u0323", "q\u0323\u0307");             // only reordered
    check("a\u0315\u0300\u05ae\u0300b", "\u00e0\u05ae\u0300\u0315b");
    check("\u0344", "\u0308\u0301");                     // a mark that decomposes for good
    check("\u0915\u093c", "\u0915\u093c");               // excluded from composition
    check("\u0958", "\u0915\u093c");
    check("\u0301e\u0301", "\u0301\u00e9");              // a mark that stands first
    check("a\u0334\u0301", "\u00e1\u0334");             // composes past a mark of a lower class
}

static void follows_the_rule_for_hangul(void) {
    check("\u1112\u1161\u11ab", "\ud55c");
    check("\uac00\u11a8", "\uac01");
    check("\uac00\u11a7", "\uac00\u11a7"); // that is no trailing consonant
    check("\uac01\u11a8", "\uac01\u11a8"); // a syllable that has one already
    check("\u1100\u1161\u1161", "\uac00\u1161");
    check("\u1100\u0301\u1161", "\u1100\u0301\u1161"); // blocked by a mark
}

static void knows_no_characters_later_than_unicode_9(void) {
    check("a\U000113c2\U000113b8", "a\U000113c2\U000113b8"); // composes to U+113C7 since 16.0
    check("a\u0315\u1ac1", "a\u0315\u1ac1");                  // a mark of class 230 since 14.0: would be reordered
}

static void stays_linear_on_marks_without_end(void) {
    enum { N = 400000 };
    char *text = mem_new(2 * N + 1, 1);
    for (size_t i = 0; i < N; i++) memcpy(text + 2 * i, i % 2 ? "\u0316" : "\u0301", 2);
    struct buf out;
    struct err e = {0};
    struct clock c = clock_system();
    buf_init(&out, 4 * N);
    uint64_t begin = clock_now_ns(&c);
    CHECK_INT(STATUS_OK, normal_form_append(NORMAL_FORM_C, text, 2 * N, &out, &e));
    double ms = clock_ms_between(begin, clock_now_ns(&c));
    if (ms > 4000) test_fail(__FILE__, __LINE__, "%d marks took %.0f ms; sorting by insertion takes minutes", N, ms);
    CHECK_INT(2 * N, out.n);
    CHECK_BYTES("\u0316\u0316", out.data, 4);
    CHECK_BYTES("\u0301\u0301", out.data + 2 * N - 4, 4);
    buf_fini(&out);
    mem_free(text);
}

static void survives_every_allocation_that_fails(void) {
    static const char text[] = "e\u0301 s\u0307\u0323 \u1112\u1161\u11ab";
    for (uint64_t k = 1; !test_failed(); k++) {
        struct buf out;
        struct err e = {0};
        buf_init(&out, 1 << 20);
        mem_fail_after(k);
        enum status status = normal_form_append(NORMAL_FORM_C, text, sizeof text - 1, &out, &e);
        mem_fail_after(0);
        buf_fini(&out);
        if (status == STATUS_OK) break;
        CHECK_INT(STATUS_NO_MEMORY, status);
    }
}

static const struct test_case cases[] = {
    {"composes and orders", composes_and_orders},
    {"follows the rule for Hangul", follows_the_rule_for_hangul},
    {"knows no characters later than Unicode 9", knows_no_characters_later_than_unicode_9},
    {"stays linear on marks without end", stays_linear_on_marks_without_end},
    {"survives every allocation that fails", survives_every_allocation_that_fails},
};
TEST_MAIN("text/normal_form", cases)
