// Decoders: streams of ids whose pieces joined are the whole text, for every kind of decoder but bytes.
#include "text/detokenizer.h"
#include "tests/unit/text/plain_tokenizer.h"

// The pieces that the ids come out in, each followed by '|'; the whole decode has to be the pieces joined.
static const char *streamed(const struct tokenizer *t, const int32_t *ids, size_t n) {
    static char out[1024];
    struct detokenizer d;
    struct buf all, whole;
    struct err e = {0};
    size_t at = 0;
    buf_init(&all, 1 << 16);
    buf_init(&whole, 1 << 16);
    detokenizer_init(&d, t, false);
    for (size_t i = 0; i <= n; i++) {
        size_t from = all.n;
        if (i == n) detokenizer_end(&d, &all);
        else if (detokenizer_push(&d, ids[i], &all, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
        if (all.n && !utf8_valid(all.data, all.n)) test_fail(__FILE__, __LINE__, "piece %zu is broken", i);
        at += (size_t)snprintf(out + at, sizeof out - at, "%s|", all.n ? all.data + from : "");
    }
    CHECK_INT(STATUS_OK, tokenizer_decode(t, ids, n, false, &whole, &e));
    CHECK_TEXT(whole.n ? whole.data : "", all.n ? all.data : "");
    buf_fini(&all);
    buf_fini(&whole);
    return out;
}

static void check(const char *json, const char *expected, size_t n, const int32_t *ids) {
    struct tokenizer *t = plain_new(json);
    if (t) CHECK_TEXT(expected, streamed(t, ids, n));
    tokenizer_free(t);
}

#define CHECK_STREAM(json, expected, ...)                                                          \
    check(json, expected, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t), \
          (const int32_t[]){__VA_ARGS__})

static void joins_bytes_to_characters(void) {
    CHECK_STREAM(LLAMA2, "hi| ||||\U0001f600|hi||", 5, 1, 6, 7, 8, 9, 4);
    CHECK_STREAM(LLAMA2, "|||\U0001f600| hi||", 6, 7, 8, 9, 5);      // then a word with a blank before it
    CHECK_STREAM(LLAMA2, "||\ufffd\ufffd hi||", 6, 7, 5);            // what stays half is given up byte by byte
    CHECK_STREAM(LLAMA2, "|\ufffd|\ufffd|||\U0001f600||", 10, 10, 6, 7, 8, 9);
    CHECK_STREAM(LLAMA2, "\ufffd||\ufffd|", 9, 10);
}

static void drops_the_blank_before_the_text(void) {
    CHECK_STREAM(LLAMA2, "hi| hi| ||", 5, 5, 1);
    CHECK_STREAM(LLAMA2, "| |hi||", 1, 1, 4); // one blank only
    CHECK_STREAM(LLAMA2, "<s>| hi||", 11, 5); // none after other text
    CHECK_STREAM(UNIGRAM, "|a| a|ab||", 1, 2, 5, 4);
}

static void joins_words(void) {
    CHECK_STREAM(BERT, "un|aff|able|!||", 1, 2, 3, 4);
    CHECK_STREAM(BERT, "##aff| un| do||", 2, 1, 5); // a first part stays as it is
}

// BPEDecoder: whether a blank follows is known with the next token.
#define WORD_ENDS                                                                                  \
    "{\"decoder\":{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"},\"model\":{\"type\":\"BPE\"," \
    "\"vocab\":{\"a</w>\":0,\"b\":1,\"c</w>d</w>\":2},\"merges\":[]}}"

static void ends_words_but_the_last(void) {
    CHECK_STREAM(WORD_ENDS, "|a |b|a|", 0, 1, 0);
    CHECK_STREAM(WORD_ENDS, "|c d |cd|", 2, 2);
}

#define NO_DECODER                                                                                 \
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[]}}"

static void puts_blanks_between_tokens_without_a_decoder(void) { CHECK_STREAM(NO_DECODER, "a| b||", 0, 1); }

static void says_what_an_id_adds(void) {
    struct tokenizer *t = plain_new(LLAMA2);
    size_t n;
    if (!t) return;
    CHECK_BYTES(" hi", tokenizer_bytes(t, 5, &n), 3);
    CHECK_INT(3, n);
    CHECK_BYTES("\xf0", tokenizer_bytes(t, 6, &n), 1);
    CHECK_INT(1, n);
    CHECK(!tokenizer_bytes(t, 12, &n));
    tokenizer_free(t);
}

static const struct test_case cases[] = {
    {"joins bytes to characters", joins_bytes_to_characters},
    {"drops the blank before the text", drops_the_blank_before_the_text},
    {"joins words", joins_words},
    {"ends words but the last", ends_words_but_the_last},
    {"puts blanks between tokens without a decoder", puts_blanks_between_tokens_without_a_decoder},
    {"says what an id adds", says_what_an_id_adds},
};
TEST_MAIN("text/decode", cases)
