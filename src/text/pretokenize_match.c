// Hand-written matches of the published patterns.
// None of the patterns looks back, so what matches depends on the text from its beginning on, and each alternative
// becomes one test on the first one or two characters and one run over a class.
#include "text/pretokenize_match.h"

#include "text/unicode.h"

#include <string.h>

// --- parts that patterns share ---

// 's|'t|'re|'ve|'m|'ll|'d : bytes of the match at an apostrophe, or 0.
static size_t contraction(const char *s, size_t n) {
    if (n < 2) return 0;
    switch (s[1]) {
    case 's':
    case 't':
    case 'm':
    case 'd': return 2;
    case 'r':
    case 'v': return n > 2 && s[2] == 'e' ? 3 : 0;
    case 'l': return n > 2 && s[2] == 'l' ? 3 : 0;
    default: return 0;
    }
}

// The same, case ignored. The long s (U+017F) folds to s; no other letter here has a fold outside ASCII.
static size_t contraction_any_case(const char *s, size_t n) {
    char lower[3] = {'\'', 0, 0};
    for (size_t i = 1; i < 3 && i < n; i++) lower[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] + ('a' - 'A') : s[i]);
    if (n > 2 && memcmp(s + 1, "\xc5\xbf", 2) == 0) return 3;
    return contraction(lower, n);
}

static bool is_newline(char c) { return c == '\r' || c == '\n'; }

static size_t newlines(const char *s, size_t n) {
    size_t at = 0;
    while (at < n && is_newline(s[at])) at++;
    return at;
}

// \s+(?!\S)|\s+ : a run that a word follows leaves its last character to that word.
static size_t spaces(const char *s, size_t n) {
    size_t run = unicode_run(s, n, UNICODE_SPACE), last;
    if (run == n || run == 0) return run;
    unicode_class_before(s, run, &last);
    return run > last ? run - last : run;
}

// \s*[\r\n]+|\s+(?!\S)|\s+
static size_t spaces_by_line(const char *s, size_t n) {
    size_t newline = unicode_run(s, n, UNICODE_SPACE);
    while (newline > 0 && !is_newline(s[newline - 1])) newline--;
    return newline ? newline : spaces(s, n);
}

// At most `limit` characters of \p{N}.
static size_t numbers(const char *s, size_t n, unsigned limit) {
    size_t at = 0, length;
    for (; limit > 0 && at < n && unicode_class_at(s + at, n - at, &length) & UNICODE_NUMBER; limit--) at += length;
    return at;
}

// A run of UNICODE_OTHER without the classes in `but`.
static size_t others(const char *s, size_t n, unsigned but) {
    size_t at = 0, length;
    while (at < n && (unicode_class_at(s + at, n - at, &length) & (UNICODE_OTHER | but)) == UNICODE_OTHER) at += length;
    return at;
}

// The class of the character after the first one, 0 at the end.
static unsigned class_after(const char *s, size_t n, size_t first) {
    size_t length;
    return first < n ? unicode_class_at(s + first, n - first, &length) : 0;
}

// --- GPT-2 ---

size_t pretokenize_match_gpt2(const char *s, size_t n) {
    if (s[0] == '\'') {
        size_t length = contraction(s, n);
        if (length) return length;
    }
    size_t lead = s[0] == ' ' && n > 1, length;
    unsigned class = unicode_class_at(s + lead, n - lead, &length) & (UNICODE_LETTER | UNICODE_NUMBER | UNICODE_OTHER);
    if (!class) return spaces(s, n);
    return lead + unicode_run(s + lead, n - lead, class);
}

size_t pretokenize_match_digit(const char *s, size_t n) {
    size_t length;
    return unicode_class_at(s, n, &length) & UNICODE_DIGIT ? length : 0;
}

// --- Llama 3, Qwen2, Qwen3.5 ---

// They differ in how many digits stay together, and in whether marks belong to words or to punctuation.
static inline size_t modern(const char *s, size_t n, unsigned digits, unsigned mark) {
    if (s[0] == '\'') {
        size_t length = contraction_any_case(s, n);
        if (length) return length;
    }
    size_t first;
    unsigned class = unicode_class_at(s, n, &first), word = UNICODE_LETTER | mark;
    if (class & word) return unicode_run(s, n, word);
    if (class & UNICODE_NUMBER) return numbers(s, n, digits);
    if (!is_newline(s[0])) {
        unsigned next = class_after(s, n, first);
        if (next & word) return first + unicode_run(s + first, n - first, word);
        if (next & UNICODE_OTHER && s[0] == ' ') class = UNICODE_OTHER;
    }
    if (!(class & UNICODE_OTHER)) return spaces_by_line(s, n);
    size_t length = first + others(s + first, n - first, mark);
    return length + newlines(s + length, n - length);
}

size_t pretokenize_match_llama3(const char *s, size_t n) { return modern(s, n, 3, 0); }
size_t pretokenize_match_qwen2(const char *s, size_t n) { return modern(s, n, 1, 0); }
size_t pretokenize_match_qwen35(const char *s, size_t n) { return modern(s, n, 1, UNICODE_MARK); }

// --- o200k and Tekken ---

// UPPER*LOWER+ at s, or 0. Letters without case and marks are in both classes: of a run of UPPER that no LOWER follows
// the last such character is given back, and LOWER+ ends with it.
static size_t upper_then_lower(const char *s, size_t n) {
    size_t at = 0, length, end_of_both = 0;
    for (unsigned class; at < n && (class = unicode_class_at(s + at, n - at, &length)) & UNICODE_UPPER; at += length)
        if (class & UNICODE_LOWER) end_of_both = at + length;
    size_t lower = unicode_run(s + at, n - at, UNICODE_LOWER);
    return lower ? at + lower : end_of_both;
}

// UPPER+LOWER* at s, or 0.
static size_t upper_first(const char *s, size_t n) {
    size_t upper = unicode_run(s, n, UNICODE_UPPER);
    return upper ? upper + unicode_run(s + upper, n - upper, UNICODE_LOWER) : 0;
}

// A word with its lead: each form is tried with a lead first, then without.
static size_t cased_word(const char *s, size_t n) {
    size_t lead, length;
    unsigned class = unicode_class_at(s, n, &lead);
    if (class & (UNICODE_LETTER | UNICODE_NUMBER) || is_newline(s[0]) || lead == n) lead = 0;
    if (lead && (length = upper_then_lower(s + lead, n - lead))) return lead + length;
    if ((length = upper_then_lower(s, n))) return length;
    if (lead && (length = upper_first(s + lead, n - lead))) return lead + length;
    return upper_first(s, n);
}

static inline size_t cased(const char *s, size_t n, unsigned digits, bool contractions) {
    size_t length = cased_word(s, n), first;
    if (length && contractions && length < n && s[length] == '\'')
        return length + contraction_any_case(s + length, n - length);
    if (length) return length;
    unsigned class = unicode_class_at(s, n, &first);
    if (class & UNICODE_NUMBER) return numbers(s, n, digits);
    if (s[0] == ' ' && class_after(s, n, first) & UNICODE_OTHER) class = UNICODE_OTHER;
    if (!(class & UNICODE_OTHER)) return spaces_by_line(s, n);
    length = first + others(s + first, n - first, 0);
    while (length < n && (is_newline(s[length]) || s[length] == '/')) length++;
    return length;
}

size_t pretokenize_match_o200k(const char *s, size_t n) { return cased(s, n, 3, true); }
size_t pretokenize_match_tekken(const char *s, size_t n) { return cased(s, n, 1, false); }

// --- DeepSeek ---

struct range {
    uint32_t first, last;
};

// A run of characters in rising ranges.
static size_t range_run(const char *s, size_t n, const struct range *ranges, size_t n_ranges) {
    size_t at = 0;
    while (at < n) {
        uint32_t c;
        bool bad;
        size_t length = utf8_next(s + at, n - at, &c, &bad), low = 0, high = n_ranges;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (ranges[middle].last < c) low = middle + 1;
            else high = middle;
        }
        if (low == n_ranges || c < ranges[low].first) break;
        at += length;
    }
    return at;
}

#define RANGE_RUN(s, n, ranges) range_run(s, n, ranges, sizeof(ranges) / sizeof(ranges)[0])

// Bytes of a white space that \s? takes: one that something follows.
static size_t first_space(const char *s, size_t n) {
    size_t first;
    return unicode_class_at(s, n, &first) & UNICODE_SPACE && first < n ? first : 0;
}

size_t pretokenize_match_three_numbers(const char *s, size_t n) { return numbers(s, n, 3); }

size_t pretokenize_match_newline(const char *s, size_t n) { return n > 0 && is_newline(s[0]); }

size_t pretokenize_match_han_kana(const char *s, size_t n) {
    static const struct range ranges[] = {{0x3040, 0x30ff}, {0x4e00, 0x9fa5}};
    return (uint8_t)s[0] < 0xe3 ? 0 : RANGE_RUN(s, n, ranges);
}

size_t pretokenize_match_wide(const char *s, size_t n) {
    static const struct range ranges[] = {{0x0800, 0x9fa5}, {0xac00, 0xd7ff}};
    return (uint8_t)s[0] < 0xe0 ? 0 : RANGE_RUN(s, n, ranges);
}

size_t pretokenize_match_letters(const char *s, size_t n) {
    size_t space = first_space(s, n), run = unicode_run(s + space, n - space, UNICODE_LETTER);
    return run ? space + run : 0;
}

size_t pretokenize_match_punctuation(const char *s, size_t n) {
    size_t space = first_space(s, n), run = unicode_run(s + space, n - space, UNICODE_PUNCTUATION);
    return run ? space + run : 0;
}

size_t pretokenize_match_alphabets(const char *s, size_t n) {
    static const struct range ranges[] = {
        {0x41, 0x5a}, {0x61, 0x7a}, {0xb5, 0xb5}, {0xc0, 0xd6}, {0xd8, 0xf6}, {0xf8, 0x1ba}, {0x1bc, 0x1bf},
        {0x1c4, 0x293}, {0x295, 0x2af}, {0x370, 0x373}, {0x376, 0x377}, {0x37b, 0x37d}, {0x37f, 0x37f},
        {0x386, 0x386}, {0x388, 0x38a}, {0x38c, 0x38c}, {0x38e, 0x3a1}, {0x3a3, 0x3f5}, {0x3f7, 0x481},
        {0x48a, 0x52f}, {0x531, 0x556}, {0x10a0, 0x10c5}, {0x13a0, 0x13f5}, {0x13f8, 0x13fd}, {0x1c90, 0x1cba},
        {0x1cbd, 0x1cbf}, {0x1d00, 0x1d2b}, {0x1d6b, 0x1d77}, {0x1d79, 0x1d9a}, {0x1e00, 0x1f15}, {0x1f18, 0x1f1d},
        {0x1f20, 0x1f45}, {0x1f48, 0x1f4d}, {0x1f50, 0x1f57}, {0x1f59, 0x1f59}, {0x1f5b, 0x1f5b}, {0x1f5d, 0x1f5d},
        {0x1f5f, 0x1f7d}, {0x1f80, 0x1fb4}, {0x1fb6, 0x1fbc}, {0x1fbe, 0x1fbe}, {0x1fc2, 0x1fc4}, {0x1fc6, 0x1fcc},
        {0x1fd0, 0x1fd3}, {0x1fd6, 0x1fdb}, {0x1fe0, 0x1fec}, {0x1ff2, 0x1ff4}, {0x1ff6, 0x1ffc}, {0x2102, 0x2102},
        {0x2107, 0x2107}, {0x210a, 0x2113}, {0x2115, 0x2115}, {0x2119, 0x211d}, {0x2124, 0x2124}, {0x2126, 0x2126},
        {0x2128, 0x2128}, {0x212a, 0x212d}, {0x212f, 0x2134}, {0x2139, 0x2139}, {0x213c, 0x213f}, {0x2145, 0x2149},
        {0x214e, 0x214e}, {0x2183, 0x2184}, {0x2c00, 0x2c7b}, {0x2c7e, 0x2ce4}, {0x2ceb, 0x2cee}, {0x2cf2, 0x2cf3},
        {0xa640, 0xa66d}, {0xa680, 0xa69b}, {0xa722, 0xa76f}, {0xa771, 0xa787}, {0xa78b, 0xa78e}, {0xab70, 0xabbf},
        {0xfb00, 0xfb06}, {0xfb13, 0xfb17}, {0xff21, 0xff3a}, {0xff41, 0xff5a}, {0x10400, 0x1044f},
        {0x104b0, 0x104d3}, {0x104d8, 0x104fb}, {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x118a0, 0x118df},
        {0x1e900, 0x1e943},
    };
    size_t space = first_space(s, n), run = RANGE_RUN(s + space, n - space, ranges);
    return run ? space + run : 0;
}

// U+3000 is in the class and is white space itself, so it may be a mark without one behind it.
size_t pretokenize_match_marks(const char *s, size_t n) {
    static const struct range ranges[] = {{'!', '/'},       {':', '~'},       {0x2018, 0x201f},
                                          {0x3000, 0x3002}, {0xff01, 0xff0f}, {0xff1a, 0xff5e}};
    size_t space = first_space(s, n), run = RANGE_RUN(s + space, n - space, ranges);
    return run ? space + run : RANGE_RUN(s, n, ranges);
}

size_t pretokenize_match_spaces_at_end(const char *s, size_t n) {
    return unicode_run(s, n, UNICODE_SPACE) == n ? n : 0;
}

static bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

size_t pretokenize_match_deepseek3(const char *s, size_t n) {
    const unsigned word = UNICODE_LETTER | UNICODE_MARK, sign = UNICODE_PUNCTUATION | UNICODE_SYMBOL;
    size_t first, length = 1;
    unsigned class = unicode_class_at(s, n, &first);
    if (class & sign && first == 1) {
        while (length < n && is_ascii_letter(s[length])) length++;
        if (length > 1) return length;
    }
    if (class & word) return unicode_run(s, n, word);
    unsigned next = class_after(s, n, first);
    if (!(class & sign) && !is_newline(s[0]) && next & word) return first + unicode_run(s + first, n - first, word);
    if (class & sign || (s[0] == ' ' && next & sign)) {
        length = first + unicode_run(s + first, n - first, sign);
        return length + newlines(s + length, n - length);
    }
    return spaces_by_line(s, n);
}
