// Laying out one value: sign, padding, precision, number base.
#include "text/jinja_format_spec.h"

#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PRECISION_MAX = 400 };

int64_t jinja_format_number(const char *text, size_t n, size_t *at) {
    int64_t number = 0;
    for (; *at < n && text[*at] >= '0' && text[*at] <= '9'; ++*at) {
        if (number < 1000000000) number = number * 10 + (text[*at] - '0');
    }
    return number;
}

static bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

enum status jinja_format_spec_read(struct jinja_run *r, const char *text, size_t n, struct jinja_format_spec *out) {
    size_t at = 0;
    *out = (struct jinja_format_spec){.precision = -1};
    if (n) {
        uint32_t c;
        bool bad;
        size_t length = utf8_next(text, n, &c, &bad);
        if (length < n && is_align(text[length])) {
            out->fill = (struct jinja_string){.text = text, .n = length};
            at = length;
        }
        if (is_align(text[at])) out->align = text[at++];
    }
    if (at < n && (text[at] == '+' || text[at] == ' ' || text[at] == '-')) {
        out->sign = text[at] == '-' ? 0 : text[at];
        at++;
    }
    if (at < n && text[at] == '#') out->alternate = text[at++];
    if (at < n && text[at] == '0') out->zero = text[at++];
    out->width = jinja_format_number(text, n, &at);
    if (at < n && (text[at] == ',' || text[at] == '_')) out->group = text[at++];
    if (at + 1 < n && text[at] == '.' && isdigit((unsigned char)text[at + 1])) {
        at++;
        out->precision = jinja_format_number(text, n, &at);
    }
    if (at < n) out->type = text[at++];
    if (at < n) return jinja_fail(r, "Invalid format specifier");
    return STATUS_OK;
}

static void pad(struct jinja_sink *k, const struct jinja_format_spec *spec, int64_t n) {
    bool zero = spec->zero && !spec->fill.n;
    for (int64_t i = 0; i < n && k->failed == STATUS_OK; i++) {
        if (spec->fill.n) jinja_sink_add(k, spec->fill.text, spec->fill.n, false);
        else jinja_sink_add(k, zero ? "0" : " ", 1, false);
    }
}

// `head` (sign and prefix) and `body`, padded to the width; '=' puts the padding between them.
static enum status put_padded(struct jinja_sink *k, const struct jinja_string *head, const struct jinja_string *body,
                              const struct jinja_format_spec *spec, char align) {
    int64_t n = spec->width - (int64_t)jinja_text_length(head) - (int64_t)jinja_text_length(body);
    int64_t left = n <= 0 ? 0 : align == '>' ? n : align == '^' ? n / 2 : 0;
    pad(k, spec, left);
    jinja_sink_string(k, head);
    if (align == '=') pad(k, spec, n);
    jinja_sink_string(k, body);
    if (align != '=') pad(k, spec, n - left);
    return k->failed;
}

static enum status unknown_type(struct jinja_run *r, char type, const char *of) {
    char shown = isprint((unsigned char)type) ? type : '?';
    return jinja_fail(r, "Unknown format code '%c' for object of type '%s'", shown, of);
}

enum status jinja_format_text(struct jinja_run *r, struct jinja_sink *k, const struct jinja_string *s,
                              const struct jinja_format_spec *spec) {
    static const struct jinja_string none = {.text = ""};
    struct jinja_value cut = {.type = JINJA_STRING, .string = s};
    if (spec->type && spec->type != 's') {
        return unknown_type(r, spec->type, "str");
    }
    if (spec->precision >= 0) {
        TRY(jinja_text_cut(r->arena, s, 0, jinja_text_offset(s, 0, (size_t)spec->precision), &cut));
    }
    char align = spec->align ? spec->align : '<';
    if (align == '=') return jinja_fail(r, "'=' alignment not allowed in string format specifier");
    return put_padded(k, &none, cut.string, spec, align);
}

// Puts `group` between every `every` digits from the right of the whole part.
static size_t group_digits(const char *digits, size_t n, char group, size_t every, char *out) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        if (group && i && (n - i) % every == 0) out[length++] = group;
        out[length++] = digits[i];
    }
    return length;
}

static enum status put_number(struct jinja_sink *k, bool negative, const char *prefix, const struct jinja_string *body,
                              const struct jinja_format_spec *spec) {
    char head[8];
    int n = snprintf(head, sizeof head, "%s%s", negative ? "-" : spec->sign == '+' ? "+" : spec->sign == ' ' ? " " : "",
                     prefix);
    struct jinja_string front = {.text = head, .n = (size_t)n};
    return put_padded(k, &front, body, spec, spec->align ? spec->align : spec->zero ? '=' : '>');
}

static unsigned base_of(char type) {
    switch (type) {
    case 'd':
    case 'n': return 10;
    case 'x':
    case 'X': return 16;
    case 'o': return 8;
    case 'b': return 2;
    default: return 0;
    }
}

enum status jinja_format_integer(struct jinja_run *r, struct jinja_sink *k, int64_t i,
                                 const struct jinja_format_spec *spec) {
    char type = spec->type ? spec->type : 'd', digits[72], grouped[160];
    if (strchr("eEfFgG%", type)) return jinja_format_float(r, k, (double)i, spec);
    unsigned base = base_of(type);
    if (type == 'c' && i >= 0 && i < 0x110000 && (i < 0xd800 || i > 0xdfff)) {
        char bytes[4];
        struct jinja_string s = {.text = bytes, .n = utf8_put((uint32_t)i, bytes)}, none = {.text = ""};
        return put_padded(k, &none, &s, spec, spec->align ? spec->align : '<');
    }
    if (!base) return unknown_type(r, type, "int");
    if (spec->precision >= 0) return jinja_fail(r, "Precision not allowed in integer format specifier");
    uint64_t left = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    size_t n = 0;
    do {
        digits[sizeof digits - ++n] = (type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[left % base];
        left /= base;
    } while (left);
    n = group_digits(digits + sizeof digits - n, n, spec->group, base == 10 ? 3 : 4, grouped);
    struct jinja_string body = {.text = grouped, .n = n};
    const char *prefix = !spec->alternate ? "" : type == 'x' ? "0x" : type == 'X' ? "0X" : type == 'o' ? "0o"
                         : type == 'b' ? "0b" : "";
    return put_number(k, i < 0, prefix, &body, spec);
}

// Digits of |d| by type and precision into text; returns their number.
static int float_digits(double d, const struct jinja_format_spec *spec, char *text, size_t size) {
    int precision = spec->precision < 0 ? 6 : (int)spec->precision;
    const char *alternate = spec->alternate ? "#" : "";
    char type = spec->type == '%' ? 'f' : spec->type, format[16];
    if (spec->type == 0 && spec->precision < 0) return (int)jinja_float_text(d, text);
    snprintf(format, sizeof format, "%%%s.*%c", alternate, type ? type : 'g');
    // The format is put together from a checked conversion letter, so it takes exactly an int and a double.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return snprintf(text, size, format, precision, d);
#pragma GCC diagnostic pop
}

enum status jinja_format_float(struct jinja_run *r, struct jinja_sink *k, double d,
                               const struct jinja_format_spec *spec) {
    char digits[PRECISION_MAX + 400], text[2 * sizeof digits];
    char type = spec->type == 'n' ? 'g' : spec->type;
    if (type && !strchr("eEfFgG%", type)) {
        return unknown_type(r, type, "float");
    }
    if (spec->precision > PRECISION_MAX) return jinja_fail(r, "precision too big");
    struct jinja_format_spec known = *spec;
    known.type = type;
    int n = float_digits(type == '%' ? fabs(d) * 100 : fabs(d), &known, digits, sizeof digits - 1);
    size_t whole = strspn(digits, "0123456789");
    size_t length = group_digits(digits, whole, spec->group, 3, text);
    memcpy(text + length, digits + whole, (size_t)n - whole);
    length += (size_t)n - whole;
    if (type == '%') text[length++] = '%';
    struct jinja_string body = {.text = text, .n = length};
    return put_number(k, signbit(d) && !isnan(d), "", &body, spec);
}
