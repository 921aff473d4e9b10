// The reasoning splitter: what belongs to which part, and that no cut of the text changes it.
#include "text/reasoning.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 8192 };

struct parts {
    char text[2][TEXT_MAX];
    size_t n[2];
    bool answered, mixed; // an answer has come; a thought came behind it
};

static void collect(void *context, enum reasoning_part part, const char *text, size_t n) {
    struct parts *p = context;
    if (n == 0) test_fail(__FILE__, __LINE__, "an empty piece was given");
    if (part == REASONING_ANSWER) p->answered = true;
    else if (p->answered) p->mixed = true;
    if (p->n[part] + n >= TEXT_MAX) return;
    memcpy(p->text[part] + p->n[part], text, n);
    p->n[part] += n;
    p->text[part][p->n[part]] = '\0';
}

static struct reasoning *splitter(const char *open, const char *close, bool inside) {
    struct reasoning *r = NULL;
    struct err e = {0};
    if (reasoning_new(open, close, inside, &r, &e) != STATUS_OK) test_fail(__FILE__, __LINE__, "%s", e.message);
    return r;
}

// Splits a text that comes in pieces of `step` bytes (0: of changing length).
static void split(const char *open, const char *close, bool inside, const char *text, size_t n, size_t step,
                  struct parts *out) {
    struct reasoning *r = splitter(open, close, inside);
    uint64_t random = n * 2654435761u + 1;
    memset(out, 0, sizeof *out);
    for (size_t at = 0; r && at < n;) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t piece = step ? step : 1 + (size_t)(random >> 60);
        if (piece > n - at) piece = n - at;
        reasoning_feed(r, text + at, piece, collect, out);
        at += piece;
    }
    if (r) reasoning_finish(r, collect, out);
    reasoning_free(r);
}

// Splits `text` in every cut of equal pieces and expects the same parts each time.
static void check_split(int line, const char *thought, const char *answer, bool inside, const char *text) {
    size_t n = strlen(text);
    for (size_t step = 0; step <= n + 1; step++) {
        struct parts p;
        split("<think>", "</think>", inside, text, n, step, &p);
        test_check_text(__FILE__, line, text, thought, p.text[REASONING_THOUGHT]);
        test_check_text(__FILE__, line, text, answer, p.text[REASONING_ANSWER]);
        if (p.mixed) test_fail(__FILE__, line, "a thought came behind the answer");
    }
}

#define CHECK_SPLIT(thought, answer, inside, text) check_split(__LINE__, thought, answer, inside, text)

static void a_block_that_opens_the_reply_is_reasoning(void) {
    CHECK_SPLIT("hm", "yes", false, "<think>hm</think>yes");
    CHECK_SPLIT("hm\n\nhm", "yes  ", false, "\n<think>\nhm\n\nhm\n</think>\n\nyes  ");
    CHECK_SPLIT("", "yes", false, "<think>\n\n</think>\n\nyes");
    CHECK_SPLIT("", "", false, "<think></think>");
}

static void a_block_that_the_prompt_opened_is_reasoning(void) {
    CHECK_SPLIT("hm", "yes", true, "hm</think>yes");
    CHECK_SPLIT("hm", "yes", true, "\nhm\n</think>\nyes");
    CHECK_SPLIT("hm", "yes", true, "\n<think>\nhm</think>yes"); // and that the model opens once more
    CHECK_SPLIT("<thi hm", "yes", true, "<thi hm</think>yes");
    CHECK_SPLIT("", "yes", true, "</think>yes");
    CHECK_SPLIT("a <think> b", "c", true, "a <think> b</think>c");
}

static void all_else_is_answer(void) {
    CHECK_SPLIT("", "yes", false, "yes");
    CHECK_SPLIT("", " \n yes", false, " \n yes");
    CHECK_SPLIT("", " <thin", false, " <thin");
    CHECK_SPLIT("", "so <think>hm</think> yes", false, "so <think>hm</think> yes");
    CHECK_SPLIT("", "<thinking>x", false, "<thinking>x");
    CHECK_SPLIT("a", "b <think>c</think> </think> d", false, "<think>a</think>b <think>c</think> </think> d");
    CHECK_SPLIT("", "", false, "");
}

static void an_unfinished_block_is_reasoning(void) {
    CHECK_SPLIT("hm", "", false, "<think>hm");
    CHECK_SPLIT("hm </thin", "", true, "hm </thin");
    CHECK_SPLIT("hm", "", true, "hm \n\n");
    CHECK_SPLIT("", "", true, "");
    CHECK_SPLIT("<thin", "", true, "<thin");
}

static void nearly_a_marker_is_text(void) {
    CHECK_SPLIT("a </think b", "c", true, "a </think b</think>c");
    CHECK_SPLIT("a <</think", "", true, "a <</think");
    CHECK_SPLIT("a <", "c", true, "a <</think>c");
    CHECK_SPLIT("a </</thin", "c", true, "a </</thin</think>c");
    CHECK_SPLIT("a </ think>\t<b", "c", true, "a </ think>\t<b \t\r\n</think>c");
}

static void markers_may_repeat_themselves(void) {
    struct parts p;
    split("aab", "aabaac", true, "x aabaabaac y", 13, 1, &p);
    CHECK_TEXT("x aab", p.text[REASONING_THOUGHT]);
    CHECK_TEXT("y", p.text[REASONING_ANSWER]);
}

static void without_markers_all_is_answer(void) {
    struct parts p;
    split(NULL, NULL, true, " <think>x</think> y", 19, 3, &p);
    CHECK_TEXT("", p.text[REASONING_THOUGHT]);
    CHECK_TEXT(" <think>x</think> y", p.text[REASONING_ANSWER]);
    split("<think>", NULL, false, "<think>x", 8, 3, &p);
    CHECK_TEXT("<think>x", p.text[REASONING_ANSWER]);
}

static void long_white_space_belongs_to_the_text(void) {
    char text[2048];
    struct parts whole, cut;
    int n = snprintf(text, sizeof text, "a%600sb%300s</think>c", "", "");
    split("<think>", "</think>", true, text, (size_t)n, sizeof text, &whole);
    CHECK_INT(1 + 600 + 1 + 256, whole.n[REASONING_THOUGHT]);
    for (size_t step = 0; step < 400; step += 7) {
        split("<think>", "</think>", true, text, (size_t)n, step, &cut);
        CHECK_TEXT(whole.text[REASONING_THOUGHT], cut.text[REASONING_THOUGHT]);
        CHECK_TEXT("c", cut.text[REASONING_ANSWER]);
    }
}

// Texts made of pieces of markers and white space, each in several cuts.
static void no_cut_changes_the_parts(void) {
    static const char *const bits[] = {"<think>", "</think>", "<", "</", "think>", "<thi", " ", "\n", "x", "yes ",
                                       "</thin"};
    uint64_t random = 7;
    for (int i = 0; i < 3000; i++) {
        char text[256] = "";
        struct parts whole, cut;
        bool inside = i % 2;
        for (int k = 0; k < 12; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            strncat(text, bits[(random >> 33) % (sizeof bits / sizeof bits[0])], 16);
        }
        size_t n = strlen(text);
        split("<think>", "</think>", inside, text, n, n, &whole);
        CHECK(!whole.mixed);
        for (size_t step = 0; step < 5; step++) {
            split("<think>", "</think>", inside, text, n, step, &cut);
            test_check_text(__FILE__, __LINE__, text, whole.text[REASONING_THOUGHT], cut.text[REASONING_THOUGHT]);
            test_check_text(__FILE__, __LINE__, text, whole.text[REASONING_ANSWER], cut.text[REASONING_ANSWER]);
        }
    }
}

static void tells_what_comes_next(void) {
    struct parts p = {0};
    struct reasoning *r = splitter("<think>", "</think>", false);
    if (!r) return;
    CHECK_INT(REASONING_ANSWER, reasoning_where(r));
    reasoning_feed(r, "<think>", 7, collect, &p);
    CHECK_INT(REASONING_THOUGHT, reasoning_where(r));
    reasoning_feed(r, "x</think>", 9, collect, &p);
    CHECK_INT(REASONING_ANSWER, reasoning_where(r));
    reasoning_free(r);
}

static void refuses_markers_that_it_cannot_hold(void) {
    static const char *const bad[] = {"", "a b", "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct reasoning *r;
        struct err e = {0};
        CHECK_INT(STATUS_INVALID, reasoning_new(bad[i], "x", false, &r, &e));
        CHECK(r == NULL);
    }
}

static const struct test_case cases[] = {
    {"a block that opens the reply is reasoning", a_block_that_opens_the_reply_is_reasoning},
    {"a block that the prompt opened is reasoning", a_block_that_the_prompt_opened_is_reasoning},
    {"all else is answer", all_else_is_answer},
    {"an unfinished block is reasoning", an_unfinished_block_is_reasoning},
    {"nearly a marker is text", nearly_a_marker_is_text},
    {"markers may repeat themselves", markers_may_repeat_themselves},
    {"without markers all is answer", without_markers_all_is_answer},
    {"long white space belongs to the text", long_white_space_belongs_to_the_text},
    {"no cut changes the parts", no_cut_changes_the_parts},
    {"tells what comes next", tells_what_comes_next},
    {"refuses markers that it cannot hold", refuses_markers_that_it_cannot_hold},
};
TEST_MAIN("reasoning", cases)
