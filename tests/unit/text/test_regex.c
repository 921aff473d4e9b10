// Regular expressions: what matches, what is refused, and that a pattern without end is given up.
#include "text/regex.h"
#include "base/buf.h"
#include "base/mem.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

// The matches of a pattern in a text, each followed by '|'; the error instead, if there is one.
static const char *matches(const char *pattern, const char *text) {
    static char out[1024];
    struct regex *r = NULL;
    struct regex_scratch scratch = {0};
    struct regex_walk w;
    struct err e = {0};
    size_t at = 0, begin, end;
    out[0] = '\0';
    enum status status = regex_new(pattern, strlen(pattern), &r, &e);
    if (status == STATUS_OK) regex_begin(&w, r, &scratch, text, strlen(text));
    for (bool found = true; status == STATUS_OK && found;) {
        status = regex_next(&w, &found, &begin, &end, &e);
        if (status == STATUS_OK && found)
            at += (size_t)snprintf(out + at, sizeof out - at, "%.*s|", (int)(end - begin), text + begin);
    }
    if (status != STATUS_OK) snprintf(out, sizeof out, "%s", e.message);
    regex_scratch_fini(&scratch);
    regex_free(r);
    return out;
}

static void spells_classes_out_of_our_tables(void) {
    CHECK_TEXT("ab|", matches("\\p{L}+", "ab1\u180e"));
    CHECK_TEXT("\U00011de0x|", matches(".\\p{L}", "\U00011de0x"));
    CHECK_TEXT("\U00016d43|", matches("\\p{Lo}+", "\U00016d43")); // a letter since Unicode 16
    CHECK_TEXT(" \u3000|", matches("\\s+", "a \u3000\u180e"));     // the vowel separator is no white space
    CHECK_TEXT("\u0663|", matches("\\d+", "\u0663\u00b2"));
    CHECK_TEXT("a\u00b2|b|", matches("\\w+", "a\u00b2 b\u200d"));  // as Oniguruma has it
    CHECK_TEXT("a|b|", matches("[\\w]+", "a\u00b2 b\u200d"));
    CHECK_TEXT("\u4e2d|", matches("\\p{Han}+", "x\u4e2d\u304b"));
    CHECK_TEXT("x|!|", matches("[^\\p{Han}\\P{Any}]", "x\u4e2d!"));
    CHECK_TEXT("b1_|", matches("[[a-f]\\d_]+", "xb1_x"));
    CHECK_TEXT("bc|", matches("[a-f&&[^a]&&b-z]+", "abc"));
    CHECK_TEXT("\u00e9|A|", matches("[\\u00e9\\x41]", "\u00e9A"));
}

static void follows_the_syntax_of_oniguruma(void) {
    CHECK_TEXT("a|b|", matches("^.", "a\nb"));
    CHECK_TEXT("x|y|", matches(".$", "x\ny"));
    CHECK_TEXT("a\nb|", matches("a(?m:.)b", "a\nb"));
    CHECK_TEXT("'S|'\u017f|", matches("(?i:'s)", "'S '\u017f"));
    CHECK_TEXT("ab|c|", matches("\\b\\w+\\b", "ab!c"));
    CHECK_TEXT("aa|a|", matches("a{1,2}", "aaa"));
    CHECK_TEXT("{2|", matches("{2", "a{2"));
    CHECK_TEXT("ab|", matches("(?<=x)ab(?!c)", "xab abc"));
    CHECK_TEXT("|||", matches("(?=b)|\\z", "abb")); // empty matches count once at each place
}

static void refuses_what_it_does_not_translate(void) {
    static const struct {
        const char *pattern, *named;
    } rows[] = {
        {"(a)\\1", "\\1"}, {"\\p{Klingon}", "\\p{Klingon}"}, {"[[:alpha:]]", "[:"}, {"a(?i)b", "(?i)"},
        {"(?x: a)", "(?x"},  {"\\R", "\\R"},                   {"^*", "*"},             {"[z-a]", "-a"},
        {"a**", "*"},        {"(a", "(a"},                     {"a)", ")"},             {"[a", "[a"},
        {"[]", "["},         {"\\x{110000}", "\\x{"},          {"\\", "\\"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct regex *r = NULL;
        struct err e = {0};
        enum status status = regex_new(rows[i].pattern, strlen(rows[i].pattern), &r, &e);
        if (status != STATUS_UNSUPPORTED) test_fail(__FILE__, __LINE__, "%s was taken", rows[i].pattern);
        if (!strstr(e.message, rows[i].named))
            test_fail(__FILE__, __LINE__, "expected \"%s\" in: %s", rows[i].named, e.message);
        regex_free(r);
    }
}

static void gives_up_a_pattern_without_end(void) {
    CHECK_TEXT("the tokenizer's regular expression takes too long on this text",
               matches("(?:a+)+[bc]", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"));
}

static void shares_classes_that_are_too_many(void) {
    char pattern[12 * 12 + 1];
    // Too large when each class is spelled out.
    for (size_t i = 0; i < 12; i++) memcpy(pattern + 12 * i, "\\p{L}\\P{Lu}?", 13);
    struct buf text;
    struct err e = {0};
    buf_init(&text, 1 << 24);
    CHECK_INT(STATUS_OK, regex_translate(pattern, strlen(pattern), true, &text, &e));
    CHECK(text.n < 40000);
    buf_fini(&text);
    struct regex *r = NULL;
    CHECK_INT(STATUS_OK, regex_new(pattern, strlen(pattern), &r, &e));
    regex_free(r);
}

static void leaves_nothing_behind_when_an_allocation_fails(void) {
    for (uint64_t k = 1; k < 2000 && !test_failed(); k++) {
        struct regex *r = NULL;
        struct err e = {0};
        mem_fail_after(k);
        enum status status = regex_new("[\\p{L}x]\\b", 10, &r, &e);
        mem_fail_after(0);
        regex_free(r);
        if (status == STATUS_OK) return;
        CHECK_INT(STATUS_NO_MEMORY, status);
    }
}

static const struct test_case cases[] = {
    {"spells classes out of our tables", spells_classes_out_of_our_tables},
    {"follows the syntax of Oniguruma", follows_the_syntax_of_oniguruma},
    {"refuses what it does not translate", refuses_what_it_does_not_translate},
    {"gives up a pattern without end", gives_up_a_pattern_without_end},
    {"shares classes that are too many", shares_classes_that_are_too_many},
    {"leaves nothing behind when an allocation fails", leaves_nothing_behind_when_an_allocation_fails},
};
TEST_MAIN("text/regex", cases)
