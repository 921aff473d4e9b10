// The known pre-tokenizers on the turns where their patterns differ or where hand-written code goes wrong.
#include "text/pretokenize.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

// The pieces of a text with '|' between them.
static const char *cut(enum pretokenizer kind, const char *text) {
    static char out[1024];
    struct pretokenize p;
    size_t begin, n, at = 0, expected = 0;
    pretokenize_begin(&p, kind, text, strlen(text));
    while (pretokenize_next(&p, &begin, &n)) {
        if (n == 0 || begin != expected) test_fail(__FILE__, __LINE__, "a piece of %zu bytes at %zu", n, begin);
        if (n == 0) break;
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%.*s", at ? "|" : "", (int)n, text + begin);
        expected = begin + n;
    }
    CHECK_INT(strlen(text), expected);
    out[at] = '\0';
    return out;
}

struct row {
    const char *text, *expected;
};

static void check_rows(enum pretokenizer kind, const struct row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) CHECK_TEXT(rows[i].expected, cut(kind, rows[i].text));
}

#define CHECK_ROWS(kind, rows) check_rows(kind, rows, sizeof(rows) / sizeof(rows)[0])

static void gpt2(void) {
    static const struct row rows[] = {
        {"", ""},
        {"Hello world", "Hello| world"},
        {"I'll we've it's", "I|'ll| we|'ve| it|'s"},
        {"I'LL it'S", "I|'|LL| it|'|S"},           // case counts
        {"'tis 'sound", "'t|is| '|sound"},           // a blank before the quote prevents the contraction
        {"'r 'v 'l", "'|r| '|v| '|l"},
        {"a  b", "a| | b"},
        {"a   ", "a|   "},
        {"\n\nx", "\n|\n|x"},                       // only a blank joins a word
        {"abc123 456", "abc|123| 456"},
        {" !? x", " !?| x"},
        {"\u00e9t\u00e9 \u4e2d\u6587\u00bd", "\u00e9t\u00e9| \u4e2d\u6587|\u00bd"},
        {"a\u00a0b", "a|\u00a0|b"},
        {"a \u00a0b", "a| |\u00a0|b"},
        {"e\u0301a", "e|\u0301|a"},                 // a mark is no letter
        {"a\u180eb", "a|\u180e|b"},                 // the Mongolian vowel separator is no white space
    };
    CHECK_ROWS(PRETOKENIZER_GPT2, rows);
}

static void smollm(void) {
    static const struct row rows[] = {
        {"in 1984 x", "in| |1|9|8|4| x"},
        {"a  1", "a|  |1"},                         // the digit ends the text that the lookahead sees
        {"a  b", "a| | b"},
        {"12'll", "1|2|'ll"},
        {"\u00bd\u0663x", "\u00bd|\u0663|x"},
        {"a!\U00011de0!", "a|!|\U00011de0|!"},      // a digit of Unicode 17
        {"", ""},
        {"7", "7"},
    };
    CHECK_ROWS(PRETOKENIZER_SMOLLM, rows);
}

static void llama3(void) {
    static const struct row rows[] = {
        {"I'LL it'S", "I|'LL| it|'S"},
        {"'\u017fo", "'\u017f|o"},                  // the long s folds to s
        {"1234567", "123|456|7"},
        {" 12", " |12"},
        {"\u0661\u0662\u0663\u0664", "\u0661\u0662\u0663|\u0664"},
        {"(word) [x]", "(word|)| [|x|]"},
        {"\tword\vx", "\tword|\vx"},
        {"a\nb", "a|\n|b"},
        {"a \n \n  b", "a| \n \n| | b"},             // up to the last line end
        {"x;\r\n\r\ny", "x|;\r\n\r\n|y"},           // punctuation takes the line ends after it
        {" !!\n x", " !!\n| x"},
        {"a  ", "a|  "},
        {"  \n  ", "  \n|  "},
        {"'x", "'x"},
        {"\u00a0\u00e9", "\u00a0\u00e9"},
        {" \u0301a", " \u0301|a"},
    };
    CHECK_ROWS(PRETOKENIZER_LLAMA3, rows);
}

static void qwen2(void) {
    static const struct row rows[] = {
        {"1234", "1|2|3|4"},
        {"a 12", "a| |1|2"},
        {"it'S 98765;\n", "it|'S| |9|8|7|6|5|;\n"},
        {"if (a[i] >= 0)", "if| (|a|[i|]| >=| |0|)"},
    };
    CHECK_ROWS(PRETOKENIZER_QWEN2, rows);
}

static void qwen35(void) {
    static const struct row rows[] = {
        {"e\u0301a \u0301b", "e\u0301a| \u0301b"}, // marks belong to words
        {"!\u0301x", "!\u0301x"},                   // and a sign before a mark begins one
        {"1\u03012", "1|\u0301|2"},
        {" !?\u0301", " !?|\u0301"},
        {"it'S 98;\n", "it|'S| |9|8|;\n"},
    };
    CHECK_ROWS(PRETOKENIZER_QWEN35, rows);
}

static void o200k(void) {
    static const struct row rows[] = {
        {"CamelCase HTTPServer", "Camel|Case| HTTPServer"},
        {"it's I'LL x'", "it's| I'LL| x|'"},       // a contraction stays with its word
        {"ABC", "ABC"},
        {"A\u4e2db\u4e2dC", "A\u4e2db\u4e2d|C"}, // letters without case end either part
        {"\u0301", "\u0301"},                     // a mark is a lead and a word
        {"1234/5", "123|4|/|5"},
        {"a/ //\n/b", "a|/| //\n/|b"},            // slashes behind signs
        {"x  y\n z", "x| | y|\n| z"},
    };
    CHECK_ROWS(PRETOKENIZER_O200K, rows);
}

static void tekken(void) {
    static const struct row rows[] = {{"it's 12", "it|'s| |1|2"}, {"fooBar", "foo|Bar"}};
    CHECK_ROWS(PRETOKENIZER_TEKKEN, rows);
}

static void deepseek3(void) {
    static const struct row rows[] = {
        {"12345", "123|45"},
        {"\u4e2d\u6587ab\u304b\u30ca", "\u4e2d\u6587|ab|\u304b\u30ca"},
        {"_name .txt", "_name| .|txt"},             // a sign takes the ASCII letters behind it
        {".\u00e9", ".|\u00e9"},
        {"a\u0301b !?\n\nc", "a\u0301b| !?\n\n|c"},
        {"x\x01\x02y", "x|\x01|\x02y"},   // what nothing matches stays between
        {" 12  a", " |12| | a"},
    };
    CHECK_ROWS(PRETOKENIZER_DEEPSEEK3, rows);
}

static void deepseek_coder(void) {
    static const struct row rows[] = {
        {"a\nb\r\n", "a|\n|b|\r|\n"},
        {"if (x) 12", "if| (|x|)| |1|2"},
        {"\u0e01\u0e31x", "\u0e01|\u0e31|x"},
        {"a+b", "a|+|b"},
    };
    CHECK_ROWS(PRETOKENIZER_DEEPSEEK_CODER, rows);
}

static void deepseek_llm(void) {
    static const struct row rows[] = {
        {"one two  3 ", "one| two|  |3| "},
        {"\u03b1\u05d0 \u05d0", "\u03b1|\u05d0 \u05d0"}, // Hebrew is none of its alphabets
        {"1 \n", "1| |\n"},
        {"a\u3000\u3002", "a|\u3000\u3002"},
    };
    CHECK_ROWS(PRETOKENIZER_DEEPSEEK_LLM, rows);
}

static const struct test_case cases[] = {
    {"cuts as GPT-2 does", gpt2},
    {"cuts digits out first as SmolLM does", smollm},
    {"cuts as Llama 3 does", llama3},
    {"cuts as Qwen does", qwen2},
    {"cuts as Qwen3.5 does", qwen35},
    {"cuts as GPT-4o does", o200k},
    {"cuts as Mistral does", tekken},
    {"cuts as DeepSeek V3 does", deepseek3},
    {"cuts as DeepSeek Coder does", deepseek_coder},
    {"cuts as DeepSeek LLM does", deepseek_llm},
};
TEST_MAIN("text/pretokenize", cases)
