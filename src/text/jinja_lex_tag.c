// Tokens inside tags: names, numbers, strings with Python's escapes, operators with their brackets balanced.
#include "text/jinja_lex_tag.h"

#include "base/utf8.h"
#include "text/jinja_text.h"
#include "text/jinja_unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// End of `\d+(_\d+)*` at `at`, or `at` itself.
static size_t skip_digits(const struct jinja_lexer *x, size_t at) {
    while (at < x->n && is_digit(x->source[at])) {
        at++;
        if (at + 1 < x->n && x->source[at] == '_' && is_digit(x->source[at + 1])) at++;
    }
    return at;
}

// End of a float at `at`, or `at`. Behind a dot there are no floats: `a.0.1` is two indexes.
static size_t skip_float(const struct jinja_lexer *x, size_t at) {
    if (at > 0 && x->source[at - 1] == '.') return at;
    size_t whole = skip_digits(x, at), end = whole;
    if (whole == at) return at;
    if (whole < x->n && x->source[whole] == '.') {
        size_t fraction = skip_digits(x, whole + 1);
        if (fraction > whole + 1) end = fraction;
    }
    if (end < x->n && (x->source[end] == 'e' || x->source[end] == 'E')) {
        size_t power = end + 1;
        if (power < x->n && (x->source[power] == '+' || x->source[power] == '-')) power++;
        if (skip_digits(x, power) > power) end = skip_digits(x, power);
    }
    return end == whole ? at : end;
}

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

// Digits of `base` from `at`, single underscores between them. Sets *end; false when the value is over 64 bits.
static bool read_integer(const struct jinja_lexer *x, size_t at, int base, size_t *end, int64_t *value) {
    bool fits = true;
    *value = 0;
    *end = at;
    while (at < x->n) {
        if (x->source[at] == '_' && at + 1 < x->n) at++;
        if (digit_value(x->source[at]) >= base) break;
        fits = fits && !__builtin_mul_overflow(*value, base, value) &&
               !__builtin_add_overflow(*value, digit_value(x->source[at]), value);
        *end = ++at;
    }
    return fits;
}

static enum status lex_number(struct jinja_lexer *x) {
    struct jinja_token *token;
    size_t begin = x->at, end = skip_float(x, begin);
    if (end > begin) {
        char text[128];
        size_t n = 0;
        for (size_t i = begin; i < end && n + 1 < sizeof text; i++) {
            if (x->source[i] != '_') text[n++] = x->source[i];
        }
        text[n] = '\0';
        if (end - begin >= sizeof text) return jinja_lex_fail(x, begin, "the number has too many digits", "");
        TRY(jinja_lex_push(x, JINJA_TOKEN_FLOAT, begin, end, &token));
        token->real = strtod(text, NULL);
        x->at = end;
        return STATUS_OK;
    }
    int64_t value = 0;
    bool fits = true;
    char form = begin + 1 < x->n ? (char)(x->source[begin + 1] | 0x20) : 0;
    int base = form == 'b' ? 2 : form == 'o' ? 8 : form == 'x' ? 16 : 0;
    if (x->source[begin] == '0' && base) fits = read_integer(x, begin + 2, base, &end, &value);
    else base = 0;
    if (!base || end == begin + 2) fits = read_integer(x, begin, x->source[begin] == '0' ? 1 : 10, &end, &value);
    if (!fits) return jinja_lex_fail(x, begin, "the integer does not fit in 64 bits", "");
    TRY(jinja_lex_push(x, JINJA_TOKEN_INTEGER, begin, end, &token));
    token->integer = value;
    x->at = end;
    return STATUS_OK;
}

static size_t skip_name(const struct jinja_lexer *x, size_t at) {
    while (at < x->n) {
        char c = x->source[at];
        uint32_t code_point;
        bool bad;
        size_t length = utf8_next(x->source + at, x->n - at, &code_point, &bad);
        bool ascii = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
        if (!ascii && (bad || code_point < 0x80 || !JINJA_IN(jinja_alpha, code_point))) break;
        at += length;
    }
    return at;
}

// One escape behind a backslash at text[*at]. Python keeps the backslash of an unknown one.
static uint32_t read_escape(const char *text, size_t n, size_t *at, const char **fault) {
    static const char letters[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    char c = text[*at];
    const char *letter = c ? strchr(letters, c) : NULL;
    uint32_t value = 0;
    if (letter) {
        (*at)++;
        return (uint8_t)values[letter - letters];
    }
    if (c >= '0' && c <= '7') {
        for (int i = 0; i < 3 && *at < n && text[*at] >= '0' && text[*at] <= '7'; i++) {
            value = value * 8 + (uint32_t)(text[(*at)++] - '0');
        }
        return value;
    }
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (c == 'N') *fault = "\\N{...} escapes are not supported";
    if (!digits) return '\\';
    (*at)++;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (*at >= n || digit_value(text[*at]) > 15) {
            *fault = digits == 2 ? "truncated \\xXX escape" : "truncated \\u escape";
            return 0;
        }
        value = value * 16 + (uint32_t)digit_value(text[*at]);
    }
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) *fault = "the escape is no Unicode character";
    return value;
}

char *jinja_unescape(struct arena *a, const char *text, size_t n, size_t *out_n, const char **fault) {
    char *out = arena_new(a, n + 1, 2); // an octal escape of two characters may take two bytes
    *fault = "the template needs too much memory";
    if (!out) return NULL;
    *fault = NULL;
    *out_n = 0;
    for (size_t at = 0; at < n && !*fault;) {
        if (text[at] != '\\' || at + 1 == n) {
            out[(*out_n)++] = text[at++];
            continue;
        }
        at++;
        if (text[at] == '\n') at++;
        else *out_n += utf8_put(read_escape(text, n, &at, fault), out + *out_n);
    }
    return *fault ? NULL : out;
}

static enum status lex_string(struct jinja_lexer *x) {
    size_t begin = x->at, end = begin + 1;
    char quote = x->source[begin];
    while (end < x->n && x->source[end] != quote) end += x->source[end] == '\\' ? 2 : 1;
    if (end >= x->n) return jinja_lex_fail(x, begin, "the string is not closed", "");
    struct jinja_token *token;
    TRY(jinja_lex_push(x, JINJA_TOKEN_STRING, begin, end + 1, &token));
    const char *fault;
    token->text = jinja_unescape(x->arena, x->source + begin + 1, end - begin - 1, &token->n, &fault);
    x->at = end + 1;
    return token->text ? STATUS_OK : jinja_lex_fail(x, begin, fault, "");
}

struct brackets {
    char closing[JINJA_BRACKETS_MAX];
    size_t n;
};

static enum status balance(struct jinja_lexer *x, struct brackets *b, enum jinja_token_kind kind) {
    char closing = kind == JINJA_TOKEN_BRACE_OPEN ? '}' : kind == JINJA_TOKEN_PAREN_OPEN ? ')'
                 : kind == JINJA_TOKEN_BRACKET_OPEN ? ']' : 0;
    if (closing) {
        if (b->n == JINJA_BRACKETS_MAX) return jinja_lex_fail(x, x->at, "brackets are nested too deeply", "");
        b->closing[b->n++] = closing;
        return STATUS_OK;
    }
    if (kind != JINJA_TOKEN_BRACE_CLOSE && kind != JINJA_TOKEN_PAREN_CLOSE && kind != JINJA_TOKEN_BRACKET_CLOSE) {
        return STATUS_OK;
    }
    char detail[32], got = x->source[x->at];
    if (b->n && b->closing[b->n - 1] == got) {
        b->n--;
        return STATUS_OK;
    }
    if (b->n) snprintf(detail, sizeof detail, "'%c', expected '%c'", got, b->closing[b->n - 1]);
    else snprintf(detail, sizeof detail, "'%c'", got);
    return jinja_lex_fail(x, x->at, "unexpected ", detail);
}

static enum status lex_operator(struct jinja_lexer *x, struct brackets *b) {
    for (int kind = JINJA_TOKEN_FLOOR_DIVIDE; kind < JINJA_TOKEN_COUNT; kind++) {
        const char *text = jinja_token_text((enum jinja_token_kind)kind);
        if (!jinja_lex_at(x, x->at, text)) continue;
        TRY(balance(x, b, (enum jinja_token_kind)kind));
        size_t begin = x->at;
        x->at += strlen(text);
        return jinja_lex_push(x, (enum jinja_token_kind)kind, begin, x->at, NULL);
    }
    return jinja_lex_fail(x, x->at, "unexpected character", "");
}

enum status jinja_lex_expression(struct jinja_lexer *x, bool block) {
    struct brackets b = {.n = 0};
    size_t begin = x->at;
    while (x->at < x->n) {
        size_t close = b.n ? 0 : jinja_lex_close(x, x->at, block ? "%}" : "}}", block);
        if (close) {
            enum jinja_token_kind kind = block ? JINJA_TOKEN_BLOCK_END : JINJA_TOKEN_PRINT_END;
            TRY(jinja_lex_push(x, kind, x->at, close, NULL));
            x->at = close;
            return STATUS_OK;
        }
        char c = x->source[x->at];
        size_t space = jinja_skip_space(x->source + x->at, x->n - x->at), name = skip_name(x, x->at);
        if (space) {
            x->at += space;
        } else if (is_digit(c)) {
            TRY(lex_number(x));
        } else if (name > x->at) {
            TRY(jinja_lex_push(x, JINJA_TOKEN_NAME, x->at, name, NULL));
            x->at = name;
        } else if (c == '\'' || c == '"') {
            TRY(lex_string(x));
        } else {
            TRY(lex_operator(x, &b));
        }
    }
    return jinja_lex_fail(x, begin, "the tag is not closed", "");
}
