// Merges out of scores: which there are, and in which order.
#include "text/merges.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static void cuts_and_sorts(void) {
    static const char *const tokens[] = {"a", "b", "ab", "ba", "aba", NULL, "\u00e9", "a\u00e9"};
    static const double scores[] = {0, 0, -1, -2, -3, 9, 0, -1};
    size_t bytes[8];
    for (size_t i = 0; i < 8; i++) bytes[i] = tokens[i] ? strlen(tokens[i]) : 0;
    struct tokenizer_source s = {.tokens = tokens, .token_bytes = bytes, .n_tokens = 8};
    struct arena a;
    struct err e = {0};
    char out[256] = "";
    size_t at = 0;
    arena_init(&a, 1 << 16);
    CHECK_INT(STATUS_OK, merges_from_scores(scores, &a, &s, &e));
    for (size_t i = 0; i < s.n_merges; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%.*s|", (int)s.merge_bytes[i], s.merges[i]);
    CHECK_TEXT("a b|a \u00e9|b a|ab a|a ba|", out);
    arena_fini(&a);
}

static void says_when_there_is_no_memory(void) {
    static const char *const tokens[] = {"a", "b", "ab"};
    static const size_t bytes[] = {1, 1, 2};
    static const double scores[] = {0, 0, 0};
    struct tokenizer_source s = {.tokens = tokens, .token_bytes = bytes, .n_tokens = 3};
    struct arena a;
    struct err e = {0};
    arena_init(&a, 8);
    CHECK_INT(STATUS_NO_MEMORY, merges_from_scores(scores, &a, &s, &e));
    arena_fini(&a);
}

static const struct test_case cases[] = {
    {"cuts and sorts", cuts_and_sorts},
    {"says when there is no memory", says_when_there_is_no_memory},
};
TEST_MAIN("text/merges", cases)
