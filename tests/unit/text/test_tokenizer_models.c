// Models of characters: BPE with bytes for the unknown, WordPiece, Unigram.
#include "base/mem.h"
#include "tests/unit/text/plain_tokenizer.h"

static void check(const char *json, const char *text, unsigned flags, const char *expected) {
    struct tokenizer *t = plain_new(json);
    if (t) CHECK_TEXT(expected, tiny_encode(t, text, strlen(text), flags));
    tokenizer_free(t);
}

static void merges_characters_with_bytes_for_the_unknown(void) {
    check(LLAMA2, "hi hi", 0, "5 5");
    check(LLAMA2, "hi  ihi", 0, "5 1 1 3 4");
    check(LLAMA2, "\U0001f600", 0, "1 6 7 8 9");
    check(LLAMA2, "xyh", 0, "1 0 2");          // no bytes for them: unknown neighbours become one
    check(LLAMA2, "x\U0001f600h", 0, "1 6 7 8 9 0 2"); // as in `tokenizers`, the unknown waits for the next known one
    check(LLAMA2, "hi<s>hi", 0, "5 11 5");     // the prefix comes after every added token
    check(LLAMA2, "<s>", TOKENIZE_PLAIN, "1 0");
}

static void takes_the_longest_parts_of_words(void) {
    check(BERT, "Unaffable!", 0, "1 2 3 4");
    check(BERT, "un\u00c1FF\u200dable", 0, "1 2 3"); // accents, case and control characters go
    check(BERT, "unx do", 0, "0 5");
    check(BERT, "ununununun un", 0, "0 1");           // five times un is no word of the vocabulary
    check(BERT, "unaffaffaff", 0, "0");               // too long a word
    check(BERT, "do\u4e2dnot", 0, "5 0 6");
}

static void finds_the_best_sum_of_scores(void) {
    check(UNIGRAM, "ab", 0, "1 4");    // -2 - 4 beats -3.5 - 3
    check(UNIGRAM, "abb", 0, "5 6");   // -3.5 - 3.5
    check(UNIGRAM, "a b", 0, "5 1 3");
    check(UNIGRAM, "axyb", 0, "5 0 3"); // unknown neighbours become one
    check(UNIGRAM, "", 0, "");
}

static void leaves_nothing_behind_when_an_allocation_fails(void) {
    static const char *const all[] = {LLAMA2, BERT, UNIGRAM}, text[] = "hi \U0001f600 unaffable abx";
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t k = 1; !test_failed(); k++) {
            struct tokenizer *t = NULL;
            struct err e = {0};
            struct ids ids = {0};
            mem_fail_after(k);
            enum status status = tokenizer_from_json(all[i], strlen(all[i]), &t, &e);
            if (status == STATUS_OK) status = tokenizer_encode(t, text, sizeof text - 1, 0, &ids, &e);
            mem_fail_after(0);
            if (status != STATUS_OK) CHECK_INT(0, ids.n);
            ids_fini(&ids);
            tokenizer_free(t);
            if (status == STATUS_OK) break;
            CHECK_INT(STATUS_NO_MEMORY, status);
        }
    }
}

static const struct test_case cases[] = {
    {"merges characters, with bytes for the unknown", merges_characters_with_bytes_for_the_unknown},
    {"takes the longest parts of words", takes_the_longest_parts_of_words},
    {"finds the best sum of scores", finds_the_best_sum_of_scores},
    {"leaves nothing behind when an allocation fails", leaves_nothing_behind_when_an_allocation_fails},
};
TEST_MAIN("text/tokenizer_models", cases)
