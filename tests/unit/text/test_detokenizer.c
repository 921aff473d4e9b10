// Streams of ids to text: whole characters only, and the pieces joined are the whole decode.
#include "text/detokenizer.h"
#include "tests/unit/text/tiny_tokenizer.h"

static const char *const merges[] = {"h i"}; // 256

static struct tokenizer *make(struct tiny *tiny) {
    static const struct added_token added[] = {{.text = "<|end|>", .n = 7, .id = 300, .special = true},
                                               {.text = "\u00e9", .n = 2, .id = 301},
                                               {.text = "\u4e2d", .n = 3, .id = 302}};
    tiny_init(tiny, 1, merges);
    tiny->tokens[0xe9] = NULL; // the added token takes that written form
    tiny->source.added = added;
    tiny->source.n_added = 3;
    return tiny_new(tiny);
}

// The pieces that the ids come out in, each followed by '|'.
static const char *streamed(const struct tokenizer *t, const int32_t *ids, size_t n, bool skip_special) {
    static char out[1024];
    struct detokenizer d;
    struct buf piece;
    struct err e = {0};
    size_t at = 0;
    buf_init(&piece, 1 << 16);
    detokenizer_init(&d, t, skip_special);
    for (size_t i = 0; i <= n; i++) {
        buf_reset(&piece);
        if (i == n) detokenizer_end(&d, &piece);
        else if (detokenizer_push(&d, ids[i], &piece, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
        if (!utf8_valid(piece.n ? piece.data : "", piece.n)) test_fail(__FILE__, __LINE__, "piece %zu is broken", i);
        at += (size_t)snprintf(out + at, sizeof out - at, "%s|", piece.n ? piece.data : "");
    }
    buf_fini(&piece);
    return out;
}

static void holds_a_character_until_it_is_whole(void) {
    struct tiny tiny;
    struct tokenizer *t = make(&tiny);
    if (!t) return;
    const int32_t emoji[] = {0xf0, 0x9f, 0x98, 0x80, 32, 120}, cut[] = {0xf0, 0x9f, 32, 120};
    const int32_t stray[] = {0x80, 256, 0xc3};
    CHECK_TEXT("|||\U0001f600| |x||", streamed(t, emoji, 6, false));
    CHECK_TEXT("||\ufffd |x||", streamed(t, cut, 4, false));
    CHECK_TEXT("\ufffd|hi||\ufffd|", streamed(t, stray, 3, false));
    tokenizer_free(t);
}

static void skips_special_tokens_on_request(void) {
    struct tiny tiny;
    struct tokenizer *t = make(&tiny);
    if (!t) return;
    const int32_t ids[] = {256, 300, 256};
    CHECK_TEXT("hi|<|end|>|hi||", streamed(t, ids, 3, false));
    CHECK_TEXT("hi||hi||", streamed(t, ids, 3, true));
    tokenizer_free(t);
}

static void reads_added_tokens_through_the_alphabet_too(void) {
    struct tiny tiny;
    struct tokenizer *t = make(&tiny);
    if (!t) return;
    const int32_t ids[] = {301, 302};
    CHECK_TEXT("|\ufffd\u4e2d||", streamed(t, ids, 2, false)); // U+00E9 writes the byte E9, which begins a character
    tokenizer_free(t);
}

static void joins_to_the_whole_decode_on_random_ids(void) {
    struct tiny tiny;
    struct tokenizer *t = make(&tiny);
    struct test_random r = {11};
    static const int32_t odd[] = {0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xf0,
                                  0x9f, 0x98, 0xf4, 0x90, 0xff, 65,   256,  300,  302};
    for (int k = 0; t && k < 20000 && !test_failed(); k++) {
        int32_t ids[12];
        char bytes[128];
        size_t n = test_random_below(&r, 13), n_bytes = 0;
        struct buf whole, pieces, plain;
        struct err e = {0};
        struct detokenizer d;
        buf_init(&whole, 4096);
        buf_init(&pieces, 4096);
        buf_init(&plain, 4096);
        detokenizer_init(&d, t, false);
        for (size_t i = 0; i < n; i++) {
            size_t length;
            ids[i] = odd[test_random_below(&r, sizeof odd / sizeof *odd)];
            const char *of_id = tokenizer_bytes(t, ids[i], &length);
            memcpy(bytes + n_bytes, of_id, length);
            n_bytes += length;
            CHECK_INT(STATUS_OK, detokenizer_push(&d, ids[i], &pieces, &e));
        }
        detokenizer_end(&d, &pieces);
        CHECK_INT(STATUS_OK, tokenizer_decode(t, ids, n, false, &whole, &e));
        utf8_append_lossy(&plain, bytes, n_bytes);
        CHECK_TEXT(plain.n ? plain.data : "", whole.n ? whole.data : "");
        CHECK_TEXT(plain.n ? plain.data : "", pieces.n ? pieces.data : "");
        buf_fini(&whole);
        buf_fini(&pieces);
        buf_fini(&plain);
    }
    tokenizer_free(t);
}

static void names_an_unknown_id(void) {
    struct tiny tiny;
    struct tokenizer *t = make(&tiny);
    if (!t) return;
    static const int32_t unknown[] = {0xe9, 299, 303, -1};
    for (size_t i = 0; i < 4; i++) {
        struct buf out;
        struct err e = {0};
        char name[16];
        buf_init(&out, 64);
        snprintf(name, sizeof name, "token %d", unknown[i]);
        CHECK_INT(STATUS_INVALID, tokenizer_decode(t, &unknown[i], 1, false, &out, &e));
        if (!strstr(e.message, name)) test_fail(__FILE__, __LINE__, "expected \"%s\" in: %s", name, e.message);
        buf_fini(&out);
    }
    tokenizer_free(t);
}

static void an_id_without_a_token_adds_no_text(void) {
    struct tiny tiny;
    struct tokenizer *t = make(&tiny);
    if (!t) return;
    static const int32_t ids[] = {0xe9, 299, 303, -1};
    struct detokenizer d;
    struct buf out;
    struct err e = {0};
    buf_init(&out, 64);
    detokenizer_init(&d, t, false);
    for (size_t i = 0; i < 4; i++) CHECK_INT(STATUS_OK, detokenizer_push(&d, ids[i], &out, &e));
    detokenizer_end(&d, &out);
    CHECK_INT(0, out.n);
    buf_fini(&out);
    tokenizer_free(t);
}

static const struct test_case cases[] = {
    {"an id without a token adds no text", an_id_without_a_token_adds_no_text},
    {"holds a character until it is whole", holds_a_character_until_it_is_whole},
    {"skips special tokens on request", skips_special_tokens_on_request},
    {"reads added tokens through the alphabet too", reads_added_tokens_through_the_alphabet_too},
    {"joins to the whole decode on random ids", joins_to_the_whole_decode_on_random_ids},
    {"names an unknown id", names_an_unknown_id},
};
TEST_MAIN("text/detokenizer", cases)
