// Merging: order of merges, the word cache, bytes without a token, time, memory that ends.
#include "text/bpe.h"
#include "base/clock.h"
#include "base/mem.h"
#include "tests/unit/text/tiny_tokenizer.h"

struct fixture {
    struct tiny tiny;
    struct vocabulary vocabulary;
    struct bpe bpe;
    struct bpe_scratch scratch;
};

static bool set_up(struct fixture *f, size_t n_merges, const char *const *merges) {
    struct err e = {0};
    memset(f, 0, sizeof *f);
    tiny_init(&f->tiny, n_merges, merges);
    const struct tokenizer_source *s = &f->tiny.source;
    bool ok = vocabulary_init(&f->vocabulary, s->tokens, s->token_bytes, s->n_tokens, false, &e) == STATUS_OK &&
              bpe_init(&f->bpe, &f->vocabulary, s, &e) == STATUS_OK;
    if (!ok) test_fail(__FILE__, __LINE__, "%s", e.message);
    return ok;
}

static void tear_down(struct fixture *f) {
    bpe_scratch_fini(&f->bpe, &f->scratch);
    bpe_fini(&f->bpe);
    vocabulary_fini(&f->vocabulary);
}

static const char *print_ids(const int32_t *ids, size_t n) {
    static char out[1024];
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && at + 16 < sizeof out; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, i ? " %d" : "%d", ids[i]);
    return out;
}

static const char *merged(struct fixture *f, const char *piece) {
    struct ids ids = {0};
    struct err e = {0};
    if (bpe_encode(&f->bpe, piece, strlen(piece), &f->scratch, &ids, &e) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s", e.message);
    const char *out = print_ids(ids.at, ids.n);
    ids_fini(&ids);
    return out;
}

static void merges_the_lowest_rank_first_and_the_leftmost_of_equals(void) {
    struct fixture f;
    static const char *const merges[] = {"b c", "a b", "a a", "aa a", "ab c"};
    if (!set_up(&f, 5, merges)) return;
    CHECK_TEXT("97 256", merged(&f, "abc")); // b c outranks a b, though it lies to the right
    CHECK_TEXT("257 257", merged(&f, "abab"));
    CHECK_TEXT("259", merged(&f, "aaa"));
    CHECK_TEXT("258 258", merged(&f, "aaaa")); // both pairs go before aa a may
    CHECK_TEXT("258 259", merged(&f, "aaaaa"));
    tear_down(&f);
}

static void gives_the_same_ids_from_the_word_cache(void) {
    struct fixture f;
    static const char *const merges[] = {"a b", "c d", "ab cd"};
    if (!set_up(&f, 3, merges)) return;
    for (int round = 0; round < 3; round++) {
        CHECK_TEXT("258", merged(&f, "abcd"));
        CHECK_TEXT("258 97", merged(&f, "abcda"));
        CHECK_TEXT("258 258 258 120", merged(&f, "abcdabcdabcdx"));    // more ids than are kept
        CHECK_TEXT("258 258 258 258", merged(&f, "abcdabcdabcdabcd")); // more bytes than are kept
    }
    tear_down(&f);
}

static void keeps_the_words_for_the_next_encoding(void) {
    struct fixture f;
    static const char *const merges[] = {"a b", "c d", "ab cd"};
    if (!set_up(&f, 3, merges)) return;
    uint64_t before = mem_count();
    CHECK_TEXT("258", merged(&f, "abcd"));
    uint64_t first = mem_count() - before;
    bpe_scratch_fini(&f.bpe, &f.scratch);
    before = mem_count();
    CHECK_TEXT("258", merged(&f, "abcd"));
    CHECK_INT(1, (long long)(mem_count() - before)); // the list of ids: neither words nor room for merging
    CHECK(first > 1);
    struct bpe_scratch other = {0}; // of a second thread, which finds none and starts its own
    struct ids ids = {0};
    struct err e = {0};
    CHECK_INT(STATUS_OK, bpe_encode(&f.bpe, "abcda", 5, &other, &ids, &e));
    CHECK_TEXT("258 97", print_ids(ids.at, ids.n));
    ids_fini(&ids);
    bpe_scratch_fini(&f.bpe, &other);
    tear_down(&f);
}

// The definition, word for word: while some pair merges, merge the leftmost of the lowest rank. Returns the new count.
static size_t merge_by_definition(const char *const *merges, size_t n_merges, char symbols[][32], size_t count) {
    for (;;) {
        size_t best = n_merges, at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            char pair[65];
            snprintf(pair, sizeof pair, "%.31s %.31s", symbols[i], symbols[i + 1]);
            for (size_t m = 0; m < best; m++) {
                if (strcmp(pair, merges[m]) != 0) continue;
                best = m;
                at = i;
            }
        }
        if (best == n_merges) return count;
        memcpy(symbols[at] + strlen(symbols[at]), symbols[at + 1], strlen(symbols[at + 1]) + 1);
        memmove(symbols[at + 1], symbols[at + 2], (count - at - 2) * sizeof *symbols);
        count--;
    }
}

static void agrees_with_the_definition_on_random_pieces(void) {
    struct fixture f;
    static const char *const merges[] = {"a b", "b a", "a a", "ab a", "b b", "aa aa", "ba ba", "aba b", "bb a"};
    if (!set_up(&f, 9, merges)) return;
    struct test_random r = {7};
    for (int k = 0; k < 3000 && !test_failed(); k++) {
        char piece[25], symbols[25][32] = {{0}};
        int32_t expected[25];
        size_t n = 1 + test_random_below(&r, 24);
        for (size_t i = 0; i < n; i++) symbols[i][0] = piece[i] = (char)('a' + test_random_below(&r, 2));
        piece[n] = '\0';
        size_t count = merge_by_definition(merges, 9, symbols, n);
        for (size_t i = 0; i < count; i++)
            expected[i] = vocabulary_find(&f.vocabulary, symbols[i], strlen(symbols[i]), false);
        char text[1024];
        snprintf(text, sizeof text, "%s", print_ids(expected, count));
        CHECK_TEXT(text, merged(&f, piece));
    }
    tear_down(&f);
}

static void leaves_out_bytes_without_a_token(void) {
    struct fixture f;
    static const char *const merges[] = {"a b"};
    if (!set_up(&f, 1, merges)) return;
    f.bpe.of_byte['x'] = -1;
    CHECK_TEXT("256", merged(&f, "axb")); // the neighbours of the gap merge, as in `tokenizers`
    CHECK_TEXT("", merged(&f, "xxx"));
    tear_down(&f);
}

static void takes_the_later_rank_of_a_pair_that_is_listed_twice(void) {
    struct fixture f;
    static const char *const merges[] = {"a b", "b c", "a b"};
    memset(&f, 0, sizeof f);
    tiny_init(&f.tiny, 3, merges);
    f.tiny.source.n_tokens = 258; // "ab" once
    struct err e = {0};
    CHECK(vocabulary_init(&f.vocabulary, f.tiny.tokens, f.tiny.token_bytes, 258, false, &e) == STATUS_OK);
    CHECK(bpe_init(&f.bpe, &f.vocabulary, &f.tiny.source, &e) == STATUS_OK);
    CHECK_TEXT("97 257", merged(&f, "abc"));
    tear_down(&f);
}

static void refuses_merges_of_unknown_parts_by_name(void) {
    static const char *const good[] = {"a b"};
    static const char *const bad[] = {"a bb", "aa b", "a c", "ab", "", " "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fixture f;
        struct err e = {0};
        if (!set_up(&f, 1, good)) return;
        bpe_fini(&f.bpe);
        f.tiny.merges[0] = bad[i];
        f.tiny.merge_bytes[0] = strlen(bad[i]);
        CHECK_INT(STATUS_INVALID, bpe_init(&f.bpe, &f.vocabulary, &f.tiny.source, &e));
        if (!strstr(e.message, bad[i])) test_fail(__FILE__, __LINE__, "\"%s\" is not named: %s", bad[i], e.message);
        tear_down(&f);
    }
}

// What one piece of n equal letters takes, best of three.
static double milliseconds(struct fixture *f, char *piece, size_t n) {
    struct clock c = clock_system();
    double best = 1e9;
    memset(piece, 'a', n);
    for (int k = 0; k < 3; k++) {
        struct ids ids = {0};
        struct err e = {0};
        uint64_t begin = clock_now_ns(&c);
        if (bpe_encode(&f->bpe, piece, n, &f->scratch, &ids, &e) != STATUS_OK)
            test_fail(__FILE__, __LINE__, "%s", e.message);
        double ms = clock_ms_between(begin, clock_now_ns(&c));
        if (ms < best) best = ms;
        CHECK_INT(n / 4, ids.n);
        ids_fini(&ids);
    }
    return best;
}

static void takes_n_log_n_time_on_one_repeated_letter(void) {
    struct fixture f;
    static const char *const merges[] = {"a a", "aa aa"};
    enum { N = 1 << 18 };
    if (!set_up(&f, 2, merges)) return;
    char *piece = mem_new(8 * N, 1);
    double once = milliseconds(&f, piece, N), eightfold = milliseconds(&f, piece, 8 * N);
    // n log n is 9.3 times as much; n * n would be 64. The bound leaves room for caches and a busy machine.
    if (eightfold > 32 * once) test_fail(__FILE__, __LINE__, "8 times the length took %.1f times", eightfold / once);
    mem_free(piece);
    tear_down(&f);
}

static void survives_every_allocation_that_fails(void) {
    static const char *const merges[] = {"a b"};
    for (uint64_t k = 1;; k++) {
        struct fixture f;
        struct err e = {0};
        struct ids ids = {0};
        if (!set_up(&f, 1, merges)) return;
        uint64_t before = mem_count();
        mem_fail_after(k);
        enum status status = bpe_encode(&f.bpe, "abab", 4, &f.scratch, &ids, &e);
        mem_fail_after(0);
        CHECK_INT(mem_count() - before < k ? STATUS_OK : STATUS_NO_MEMORY, status);
        ids_fini(&ids);
        tear_down(&f);
        if (status == STATUS_OK || test_failed()) break;
    }
}

static const struct test_case cases[] = {
    {"merges the lowest rank first and the leftmost of equals",
     merges_the_lowest_rank_first_and_the_leftmost_of_equals},
    {"gives the same ids from the word cache", gives_the_same_ids_from_the_word_cache},
    {"keeps the words for the next encoding", keeps_the_words_for_the_next_encoding},
    {"agrees with the definition on random pieces", agrees_with_the_definition_on_random_pieces},
    {"leaves out bytes without a token", leaves_out_bytes_without_a_token},
    {"takes the later rank of a pair that is listed twice", takes_the_later_rank_of_a_pair_that_is_listed_twice},
    {"refuses merges of unknown parts by name", refuses_merges_of_unknown_parts_by_name},
    {"takes n log n time on one repeated letter", takes_n_log_n_time_on_one_repeated_letter},
    {"survives every allocation that fails", survives_every_allocation_that_fails},
};
TEST_MAIN("text/bpe", cases)
