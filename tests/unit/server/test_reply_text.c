// Ids to reply text: the same parts however the ids are cut, and the watch that agrees with the reader.
#include "base/mem.h"
#include "server/reply_text.h"
#include "tests/unit/text/tiny_tokenizer.h"

enum { END_ID = 300, TURN_ID, OPEN_ID, CLOSE_ID, IDS_MAX = 64, ROUNDS = 3000 };

// Bytes, a few longer tokens, and four added ones: an end, a special mark, the two of reasoning (one of them special).
static struct tokenizer *make_tokenizer(void) {
    static const char *const merges[] = {"a b", "ab c", "x y", "Ã ©", "< /"};
    static const struct added_token added[] = {
        {"<end>", 5, END_ID, true, false, false, false, false},
        {"<turn>", 6, TURN_ID, true, false, false, false, false},
        {"<think>", 7, OPEN_ID, false, false, false, false, false},
        {"</think>", 8, CLOSE_ID, true, false, false, false, false}};
    struct tiny tiny;
    tiny_init(&tiny, sizeof merges / sizeof merges[0], merges);
    tiny.source.added = added;
    tiny.source.n_added = 4;
    return tiny_new(&tiny);
}

static const int32_t end_ids[] = {END_ID};

static struct reply_rule rule_of(const struct tokenizer *t) {
    return (struct reply_rule){.tokenizer = t,
                               .token_bytes = reply_rule_token_bytes(t),
                               .end_ids = end_ids,
                               .n_end_ids = 1,
                               .think_open = "<think>",
                               .think_close = "</think>"};
}

struct parts {
    char thought[4096], answer[4096];
};

static void keep(void *context, enum reasoning_part part, const char *text, size_t n) {
    struct parts *p = context;
    strncat(part == REASONING_THOUGHT ? p->thought : p->answer, text, n);
}

struct read {
    struct parts parts;
    int stopped;
    uint64_t thoughts;
};

// Reads ids in pieces of random sizes (one by one without a random state).
static struct read read_ids(const struct reply_rule *rule, const int32_t *ids, size_t n,
                            struct test_random *random) {
    struct read r = {0};
    struct reply_text *t = NULL;
    struct err e = {0};
    CHECK_INT(STATUS_OK, reply_text_new(rule, &t, &e));
    for (size_t at = 0; at < n;) {
        size_t piece = random ? 1 + test_random_below(random, (uint32_t)(n - at)) : 1;
        CHECK_INT(STATUS_OK, reply_text_push(t, ids + at, piece, keep, &r.parts, &e));
        CHECK(utf8_valid(r.parts.thought, strlen(r.parts.thought)));
        CHECK(utf8_valid(r.parts.answer, strlen(r.parts.answer)));
        at += piece;
    }
    reply_text_end(t, keep, &r.parts);
    r.stopped = reply_text_stopped(t);
    r.thoughts = reply_text_thoughts(t);
    reply_text_free(t);
    return r;
}

static size_t bytes_of(const char *text, int32_t *ids) {
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) ids[i] = (uint8_t)text[i];
    return n;
}

static void gives_the_same_parts_however_ids_are_cut(void) {
    struct tokenizer *t = make_tokenizer();
    static const char *const stops[] = {"abcab", "é", "</"};
    static const size_t stop_bytes[] = {5, 2, 2};
    static const int32_t likely[] = {'a',     'b',      'c',     256,    257,  258,  259, 260,
                                     0xc3,    0xa9,     0xf0,    0x9f,   0x98, 0x80, '<', '/',
                                     OPEN_ID, CLOSE_ID, TURN_ID, END_ID, ' ',  '\n', 't', 'x'};
    struct test_random random = {7};
    for (int round = 0; round < ROUNDS && !test_failed(); round++) {
        int32_t ids[IDS_MAX];
        size_t n = test_random_below(&random, IDS_MAX);
        for (size_t i = 0; i < n; i++)
            ids[i] = likely[test_random_below(&random, sizeof likely / sizeof likely[0])];
        struct reply_rule rule = rule_of(t);
        rule.stops = stops;
        rule.stop_bytes = stop_bytes;
        rule.n_stops = test_random_below(&random, 4);
        rule.opens_reasoning = test_random_below(&random, 2);
        rule.ignore_eos = test_random_below(&random, 2);
        struct read one = read_ids(&rule, ids, n, NULL), cut = read_ids(&rule, ids, n, &random);
        CHECK_TEXT(one.parts.thought, cut.parts.thought);
        CHECK_TEXT(one.parts.answer, cut.parts.answer);
        CHECK_INT(one.stopped, cut.stopped);
        CHECK_INT((long long)one.thoughts, (long long)cut.thoughts);
    }
    tokenizer_free(t);
}

static void watches_for_the_very_stop_that_the_reader_finds(void) {
    struct tokenizer *t = make_tokenizer();
    static const char *const stops[] = {"bca", "xyxy", "\xf0\x9f\x98\x80"};
    static const size_t stop_bytes[] = {3, 4, 4};
    static const int32_t likely[] = {'a', 'b',  'c',  'x',  'y',  256,    257,
                                     258, 0xf0, 0x9f, 0x98, 0x80, END_ID, TURN_ID};
    struct test_random random = {11};
    size_t found = 0;
    for (int round = 0; round < ROUNDS && !test_failed(); round++) {
        struct reply_rule rule = rule_of(t);
        rule.stops = stops;
        rule.stop_bytes = stop_bytes;
        rule.n_stops = 3;
        struct stop_watch *w = NULL;
        CHECK_INT(STATUS_OK, stop_watch_new(&rule, &w, NULL));
        int32_t ids[IDS_MAX];
        size_t n = 0;
        bool complete = false;
        mem_guard_begin();
        while (n < IDS_MAX && !complete) {
            ids[n] = likely[test_random_below(&random, sizeof likely / sizeof likely[0])];
            complete = stop_watch_complete(w, ids[n++]);
        }
        mem_guard_end();
        CHECK_INT(-1, read_ids(&rule, ids, n - 1, NULL).stopped);
        CHECK_INT(complete, read_ids(&rule, ids, n, NULL).stopped >= 0);
        found += complete;
        stop_watch_free(w);
    }
    CHECK(found > ROUNDS / 8);
    tokenizer_free(t);
}

static void sends_nothing_of_a_stop_string_spread_over_tokens(void) {
    struct tokenizer *t = make_tokenizer();
    static const char *const stops[] = {"uvwxyz"};
    static const size_t stop_bytes[] = {6};
    struct reply_rule rule = rule_of(t);
    rule.stops = stops;
    rule.stop_bytes = stop_bytes;
    rule.n_stops = 1;
    static const int32_t ids[] = {'h', 'i', 'u', 'v', 'w', 258, 'z', '!'};
    struct read r = read_ids(&rule, ids, 8, NULL);
    CHECK_TEXT("hi", r.parts.answer);
    CHECK_INT(0, r.stopped);
    r = read_ids(&rule, ids + 2, 5, NULL);
    CHECK_TEXT("", r.parts.answer);
    r = read_ids(&rule, ids, 6, NULL);
    CHECK_TEXT("hiuvwxy", r.parts.answer);
    CHECK_INT(-1, r.stopped);
    tokenizer_free(t);
}

static void keeps_characters_whole_when_tokens_cut_them(void) {
    struct tokenizer *t = make_tokenizer();
    struct reply_rule rule = rule_of(t);
    int32_t ids[IDS_MAX];
    size_t n = bytes_of("\xf0\x9f\x98\x80 x\xe2\x82", ids);
    CHECK_TEXT("\xf0\x9f\x98\x80 x\xef\xbf\xbd", read_ids(&rule, ids, n, NULL).parts.answer);
    tokenizer_free(t);
}

static void leaves_out_special_tokens_but_reads_the_marks_of_reasoning(void) {
    struct tokenizer *t = make_tokenizer();
    struct reply_rule rule = rule_of(t);
    static const int32_t ids[] = {OPEN_ID, 'a', TURN_ID, 'b', CLOSE_ID, '\n', 'c', TURN_ID, END_ID};
    struct read r = read_ids(&rule, ids, 9, NULL);
    CHECK_TEXT("ab", r.parts.thought);
    CHECK_TEXT("c", r.parts.answer);
    CHECK_INT(5, (long long)r.thoughts);
    rule.ignore_eos = true;
    CHECK_TEXT("c<end>", read_ids(&rule, ids, 9, NULL).parts.answer);
    rule.think_open = rule.think_close = NULL;
    CHECK_TEXT("<think>ab\nc<end>", read_ids(&rule, ids, 9, NULL).parts.answer);
    tokenizer_free(t);
}

static const struct test_case cases[] = {
    {"gives the same parts however ids are cut", gives_the_same_parts_however_ids_are_cut},
    {"watches for the very stop that the reader finds",
     watches_for_the_very_stop_that_the_reader_finds},
    {"sends nothing of a stop string spread over tokens",
     sends_nothing_of_a_stop_string_spread_over_tokens},
    {"keeps characters whole when tokens cut them", keeps_characters_whole_when_tokens_cut_them},
    {"leaves out special tokens but reads the marks of reasoning",
     leaves_out_special_tokens_but_reads_the_marks_of_reasoning},
};

TEST_MAIN("reply_text", cases)
