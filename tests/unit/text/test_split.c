// Chains of pre-tokenizer steps: every behaviour, every kind of step, and what rewrites pieces.
#include "text/split.h"
#include "base/mem.h"
#include "tests/support/test.h"
#include "text/unicode.h"

#include <stdio.h>
#include <string.h>

// The pieces with '|' between them.
static const char *cut(const struct split_step *steps, size_t n, const char *text, bool at_start) {
    static char out[1024];
    struct split_chain chain;
    struct split_scratch s = {0};
    struct err e = {0};
    const char *from = "";
    size_t at = 0;
    out[0] = '\0';
    enum status status = split_init(&chain, steps, n, &e);
    if (status == STATUS_OK) status = split_run(&chain, &s, text, strlen(text), at_start, &from, &e);
    if (status != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
    for (size_t i = 0; i < s.n_pieces && status == STATUS_OK; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%.*s", i ? "|" : "",
                               (int)(s.pieces[i].end - s.pieces[i].begin), from + s.pieces[i].begin);
    split_scratch_fini(&s);
    split_fini(&chain);
    return out;
}

#define TEXT(t) .text = t, .n = sizeof t - 1
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

static const char *cut_by(enum split_behaviour behaviour, bool invert, const char *text) {
    struct split_step step = {.kind = SPLIT_REGEX, .behaviour = behaviour, .invert = invert, TEXT("[,.]")};
    return cut(&step, 1, text, true);
}

static void does_with_matches_as_told(void) {
    CHECK_TEXT("a|,|,|b|.", cut_by(SPLIT_ISOLATED, false, "a,,b."));
    CHECK_TEXT("a|b", cut_by(SPLIT_REMOVED, false, "a,,b."));
    CHECK_TEXT("a,|,|b.", cut_by(SPLIT_MERGED_WITH_PREVIOUS, false, "a,,b."));
    CHECK_TEXT(",a|,|,b|.", cut_by(SPLIT_MERGED_WITH_NEXT, false, ",a,,b."));
    CHECK_TEXT("a|,,|b|.", cut_by(SPLIT_CONTIGUOUS, false, "a,,b."));
    CHECK_TEXT("a|,|,|b|.", cut_by(SPLIT_ISOLATED, true, "a,,b."));
    CHECK_TEXT(",|,|.", cut_by(SPLIT_REMOVED, true, "a,,b."));
    CHECK_TEXT("a|,|,b|.", cut_by(SPLIT_MERGED_WITH_PREVIOUS, true, "a,,b."));
    CHECK_TEXT("", cut_by(SPLIT_REMOVED, false, ",,"));
    CHECK_TEXT("", cut_by(SPLIT_ISOLATED, false, ""));
}

static void cuts_by_every_kind_of_step(void) {
    const struct split_step text = {.kind = SPLIT_TEXT, .behaviour = SPLIT_MERGED_WITH_NEXT, TEXT("aa")};
    const struct split_step nothing = {.kind = SPLIT_TEXT, TEXT("")};
    const struct split_step digits = {.kind = SPLIT_CLASS, .classes = UNICODE_DIGIT, .behaviour = SPLIT_CONTIGUOUS};
    const struct split_step words = {.kind = SPLIT_WORDS, .behaviour = SPLIT_REMOVED, .invert = true};
    const struct split_step known = {.kind = SPLIT_REGEX, TEXT(GPT2)};
    const struct split_step chain[] = {digits, words};
    CHECK_TEXT("b|aa|aab", cut(&text, 1, "baaaab", true));
    CHECK_TEXT("abc", cut(&nothing, 1, "abc", true));
    CHECK_TEXT("a|12|b|3", cut(&digits, 1, "a12b3", true));
    CHECK_TEXT("ab|!?|c_|.", cut(&words, 1, "ab !? c_. ", true));
    CHECK_TEXT("it|'s| so|  | x", cut(&known, 1, "it's so   x", true));
    CHECK_TEXT("a|12|b", cut(chain, 2, "a12 b", true));
}

static void rewrites_pieces(void) {
    struct split_step mark = {.kind = SPLIT_METASPACE, .prepend = SPLIT_PREPEND_FIRST, TEXT("_")};
    const struct split_step space = {.kind = SPLIT_PREFIX_SPACE}, alphabet = {.kind = SPLIT_ALPHABET};
    const struct split_step both[] = {{.kind = SPLIT_CLASS, .classes = UNICODE_DIGIT}, space};
    CHECK_TEXT("_a_b", cut(&mark, 1, "a b", true));
    CHECK_TEXT("a_b", cut(&mark, 1, "a b", false));
    CHECK_TEXT("_a", cut(&mark, 1, " a", true));
    mark.prepend = SPLIT_PREPEND_ALWAYS;
    CHECK_TEXT("_a_b", cut(&mark, 1, "a b", false));
    mark.prepend = SPLIT_PREPEND_NEVER;
    CHECK_TEXT("a_b", cut(&mark, 1, "a b", true));
    CHECK_TEXT(" a| 1| b", cut(both, 2, "a1 b", true));
    CHECK_TEXT("\u0120\u00c3\u00a9", cut(&alphabet, 1, " \u00e9", true));
}

static void knows_the_chains_written_by_hand(void) {
    const struct split_step digit = {.kind = SPLIT_CLASS, .classes = UNICODE_DIGIT};
    const struct split_step gpt2 = {.kind = SPLIT_REGEX, TEXT(GPT2)};
    struct split_step chain[] = {digit, gpt2};
    CHECK_INT(PRETOKENIZER_GPT2, split_known(&gpt2, 1));
    CHECK_INT(PRETOKENIZER_SMOLLM, split_known(chain, 2));
    chain[0].behaviour = SPLIT_CONTIGUOUS;
    CHECK_INT(PRETOKENIZER_COUNT, split_known(chain, 2));
    chain[1].invert = true;
    CHECK_INT(PRETOKENIZER_COUNT, split_known(chain + 1, 1));
    CHECK_INT(PRETOKENIZER_COUNT, split_known(chain, 0));
}

static void leaves_nothing_behind_when_an_allocation_fails(void) {
    const struct split_step steps[] = {{.kind = SPLIT_REGEX, TEXT("[ab]")}, {.kind = SPLIT_PREFIX_SPACE}};
    for (uint64_t k = 1; !test_failed(); k++) {
        struct split_chain chain;
        struct split_scratch s = {0};
        struct err e = {0};
        const char *from;
        mem_fail_after(k);
        enum status status = split_init(&chain, steps, 2, &e);
        if (status == STATUS_OK) status = split_run(&chain, &s, "a1b2", 4, true, &from, &e);
        mem_fail_after(0);
        split_scratch_fini(&s);
        split_fini(&chain);
        if (status == STATUS_OK) return;
        CHECK_INT(STATUS_NO_MEMORY, status);
    }
}

static const struct test_case cases[] = {
    {"does with matches as told", does_with_matches_as_told},
    {"cuts by every kind of step", cuts_by_every_kind_of_step},
    {"rewrites pieces", rewrites_pieces},
    {"knows the chains written by hand", knows_the_chains_written_by_hand},
    {"leaves nothing behind when an allocation fails", leaves_nothing_behind_when_an_allocation_fails},
};
TEST_MAIN("text/split", cases)
