// Pre-tokenizers as hand-written scanners.
// None of the patterns looks back, so the piece at a position depends on the text from there on, and each alternative
// becomes one test on the first one or two characters and one run over a class.
#include "text/pretokenize.h"

#include "text/unicode.h"

#include <string.h>

static const char *const patterns[PRETOKENIZER_COUNT] = {
    [PRETOKENIZER_GPT2] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    [PRETOKENIZER_SMOLLM] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    [PRETOKENIZER_LLAMA3] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
                            "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    [PRETOKENIZER_QWEN2] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
                           "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

const char *pretokenize_pattern(enum pretokenizer kind) { return patterns[kind]; }

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

// \s+(?!\S)|\s+ : a run that a word follows leaves its last character to that word.
static size_t spaces(const char *s, size_t n) {
    size_t run = unicode_run(s, n, UNICODE_SPACE), last;
    if (run == n) return run;
    unicode_class_before(s, run, &last);
    return run > last ? run - last : run;
}

static bool is_newline(char c) { return c == '\r' || c == '\n'; }

// \s*[\r\n]+|\s+(?!\S)|\s+
static size_t spaces_by_line(const char *s, size_t n) {
    size_t newline = unicode_run(s, n, UNICODE_SPACE);
    while (newline > 0 && !is_newline(s[newline - 1])) newline--;
    return newline ? newline : spaces(s, n);
}

static size_t gpt2_piece(const char *s, size_t n) {
    if (s[0] == '\'') {
        size_t length = contraction(s, n);
        if (length) return length;
    }
    size_t lead = s[0] == ' ' && n > 1, length;
    unsigned class = unicode_class_at(s + lead, n - lead, &length) & (UNICODE_LETTER | UNICODE_NUMBER | UNICODE_OTHER);
    if (!class) return spaces(s, n);
    return lead + unicode_run(s + lead, n - lead, class);
}

// At most `limit` characters of \p{N}.
static size_t numbers(const char *s, size_t n, unsigned limit) {
    size_t at = 0, length;
    for (; limit > 0 && at < n && unicode_class_at(s + at, n - at, &length) & UNICODE_NUMBER; limit--) at += length;
    return at;
}

// Llama 3 and Qwen differ only in how many digits they keep together.
static size_t modern_piece(const char *s, size_t n, unsigned digits) {
    if (s[0] == '\'') {
        size_t length = contraction_any_case(s, n);
        if (length) return length;
    }
    size_t first, second;
    unsigned class = unicode_class_at(s, n, &first);
    if (class & UNICODE_LETTER) return unicode_run(s, n, UNICODE_LETTER);
    if (class & UNICODE_NUMBER) return numbers(s, n, digits);
    if (first < n && !is_newline(s[0])) {
        unsigned next = unicode_class_at(s + first, n - first, &second);
        if (next & UNICODE_LETTER) return first + unicode_run(s + first, n - first, UNICODE_LETTER);
        if (next & UNICODE_OTHER && s[0] == ' ') class = UNICODE_OTHER;
    }
    if (!(class & UNICODE_OTHER)) return spaces_by_line(s, n);
    size_t length = first + unicode_run(s + first, n - first, UNICODE_OTHER);
    while (length < n && is_newline(s[length])) length++;
    return length;
}

// Digits come first and one by one, so GPT-2's pattern sees the text between two of them as if it were alone.
static size_t smollm_piece(struct pretokenize *p, const char *s) {
    if (p->at == p->stretch_end) {
        size_t digit;
        bool is_digit = unicode_class_at(s, p->n - p->at, &digit) & UNICODE_DIGIT;
        p->stretch_end += is_digit ? digit : unicode_run(s, p->n - p->at, UNICODE_NO_DIGIT);
        if (is_digit) return digit;
    }
    return gpt2_piece(s, p->stretch_end - p->at);
}

void pretokenize_begin(struct pretokenize *p, enum pretokenizer kind, const char *text, size_t n) {
    *p = (struct pretokenize){.kind = kind, .text = text, .n = n};
}

bool pretokenize_next(struct pretokenize *p, size_t *begin, size_t *n_piece) {
    if (p->at == p->n) return false;
    const char *s = p->text + p->at;
    size_t left = p->n - p->at, length = 0;
    switch (p->kind) {
    case PRETOKENIZER_GPT2: length = gpt2_piece(s, left); break;
    case PRETOKENIZER_SMOLLM: length = smollm_piece(p, s); break;
    case PRETOKENIZER_LLAMA3: length = modern_piece(s, left, 3); break;
    case PRETOKENIZER_QWEN2: length = modern_piece(s, left, 1); break;
    case PRETOKENIZER_COUNT: break;
    }
    *begin = p->at;
    *n_piece = length;
    p->at += length;
    return true;
}
