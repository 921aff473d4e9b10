// UTF-8: every code point there and back, and one U+FFFD for each maximal bad part.
#include "base/utf8.h"
#include "tests/support/test.h"

#include <string.h>

static void round_trips_every_code_point(void) {
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        if (c >= 0xd800 && c <= 0xdfff) continue;
        char text[4];
        uint32_t got;
        bool bad;
        size_t n = utf8_put(c, text);
        if (utf8_next(text, n, &got, &bad) != n || bad || got != c) {
            test_fail(__FILE__, __LINE__, "U+%04X came back as U+%04X, bad %d", c, got, bad);
            return;
        }
    }
}

static void writes_the_known_forms(void) {
    char text[4];
    CHECK_INT(1, utf8_put('a', text));
    CHECK_BYTES("a", text, 1);
    CHECK_INT(2, utf8_put(0xe9, text));
    CHECK_BYTES("\xc3\xa9", text, 2);
    CHECK_INT(3, utf8_put(0x20ac, text));
    CHECK_BYTES("\xe2\x82\xac", text, 3);
    CHECK_INT(4, utf8_put(0x1f600, text));
    CHECK_BYTES("\xf0\x9f\x98\x80", text, 4);
}

// Lengths of the parts that utf8_next cuts a text into, as digits; a bad part has '!' after it.
static const char *parts(const char *text, size_t n) {
    static char out[64];
    size_t k = 0;
    for (size_t i = 0; i < n && k + 2 < sizeof out;) {
        uint32_t c;
        bool bad;
        size_t step = utf8_next(text + i, n - i, &c, &bad);
        if (bad && c != 0xfffd) test_fail(__FILE__, __LINE__, "expected U+FFFD, got U+%04X", c);
        out[k++] = (char)('0' + step);
        if (bad) out[k++] = '!';
        i += step;
    }
    out[k] = '\0';
    return out;
}

static void cuts_broken_bytes_into_maximal_parts(void) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"a\x80"
         "b",
         "11!1"},
        {"\xf1\x80\x80\xe1\x80\xc2"
         "b\x80"
         "c\x80\xbf"
         "d", // the Unicode Standard's own example, table 3-8
         "3!2!1!11!11!1!1"},
        {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82"
         "A",
         "1!1!1!1!1!1!1!1!1"},
        {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf"
         "A",
         "1!1!1!1!1!1!1!1!1"},
        {"\xf4\x91\x92\x93\xff"
         "A\x80\xbf"
         "B",
         "1!1!1!1!1!11!1!1"},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf"
         "A",
         "2!1!3!2!1"},
        {"\xf0\x9f\x98", "3!"},
        {"\xf4\x8f\xbf\xbf\xf5", "41!"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_TEXT(rows[i].expected, parts(rows[i].text, strlen(rows[i].text)));
        CHECK(!utf8_valid(rows[i].text, strlen(rows[i].text)));
    }
    CHECK(utf8_valid("h\xc3\xa9", 3));
    CHECK(utf8_valid("", 0));
}

static void holds_back_only_what_more_bytes_could_complete(void) {
    static const struct {
        const char *text;
        size_t whole;
    } rows[] = {
        {"", 0},           {"ab", 2},         {"a\xc3", 1},         {"a\xe2\x82", 1}, {"a\xf0\x9f\x98", 1},
        {"\xe2\x82\xac", 3}, {"a\x80\x80\x80\x80", 5}, {"a\xe0\x80", 3},   {"a\xed\xa0", 3}, {"a\xf4\x90", 3},
        {"a\xff", 2},      {"a\xc0", 2},      {"\xf0\x9f\x98\x80", 4}, {"\xf0\x9f\xf0", 2}, {"\xc3\xa9\x80", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_INT(rows[i].whole, utf8_whole_prefix(rows[i].text, strlen(rows[i].text)));
}

static const struct test_case cases[] = {
    {"round-trips every code point", round_trips_every_code_point},
    {"writes the known forms", writes_the_known_forms},
    {"cuts broken bytes into maximal parts", cuts_broken_bytes_into_maximal_parts},
    {"holds back only what more bytes could complete", holds_back_only_what_more_bytes_could_complete},
};
TEST_MAIN("base/utf8", cases)
