// Reply ids to text: end ids say nothing, a stop string may span ids, and no push allocates.
#include "base/mem.h"
#include "tests/unit/text/plain_tokenizer.h"
#include "text/stopped_text.h"

enum { END_ID = 300, TURN_ID, OPEN_ID };

static const int32_t end_ids[] = {END_ID};

static struct tokenizer *make_bytes(void) {
    static const char *const merges[] = {"a b", "ab c"};
    static const struct added_token added[] = {{"<end>", 5, END_ID, true, false, false, false, false},
                                               {"<turn>", 6, TURN_ID, true, false, false, false, false},
                                               {"<think>", 7, OPEN_ID, true, false, false, false, false}};
    struct tiny tiny;
    tiny_init(&tiny, sizeof merges / sizeof merges[0], merges);
    tiny.source.added = added;
    tiny.source.n_added = 3;
    return tiny_new(&tiny);
}

static struct reply_rule rule_of(const struct tokenizer *t) {
    return (struct reply_rule){
        .tokenizer = t, .token_bytes = reply_rule_token_bytes(t), .end_ids = end_ids, .n_end_ids = 1};
}

// The text of each push, a '|' behind it, then '.' and what the end of the reply brings. Pushes must not allocate.
static void check_pushes(const struct reply_rule *rule, const int32_t *ids, size_t n, const char *expected,
                         int matched) {
    struct stopped_text t;
    struct err e = {0};
    struct buf seen;
    buf_init(&seen, 4096);
    CHECK(buf_reserve(&seen, 4096));
    CHECK_INT(STATUS_OK, stopped_text_open(&t, rule, &e));
    uint64_t allocations = mem_count();
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(STATUS_OK, stopped_text_push(&t, ids[i], &e));
        buf_append(&seen, t.text.data, t.text.n);
        buf_byte(&seen, '|');
    }
    stopped_text_end(&t);
    CHECK_INT(allocations, mem_count());
    buf_byte(&seen, '.');
    buf_append(&seen, t.text.data, t.text.n);
    CHECK_TEXT(expected, seen.data);
    CHECK_INT(matched, stopped_text_matched(&t));
    stopped_text_close(&t);
    buf_fini(&seen);
}

static void says_nothing_for_end_ids_and_special_tokens(void) {
    struct tokenizer *t = make_bytes();
    struct reply_rule rule = rule_of(t);
    static const int32_t ids[] = {'h', TURN_ID, OPEN_ID, 257, END_ID, 'i'};
    check_pushes(&rule, ids, 6, "h|||abc||i|.", -1);
    rule.think_open = "<think>";
    check_pushes(&rule, ids, 6, "h||<think>|abc||i|.", -1);
    rule.ignore_eos = true;
    check_pushes(&rule, ids, 6, "h||<think>|abc|<end>|i|.", -1);
    tokenizer_free(t);
}

static void holds_back_what_may_become_a_stop_string(void) {
    struct tokenizer *t = make_bytes();
    static const char *const stops[] = {"cab", "<end>"};
    static const size_t stop_bytes[] = {3, 5};
    struct reply_rule rule = rule_of(t);
    rule.stops = stops;
    rule.stop_bytes = stop_bytes;
    rule.n_stops = 2;
    static const int32_t split[] = {257, 256}, other[] = {257, 'a', 'x', 'c'}, end[] = {'o', '<', END_ID};
    check_pushes(&rule, split, 2, "ab||.", 0);
    check_pushes(&rule, other, 4, "ab||cax||.c", -1);
    check_pushes(&rule, end, 3, "o|||.<", -1); // an end id's text is no text, so no stop string either
    rule.ignore_eos = true;
    check_pushes(&rule, end, 3, "o||<|.", 1);
    tokenizer_free(t);
}

static void waits_for_whole_characters(void) {
    struct tokenizer *t = make_bytes();
    struct reply_rule rule = rule_of(t);
    static const int32_t emoji[] = {0xf0, 0x9f, 0x98, 0x80}, broken[] = {0xf0, 0x9f, 'a', 0xc3};
    check_pushes(&rule, emoji, 4, "|||\U0001F600|.", -1);
    check_pushes(&rule, broken, 4, "||\uFFFDa||.\uFFFD", -1);
    tokenizer_free(t);
}

static void allocates_nothing_with_tokenizers_of_other_kinds(void) {
    struct tokenizer *llama2 = plain_new(LLAMA2), *bert = plain_new(BERT);
    struct reply_rule rule = rule_of(llama2);
    static const int32_t hi[] = {5, 11, 6, 7, 8, 9, 10, 2}, words[] = {1, 2, 3, 5, 6, 4};
    check_pushes(&rule, hi, 8, "hi|||||\U0001F600||\uFFFDh|.", -1);
    rule = rule_of(bert);
    check_pushes(&rule, words, 6, "un|aff|able| do| not|!|.", -1);
    tokenizer_free(llama2);
    tokenizer_free(bert);
}

static void refuses_too_many_stop_strings_before_it_reads_them(void) {
    struct tokenizer *t = make_bytes();
    struct reply_rule rule = rule_of(t);
    const char *stops[STOP_STRINGS_MAX] = {"s"};
    size_t stop_bytes[STOP_STRINGS_MAX] = {1};
    rule.stops = stops;
    rule.stop_bytes = stop_bytes;
    rule.n_stops = STOP_STRINGS_MAX + 1;
    struct stopped_text text;
    struct err e = {0};
    CHECK_INT(STATUS_TOO_LARGE, stopped_text_open(&text, &rule, &e));
    CHECK(e.message[0] != '\0');
    stopped_text_close(&text);
    tokenizer_free(t);
}

static const struct test_case cases[] = {
    {"says nothing for end ids and special tokens", says_nothing_for_end_ids_and_special_tokens},
    {"holds back what may become a stop string", holds_back_what_may_become_a_stop_string},
    {"waits for whole characters", waits_for_whole_characters},
    {"allocates nothing with tokenizers of other kinds", allocates_nothing_with_tokenizers_of_other_kinds},
    {"refuses too many stop strings before it reads them", refuses_too_many_stop_strings_before_it_reads_them},
};
TEST_MAIN("text/stopped_text", cases)
