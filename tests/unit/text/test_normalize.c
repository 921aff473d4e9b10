// Normalizers: every kind of step, and chains of them.
#include "text/normalize.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static const char *normalized(const struct normalize_step *steps, size_t n, const char *text) {
    static char out[1024];
    struct normalizer_chain chain;
    struct normalize_scratch s = {0};
    struct err e = {0};
    const char *made = "";
    size_t n_made = 0;
    enum status status = normalize_init(&chain, steps, n, &e);
    if (status == STATUS_OK) status = normalize_run(&chain, &s, text, strlen(text), &made, &n_made, &e);
    snprintf(out, sizeof out, "%.*s", (int)n_made, status == STATUS_OK ? made : e.message);
    if (status != STATUS_OK) snprintf(out, sizeof out, "%s", e.message);
    normalize_scratch_fini(&s);
    normalize_fini(&chain);
    return out;
}

#define TEXT(t) .text = t, .n = sizeof t - 1
#define WITH(t) .with = t, .n_with = sizeof t - 1
#define CHECK_STEP(expected, from, ...) CHECK_TEXT(expected, normalized(&(struct normalize_step){__VA_ARGS__}, 1, from))

static void has_every_normal_form(void) {
    CHECK_STEP("\u00e9\ufb01", "e\u0301\ufb01", .kind = NORMALIZE_NFC);
    CHECK_STEP("e\u0301\ufb01", "\u00e9\ufb01", .kind = NORMALIZE_NFD);
    CHECK_STEP("\u00e9fi", "e\u0301\ufb01", .kind = NORMALIZE_NFKC);
    CHECK_STEP("e\u0301fi", "\u00e9\ufb01", .kind = NORMALIZE_NFKD);
    CHECK_STEP("\u1112\u1161\u11ab", "\ud55c", .kind = NORMALIZE_NFD);
    CHECK_STEP("\u32ff", "\u32ff", .kind = NORMALIZE_NFKC); // came after Unicode 9
}

static void maps_characters(void) {
    CHECK_STEP("abc\u00e9i\u0307\u03c3", "ABC\u00c9\u0130\u03a3", .kind = NORMALIZE_LOWERCASE);
    CHECK_STEP("e", "e\u0301", .kind = NORMALIZE_STRIP_ACCENTS);
    CHECK_STEP("a b", "a\x01\tb\u200d", .kind = NORMALIZE_BERT_CLEAN);
    CHECK_STEP("a \u4e2d  \u6587 b", "a\u4e2d\u6587b", .kind = NORMALIZE_BERT_CHINESE);
    CHECK_STEP("e\u0903", "e\u0301\u0903", .kind = NORMALIZE_BERT_ACCENTS); // that mark has a width
}

static void edits_text(void) {
    CHECK_STEP("a b \u3000", " \u00a0a b \u3000", .kind = NORMALIZE_STRIP, .left = true);
    CHECK_STEP("a", " a\n", .kind = NORMALIZE_STRIP, .left = true, .right = true);
    CHECK_STEP("", " \n", .kind = NORMALIZE_STRIP, .left = true, .right = true);
    CHECK_STEP("b.ba", "aa.aaa", .kind = NORMALIZE_REPLACE, TEXT("aa"), WITH("b"));
    CHECK_STEP("a b c", "a  b   c", .kind = NORMALIZE_REPLACE_REGEX, TEXT(" {2,}"), WITH(" "));
    CHECK_STEP("_a", "a", .kind = NORMALIZE_PREPEND, WITH("_"));
    CHECK_STEP("", "", .kind = NORMALIZE_PREPEND, WITH("_"));
}

static void runs_steps_in_their_order(void) {
    const struct normalize_step steps[] = {{.kind = NORMALIZE_NFD},
                                           {.kind = NORMALIZE_STRIP_ACCENTS},
                                           {.kind = NORMALIZE_LOWERCASE},
                                           {.kind = NORMALIZE_PREPEND, WITH("_")}};
    CHECK_TEXT("_eau", normalized(steps, 4, "\u00c9A\u0301U"));
}

static void refuses_what_it_cannot_do(void) {
    const struct normalize_step regex = {.kind = NORMALIZE_REPLACE_REGEX, TEXT("(")};
    const struct normalize_step map = {.kind = NORMALIZE_PRECOMPILED, TEXT("abc")};
    CHECK(strstr(normalized(&regex, 1, "a"), "regular expression"));
    CHECK(strstr(normalized(&map, 1, "a"), "character map"));
}

static const struct test_case cases[] = {
    {"has every normal form", has_every_normal_form},
    {"maps characters", maps_characters},
    {"edits text", edits_text},
    {"runs steps in their order", runs_steps_in_their_order},
    {"refuses what it cannot do", refuses_what_it_cannot_do},
};
TEST_MAIN("text/normalize", cases)
