// Python's str and repr of values.
#include "text/jinja_print.h"

#include "base/utf8.h"
#include "text/jinja_run.h"
#include "text/jinja_unicode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Splits "d.ddde+xx" into digits and the exponent of the first; the least precision that reads back equal.
static int shortest_digits(double d, char digits[18], int *exponent) {
    char text[32];
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, d);
        if (strtod(text, NULL) == d) break;
    }
    int n = 0;
    const char *p = text;
    for (; *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9') digits[n++] = *p;
    }
    *exponent = (int)strtol(p + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0') n--;
    return n;
}

size_t jinja_float_text(double d, char out[JINJA_FLOAT_TEXT]) {
    if (isnan(d)) return (size_t)snprintf(out, JINJA_FLOAT_TEXT, "nan");
    if (isinf(d)) return (size_t)snprintf(out, JINJA_FLOAT_TEXT, d < 0 ? "-inf" : "inf");
    char digits[18];
    int exponent, n = shortest_digits(fabs(d), digits, &exponent);
    char *p = out;
    if (signbit(d)) *p++ = '-';
    if (exponent < -4 || exponent >= 16) {
        *p++ = digits[0];
        if (n > 1) *p++ = '.';
        for (int i = 1; i < n; i++) *p++ = digits[i];
        return (size_t)(p - out) + (size_t)snprintf(p, 8, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    }
    if (exponent < 0) {
        *p++ = '0';
        *p++ = '.';
        for (int i = -1; i > exponent; i--) *p++ = '0';
        for (int i = 0; i < n; i++) *p++ = digits[i];
    } else {
        for (int i = 0; i <= exponent || i < n; i++) {
            if (i == exponent + 1) *p++ = '.';
            *p++ = i < n ? digits[i] : '0';
        }
        if (n <= exponent + 1) {
            *p++ = '.';
            *p++ = '0';
        }
    }
    *p = '\0';
    return (size_t)(p - out);
}

static void print_format(struct jinja_sink *k, const char *format, unsigned long long number) {
    char text[32];
    int n = snprintf(text, sizeof text, format, number);
    jinja_sink_add(k, text, (size_t)n, false);
}

static void escape_code_point(struct jinja_sink *k, uint32_t c) {
    if (c == '\n') jinja_sink_plain(k, "\\n");
    else if (c == '\r') jinja_sink_plain(k, "\\r");
    else if (c == '\t') jinja_sink_plain(k, "\\t");
    else if (c < 0x100) print_format(k, "\\x%02llx", c);
    else print_format(k, c < 0x10000 ? "\\u%04llx" : "\\U%08llx", c);
}

static void repr_string(struct jinja_sink *k, const struct jinja_string *s) {
    bool single = memchr(s->text, '\'', s->n) != NULL, twice = memchr(s->text, '"', s->n) != NULL;
    char quote = single && !twice ? '"' : '\'';
    bool marked = s->n_marks > 0;
    if (s->safe) jinja_sink_plain(k, "Markup(");
    jinja_sink_add(k, &quote, 1, marked);
    for (size_t at = 0; at < s->n && k->failed == STATUS_OK;) {
        uint32_t c;
        bool bad;
        size_t length = utf8_next(s->text + at, s->n - at, &c, &bad);
        if (c == '\\' || c == (uint32_t)quote) jinja_sink_add(k, "\\", 1, marked);
        if (!bad && JINJA_IN(jinja_unprintable, c)) escape_code_point(k, c);
        else jinja_sink_add(k, s->text + at, length, marked);
        at += length;
    }
    jinja_sink_add(k, &quote, 1, marked);
    if (s->safe) jinja_sink_plain(k, ")");
}

static enum status repr(struct jinja_sink *k, struct jinja_value v, unsigned depth, struct err *e);

static enum status repr_list(struct jinja_sink *k, const struct jinja_list *l, unsigned depth, struct err *e) {
    static const char *const opens[] = {"[",           "(",             "(",           "<generator ", "range(",
                                        "dict_keys([", "dict_values([", "dict_items(["};
    static const char *const closes[] = {"]", ")", ")", "object>", ")", "])", "])", "])"};
    jinja_sink_plain(k, opens[l->kind]);
    if (l->kind == JINJA_SEQUENCE_RANGE) {
        int64_t start = l->n ? l->at[0].integer : 0, step = l->n > 1 ? l->at[1].integer - start : 1;
        int64_t stop = l->n ? l->at[l->n - 1].integer + step : 0;
        char text[80];
        int n = step == 1 ? snprintf(text, sizeof text, "%lld, %lld", (long long)start, (long long)stop)
                          : snprintf(text, sizeof text, "%lld, %lld, %lld", (long long)start, (long long)stop,
                                     (long long)step);
        jinja_sink_add(k, text, (size_t)n, false);
    } else if (l->kind != JINJA_SEQUENCE_GENERATOR) {
        for (size_t i = 0; i < l->n; i++) {
            if (i) jinja_sink_plain(k, ", ");
            TRY(repr(k, l->at[i], depth + 1, e));
        }
        if (l->kind == JINJA_SEQUENCE_TUPLE && l->n == 1) jinja_sink_plain(k, ",");
    }
    jinja_sink_plain(k, closes[l->kind]);
    return k->failed;
}

static enum status repr_mapping(struct jinja_sink *k, const struct jinja_mapping *m, unsigned depth, struct err *e) {
    jinja_sink_plain(k, "{");
    for (size_t i = 0; i < m->n; i++) {
        if (i) jinja_sink_plain(k, ", ");
        TRY(repr(k, m->at[i].key, depth + 1, e));
        jinja_sink_plain(k, ": ");
        TRY(repr(k, m->at[i].value, depth + 1, e));
    }
    jinja_sink_plain(k, "}");
    return k->failed;
}

static enum status repr(struct jinja_sink *k, struct jinja_value v, unsigned depth, struct err *e) {
    char text[JINJA_FLOAT_TEXT];
    if (depth > JINJA_NESTING_MAX) return err_set(e, STATUS_INVALID, "the value is nested too deeply to be printed");
    switch (v.type) {
    case JINJA_ABSENT:
    case JINJA_UNDEFINED: jinja_sink_plain(k, "Undefined"); break;
    case JINJA_NONE: jinja_sink_plain(k, "None"); break;
    case JINJA_BOOL: jinja_sink_plain(k, v.truth ? "True" : "False"); break;
    case JINJA_INT: print_format(k, "%lld", (unsigned long long)v.integer); break;
    case JINJA_FLOAT: jinja_sink_add(k, text, jinja_float_text(v.real, text), false); break;
    case JINJA_STRING: repr_string(k, v.string); break;
    case JINJA_LIST: return repr_list(k, v.list, depth, e);
    case JINJA_MAPPING: return repr_mapping(k, v.mapping, depth, e);
    case JINJA_NAMESPACE:
        jinja_sink_plain(k, "<Namespace ");
        TRY(repr_mapping(k, v.mapping, depth, e));
        jinja_sink_plain(k, ">");
        break;
    case JINJA_CALLABLE: jinja_callable_print(k, v.callable); break;
    case JINJA_LOOP: jinja_sink_plain(k, "<LoopContext>"); break;
    }
    return k->failed;
}

enum status jinja_print_repr(struct jinja_sink *k, struct jinja_value v, struct err *e) { return repr(k, v, 0, e); }

enum status jinja_print(struct jinja_sink *k, struct jinja_value v, struct err *e) {
    if (v.type == JINJA_UNDEFINED || v.type == JINJA_ABSENT) return k->failed;
    if (v.type == JINJA_STRING) {
        jinja_sink_string(k, v.string);
        return k->failed;
    }
    return repr(k, v, 0, e);
}

enum status jinja_print_undefined(struct jinja_sink *k, const struct jinja_undefined *u, struct err *e) {
    if (u->hint) {
        jinja_sink_plain(k, u->hint);
        return k->failed;
    }
    if (!u->owner) {
        TRY(repr(k, u->key, 0, e));
        jinja_sink_plain(k, " is undefined");
        return k->failed;
    }
    if (u->unsafe) {
        jinja_sink_plain(k, "access to attribute ");
        TRY(repr(k, u->key, 0, e));
        jinja_sink_plain(k, " of '");
        jinja_sink_plain(k, u->owner);
        jinja_sink_plain(k, "' object is unsafe.");
        return k->failed;
    }
    bool attribute = u->key.type == JINJA_STRING, none = strcmp(u->owner, "NoneType") == 0;
    if (attribute) jinja_sink_plain(k, "'");
    jinja_sink_plain(k, none ? "None" : u->owner);
    if (!none) jinja_sink_plain(k, " object");
    jinja_sink_plain(k, attribute ? "' has no attribute " : " has no element ");
    return repr(k, u->key, 0, e);
}
