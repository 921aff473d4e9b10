// Stop strings: held back across pieces, never leaked, the same however the text is cut.
#include "base/mem.h"
#include "tests/support/test.h"
#include "text/stop.h"

#include <string.h>

enum { STRINGS_MAX = 4, OUTPUT_MAX = 4096 };

static struct stop_matcher *matcher(const char *const *strings, size_t n) {
    size_t bytes[STOP_STRINGS_MAX];
    struct stop_matcher *m = NULL;
    struct err e = {0};
    for (size_t i = 0; i < n; i++) bytes[i] = strlen(strings[i]);
    if (stop_new(strings, bytes, n, &m, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "stop_new: %s", e.message);
    return m;
}

// Pushes pieces one by one and joins what came out with '|' after each, then "." and what the end brings.
static void check_pieces(const char *stop, const char *const *pieces, size_t n, const char *expected, int matched) {
    struct stop_matcher *m = matcher(&stop, 1);
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    for (size_t i = 0; i < n; i++) {
        stop_push(m, pieces[i], strlen(pieces[i]), &out);
        buf_byte(&out, '|');
    }
    buf_byte(&out, '.');
    stop_end(m, &out);
    CHECK_TEXT(expected, out.data);
    CHECK_INT(matched, stop_matched(m));
    buf_fini(&out);
    stop_free(m);
}

static void finds_a_string_spread_over_tokens(void) {
    static const char *const pieces[] = {"text ", "uv", "w", "xy", "z", "never"};
    check_pieces("uvwxyz", pieces, 6, "text ||||||.", 0);
}

static void gives_back_what_was_no_stop_string(void) {
    static const char *const pieces[] = {"a uv", "wx", "uvw", "x!", "uv"};
    check_pieces("uvwxyz", pieces, 5, "a ||uvwx|uvwx!||.uv", -1);
}

static void holds_the_longest_possible_beginning(void) {
    static const char *const pieces[] = {"aaba", "aab", "x"};
    check_pieces("aabaaac", pieces, 3, "|aaba|aabx|.", -1);
}

static void passes_text_through_without_strings(void) {
    struct stop_matcher *m = matcher(NULL, 0);
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    CHECK(!stop_push(m, "hello", 5, &out));
    CHECK_TEXT("hello", out.data);
    buf_fini(&out);
    stop_free(m);
}

static void prefers_the_first_end_then_the_longest(void) {
    static const char *const strings[] = {"cd", "bcd", "abcdef"};
    struct stop_matcher *m = matcher(strings, 3);
    struct buf out;
    buf_init(&out, OUTPUT_MAX);
    CHECK(stop_push(m, "xabcdef", 7, &out));
    CHECK_TEXT("xa", out.data);
    CHECK_INT(1, stop_matched(m));
    buf_fini(&out);
    stop_free(m);
}

static void refuses_empty_and_too_many_strings(void) {
    const char *strings[STOP_STRINGS_MAX + 1];
    size_t bytes[STOP_STRINGS_MAX + 1];
    struct stop_matcher *m;
    for (int i = 0; i <= STOP_STRINGS_MAX; i++) {
        strings[i] = "x";
        bytes[i] = 1;
    }
    CHECK_INT(STATUS_TOO_LARGE, stop_new(strings, bytes, STOP_STRINGS_MAX + 1, &m, NULL));
    bytes[0] = 0;
    CHECK_INT(STATUS_INVALID, stop_new(strings, bytes, 1, &m, NULL));
    CHECK(m == NULL);
}

static void frees_all_when_memory_ends(void) {
    static const char *const strings[] = {"one", "two"};
    static const size_t bytes[] = {3, 3};
    for (uint64_t at = 1; at <= 6; at++) {
        struct stop_matcher *m;
        mem_fail_after(at);
        CHECK_INT(STATUS_NO_MEMORY, stop_new(strings, bytes, 2, &m, NULL));
        mem_fail_after(0);
    }
}

// The plain definition: at every byte, does the text so far end with a stop string? Returns the bytes of visible text.
static size_t plain_search(const char *text, size_t n, const char *const *strings, size_t n_strings) {
    for (size_t end = 1; end <= n; end++) {
        size_t longest = 0;
        for (size_t i = 0; i < n_strings; i++) {
            size_t m = strlen(strings[i]);
            if (m <= end && m > longest && memcmp(text + end - m, strings[i], m) == 0) longest = m;
        }
        if (longest) return end - longest;
    }
    return n;
}

static void agrees_with_a_plain_search_on_random_text(void) {
    struct test_random random = {1};
    for (int round = 0; round < 3000; round++) {
        char text[64], words[STRINGS_MAX][8];
        const char *strings[STRINGS_MAX];
        size_t n_strings = 1 + test_random_below(&random, STRINGS_MAX);
        for (size_t i = 0; i < n_strings; i++) {
            size_t n = 1 + test_random_below(&random, 7);
            for (size_t j = 0; j < n; j++) words[i][j] = (char)('a' + (int)test_random_below(&random, 2));
            words[i][n] = '\0';
            strings[i] = words[i];
        }
        size_t n = test_random_below(&random, sizeof text);
        for (size_t j = 0; j < n; j++) text[j] = (char)('a' + (int)test_random_below(&random, 2));
        struct stop_matcher *m = matcher(strings, n_strings);
        struct buf out;
        buf_init(&out, OUTPUT_MAX);
        for (size_t at = 0; at < n;) {
            size_t piece = 1 + test_random_below(&random, 5);
            if (piece > n - at) piece = n - at;
            stop_push(m, text + at, piece, &out);
            at += piece;
        }
        stop_end(m, &out);
        size_t expected = plain_search(text, n, strings, n_strings);
        CHECK_INT(expected, out.n);
        CHECK_BYTES(text, out.data, out.n < expected ? out.n : expected);
        buf_fini(&out);
        stop_free(m);
        if (test_failed()) return;
    }
}

static const struct test_case cases[] = {
    {"finds a string spread over tokens", finds_a_string_spread_over_tokens},
    {"gives back what was no stop string", gives_back_what_was_no_stop_string},
    {"holds the longest possible beginning", holds_the_longest_possible_beginning},
    {"passes text through without strings", passes_text_through_without_strings},
    {"prefers the first end, then the longest", prefers_the_first_end_then_the_longest},
    {"refuses empty and too many strings", refuses_empty_and_too_many_strings},
    {"frees all when memory ends", frees_all_when_memory_ends},
    {"agrees with a plain search on random text", agrees_with_a_plain_search_on_random_text},
};
TEST_MAIN("text/stop", cases)
