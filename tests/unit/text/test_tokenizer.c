// The tokenizer as a whole: added tokens and their flags, normalization, data, broken input, what is refused.
#include "text/tokenizer.h"
#include "base/mem.h"
#include "base/pool.h"
#include "tests/unit/text/tiny_tokenizer.h"

#define ADDED(written, number, ...)                                                                                    \
    (struct added_token) { .text = written, .n = sizeof(written) - 1, .id = number, __VA_ARGS__ }

static const char *const hello_merges[] = {"h e", "l l", "ll o", "he llo"}; // 256 .. 259

// A tokenizer with the merges of "hello" and the added tokens given, ids from 300 on.
static struct tokenizer *with_added(struct tiny *tiny, size_t n, const struct added_token *added) {
    tiny_init(tiny, 4, hello_merges);
    tiny->source.added = added;
    tiny->source.n_added = n;
    return tiny_new(tiny);
}

static void finds_added_tokens_leftmost_and_longest(void) {
    struct tiny tiny;
    const struct added_token added[] = {ADDED("<x>", 300, 0), ADDED("<x>y", 301, 0), ADDED("<", 60, 0)};
    struct tokenizer *t = with_added(&tiny, 3, added);
    if (!t) return;
    CHECK_IDS("", t, "", 0);
    CHECK_IDS("259 300 259", t, "hello<x>hello", 0);
    CHECK_IDS("301 60 120 121", t, "<x>y<xy", 0);
    CHECK_IDS("60 60 300", t, "<<<x>", 0);
    CHECK_INT(302, tokenizer_n_ids(t));
    CHECK_INT(301, tokenizer_find(t, "<x>y", 4));
    CHECK_INT(259, tokenizer_find(t, "hello", 5));
    CHECK_INT(-1, tokenizer_find(t, "hell", 4));
    tokenizer_free(t);
}

static void strips_blanks_on_the_sides_asked_for(void) {
    struct tiny tiny;
    const struct added_token added[] = {ADDED("<l>", 300, .lstrip = true), ADDED("<r>", 301, .rstrip = true),
                                        ADDED("<b>", 302, .lstrip = true, .rstrip = true)};
    struct tokenizer *t = with_added(&tiny, 3, added);
    if (!t) return;
    CHECK_IDS("97 300 32 98", t, "a \t\u3000<l> b", 0);
    CHECK_IDS("97 32 301 98", t, "a <r>\n\u2003b", 0);
    CHECK_IDS("97 302 98", t, "a  <b>  b", 0);
    CHECK_IDS("301 302 300", t, "<r> <b>  <l>", 0); // blanks that the one before took are gone
    CHECK_IDS("302", t, " <b> ", 0);
    tokenizer_free(t);
}

static void drops_a_blank_token_that_its_neighbour_took(void) {
    struct tiny tiny;
    const struct added_token added[] = {ADDED("  ", 300, .lstrip = true, .rstrip = true), ADDED("\t", 301, 0)};
    struct tokenizer *t = with_added(&tiny, 2, added);
    if (!t) return;
    CHECK_IDS("300 97", t, "       a", 0);
    CHECK_IDS("300 301 97", t, "  \ta", 0); // without lstrip it still counts
    tokenizer_free(t);
}

static void keeps_single_words_out_of_words(void) {
    struct tiny tiny;
    const struct added_token added[] = {ADDED("ab", 300, .single_word = true)};
    struct tokenizer *t = with_added(&tiny, 1, added);
    if (!t) return;
    CHECK_IDS("300 32 300 33", t, "ab ab!", 0);
    CHECK_IDS("120 97 98 32 97 98 49 32 97 98 95", t, "xab ab1 ab_", 0);
    CHECK_IDS("195 169 97 98", t, "\u00e9ab", 0);
    CHECK_IDS("97 98 204 129", t, "ab\u0301", 0); // a mark is part of a word
    CHECK_IDS("97 98 97 98", t, "abab", 0);
    tokenizer_free(t);
}

static void matches_normalized_tokens_in_normalized_text(void) {
    struct tiny tiny;
    const struct added_token added[] = {ADDED("e\u0301x", 300, .normalized = true), ADDED("e\u0301y", 301, 0)};
    tiny_init(&tiny, 0, NULL);
    tiny.source.added = added;
    tiny.source.n_added = 2;
    tiny.source.normalizer = NORMALIZER_NFC;
    struct tokenizer *t = tiny_new(&tiny);
    if (!t) return;
    CHECK_IDS("300 300", t, "\u00e9xe\u0301x", 0);
    CHECK_IDS("195 169 121 301", t, "\u00e9ye\u0301y", 0);
    CHECK_IDS("195 169", t, "e\u0301", 0);
    tokenizer_free(t);
}

static void yields_no_added_token_from_data(void) {
    struct tiny tiny;
    // id 259 is "hello", which merging makes, and which is marked special here.
    const struct added_token added[] = {ADDED("<|end|>", 300, .special = true), ADDED("hello", 259, .special = true)};
    struct tokenizer *t = with_added(&tiny, 2, added);
    if (!t) return;
    CHECK_IDS("300 259", t, "<|end|>hello", 0);
    CHECK_IDS("60 124 101 110 100 124 62 104 101 108 108 111", t, "<|end|>hello", TOKENIZE_PLAIN);
    CHECK(tokenizer_is_special(t, 300) && tokenizer_is_special(t, 259) && !tokenizer_is_special(t, 258));
    CHECK(!tokenizer_is_special(t, -1) && !tokenizer_is_special(t, 301));
    tokenizer_free(t);
}

static void puts_the_outer_ids_round_on_request(void) {
    struct tiny tiny;
    const int32_t before[] = {1, 2}, after[] = {3};
    tiny_init(&tiny, 0, NULL);
    tiny.source.before = before;
    tiny.source.n_before = 2;
    tiny.source.after = after;
    tiny.source.n_after = 1;
    struct tokenizer *t = tiny_new(&tiny);
    if (!t) return;
    CHECK_IDS("97", t, "a", 0);
    CHECK_IDS("1 2 97 3", t, "a", TOKENIZE_SPECIAL);
    CHECK_IDS("1 2 3", t, "", TOKENIZE_SPECIAL | TOKENIZE_PLAIN);
    tokenizer_free(t);
}

static void prefixes_a_blank_to_each_stretch(void) {
    struct tiny tiny;
    const struct added_token added[] = {ADDED("<x>", 300, 0)};
    tiny_init(&tiny, 0, NULL);
    tiny.source.added = added;
    tiny.source.n_added = 1;
    tiny.source.add_prefix_space = true;
    struct tokenizer *t = tiny_new(&tiny);
    if (!t) return;
    CHECK_IDS("32 97 300 32 98 300 32 99", t, "a<x> b<x>c", 0);
    CHECK_IDS("", t, "", 0);
    tokenizer_free(t);
}

static void ignores_merges_for_whole_words_when_told(void) {
    struct tiny tiny;
    tiny_init(&tiny, 4, hello_merges);
    tiny.source.n_merges = 0; // "hello" cannot be made by merging
    const struct added_token added[] = {ADDED("foo", 300, .single_word = true)};
    tiny.source.added = added;
    tiny.source.n_added = 1;
    tiny.source.ignore_merges = true;
    struct tokenizer *t = tiny_new(&tiny);
    if (!t) return;
    CHECK_IDS("259", t, "hello", 0);
    CHECK_IDS("104 101 108 108", t, "hell", 0);
    CHECK_IDS("102 111 111", t, "foo", TOKENIZE_PLAIN); // an added token is no word of the model
    tokenizer_free(t);
}

static void gives_the_unknown_token_for_bytes_without_one(void) {
    struct tiny tiny;
    tiny_init(&tiny, 0, NULL);
    tiny.tokens['x'] = tiny.tokens['y'] = NULL;
    tiny.source.has_unknown = true;
    tiny.source.unknown = 'u';
    struct tokenizer *t = tiny_new(&tiny);
    CHECK_IDS("97 117 117 98", t, "axyb", 0);
    tokenizer_free(t);
    tiny.source.fuse_unknown = true;
    t = tiny_new(&tiny);
    CHECK_IDS("97 117 98 117", t, "axybx", 0);
    tokenizer_free(t);
}

static void reads_broken_utf8_as_replacement_characters(void) {
    struct tiny tiny;
    struct tokenizer *t = with_added(&tiny, 0, NULL);
    if (!t) return;
    CHECK_IDS("97 239 191 189 98", t, "a\xf0\x9f\x98" "b", 0);            // one maximal part
    CHECK_IDS("239 191 189 239 191 189 239 191 189", t, "\xed\xa0\x80", 0); // a surrogate: three parts
    CHECK_IDS("0 97", t, "\0a", 0);
    tokenizer_free(t);
}

static void tells_written_forms_apart(void) {
    struct tiny tiny;
    tiny_init(&tiny, 0, NULL);
    tiny.tokens[256] = " "; // a token that stands for itself, beside the alphabet's blank
    tiny.token_bytes[256] = 1;
    tiny.source.n_tokens = 257;
    struct tokenizer *t = tiny_new(&tiny);
    if (!t) return;
    size_t n = 0;
    CHECK_IDS("32", t, " ", 0);
    CHECK_INT(256, tokenizer_find(t, " ", 1));
    CHECK_INT(32, tokenizer_find(t, "\u0120", 2));
    CHECK(tokenizer_bytes(t, 256, &n) && n == 1);
    CHECK(!tokenizer_bytes(t, 257, &n) && !tokenizer_bytes(t, -1, &n));
    tokenizer_free(t);
}

static void refuse(struct tiny *tiny, enum status status, const char *named) {
    struct tokenizer *t = NULL;
    struct err e = {0};
    CHECK_INT(status, tokenizer_new(&tiny->source, &t, &e));
    if (!strstr(e.message, named)) test_fail(__FILE__, __LINE__, "expected \"%s\" in: %s", named, e.message);
    tokenizer_free(t);
}

static void refuses_what_does_not_fit_by_name(void) {
    struct tiny tiny;
    const struct added_token clash = ADDED("<x>", 97, 0), twice[] = {ADDED("<x>", 300, 0), ADDED("<y>", 300, 0)};
    const struct added_token empty = ADDED("", 300, 0), wild = ADDED("<wild>", 1 << 30, 0);
    const struct added_token broken = ADDED("\xff", 300, 0);
    const struct added_token again[] = {ADDED("<x>", 300, 0), ADDED("<x>", 301, 0)};
    const int32_t none = 400;
    tiny_init(&tiny, 0, NULL);
    tiny.source.n_added = 1;
    tiny.source.added = &clash;
    refuse(&tiny, STATUS_INVALID, "\"<x>\" has the id 97, which the vocabulary gives to \"a\"");
    tiny.source.added = &empty;
    refuse(&tiny, STATUS_INVALID, "added token 300");
    tiny.source.added = &wild;
    refuse(&tiny, STATUS_INVALID, "<wild>");
    tiny.source.added = &broken;
    refuse(&tiny, STATUS_INVALID, "added token 300");
    tiny.source.n_added = 2;
    tiny.source.added = twice;
    refuse(&tiny, STATUS_INVALID, "two added tokens have the id 300");
    tiny.source.added = again;
    refuse(&tiny, STATUS_INVALID, "\"<x>\" has two ids");
    tiny.source.n_added = 0;
    tiny.source.before = &none;
    tiny.source.n_before = 1;
    refuse(&tiny, STATUS_INVALID, "400");
    tiny.source.n_before = 0;
    tiny.source.add_prefix_space = true;
    tiny.source.pretokenizer = PRETOKENIZER_LLAMA3;
    refuse(&tiny, STATUS_UNSUPPORTED, "add_prefix_space");
    tiny.source.add_prefix_space = false;
    tiny.source.byte_fallback = true;
    tiny.tokens[0xe9] = NULL;
    refuse(&tiny, STATUS_UNSUPPORTED, "byte_fallback");
    tiny.source.byte_fallback = false;
    tiny.source.has_unknown = true;
    tiny.source.unknown = 400;
    refuse(&tiny, STATUS_INVALID, "the unknown token has the id 400");
    tiny.source.has_unknown = false;
    tiny.tokens[0xe9] = tiny.tokens['a'];
    tiny.token_bytes[0xe9] = 1;
    refuse(&tiny, STATUS_INVALID, "\"a\" has two ids");
}

static void leaves_nothing_behind_when_an_allocation_fails(void) {
    struct tiny tiny;
    const struct added_token added[] = {ADDED("<x>", 300, 0), ADDED("e\u0301", 301, .normalized = true)};
    tiny_init(&tiny, 4, hello_merges);
    tiny.source.added = added;
    tiny.source.n_added = 2;
    tiny.source.normalizer = NORMALIZER_NFC;
    for (uint64_t k = 1; !test_failed(); k++) {
        struct tokenizer *t = NULL;
        struct err e = {0};
        struct ids ids = {0};
        mem_fail_after(k);
        enum status status = tokenizer_new(&tiny.source, &t, &e);
        if (status == STATUS_OK) status = tokenizer_encode(t, "hello<x>\xff e\u0301 u\u0308", 18, 0, &ids, &e);
        mem_fail_after(0);
        if (status != STATUS_OK) CHECK_INT(0, ids.n);
        ids_fini(&ids);
        tokenizer_free(t);
        if (status == STATUS_OK) return;
        CHECK_INT(STATUS_NO_MEMORY, status);
    }
}

enum { SHARED_THREADS = 4, SHARED_TEXTS = 400, SHARED_BYTES = 48 };

struct shared {
    const struct tokenizer *tokenizer;
    char text[SHARED_TEXTS][SHARED_BYTES];
    struct ids ids[SHARED_TEXTS];
};

static void encode_shared(void *context, uint32_t part, uint32_t parts, uint32_t worker) {
    struct shared *s = context;
    struct err e = {0};
    (void)parts, (void)worker;
    if (tokenizer_encode(s->tokenizer, s->text[part], SHARED_BYTES, 0, &s->ids[part], &e) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s", e.message);
}

static void gives_threads_that_share_it_the_ids_of_a_fresh_one(void) {
    struct tiny tiny;
    tiny_init(&tiny, 4, hello_merges);
    struct shared *s = mem_new(1, sizeof *s);
    struct tokenizer *t = tiny_new(&tiny);
    struct pool *pool = NULL;
    struct test_random random = {5};
    struct err e = {0};
    if (!s || !t || pool_open(SHARED_THREADS, &pool, &e) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "cannot start: %s", e.message);
        return;
    }
    s->tokenizer = t;
    for (size_t i = 0; i < SHARED_TEXTS; i++)
        for (size_t k = 0; k < SHARED_BYTES; k++) s->text[i][k] = "hello "[test_random_below(&random, 6)];
    pool_run(pool, encode_shared, s, SHARED_TEXTS);
    for (size_t i = 0; i < SHARED_TEXTS && !test_failed(); i++) {
        struct tokenizer *fresh = tiny_new(&tiny);
        struct ids ids = {0};
        CHECK_INT(STATUS_OK, tokenizer_encode(fresh, s->text[i], SHARED_BYTES, 0, &ids, &e));
        CHECK_INT(ids.n, s->ids[i].n);
        CHECK(ids.n == s->ids[i].n && memcmp(ids.at, s->ids[i].at, ids.n * sizeof *ids.at) == 0);
        ids_fini(&ids);
        tokenizer_free(fresh);
    }
    for (size_t i = 0; i < SHARED_TEXTS; i++) ids_fini(&s->ids[i]);
    pool_close(pool);
    tokenizer_free(t);
    mem_free(s);
}

static const struct test_case cases[] = {
    {"finds added tokens leftmost and longest", finds_added_tokens_leftmost_and_longest},
    {"strips blanks on the sides asked for", strips_blanks_on_the_sides_asked_for},
    {"drops a blank token that its neighbour took", drops_a_blank_token_that_its_neighbour_took},
    {"keeps single words out of words", keeps_single_words_out_of_words},
    {"matches normalized tokens in normalized text", matches_normalized_tokens_in_normalized_text},
    {"yields no added token from data", yields_no_added_token_from_data},
    {"puts the outer ids round on request", puts_the_outer_ids_round_on_request},
    {"prefixes a blank to each stretch", prefixes_a_blank_to_each_stretch},
    {"ignores merges for whole words when told", ignores_merges_for_whole_words_when_told},
    {"gives the unknown token for bytes without one", gives_the_unknown_token_for_bytes_without_one},
    {"reads broken UTF-8 as replacement characters", reads_broken_utf8_as_replacement_characters},
    {"tells written forms apart", tells_written_forms_apart},
    {"refuses what does not fit by name", refuses_what_does_not_fit_by_name},
    {"gives threads that share it the ids of a fresh one", gives_threads_that_share_it_the_ids_of_a_fresh_one},
    {"leaves nothing behind when an allocation fails", leaves_nothing_behind_when_an_allocation_fails},
};
TEST_MAIN("text/tokenizer", cases)
