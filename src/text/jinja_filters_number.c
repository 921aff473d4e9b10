// Filters that make numbers.
#include "text/jinja_numbers.h"
#include "text/jinja_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

// Skips white space and a sign, and finds where the text ends.
static const char *read_sign(const struct jinja_string *s, const char **end, bool *negative) {
    const char *p = s->text + jinja_skip_space(s->text, s->n);
    *end = s->text + jinja_trim_space(s->text, s->n);
    *negative = p < *end && *p == '-';
    return p + (p < *end && (*p == '-' || *p == '+'));
}

bool jinja_read_integer(const struct jinja_string *s, int base, int64_t *out, bool *fits) {
    const char *end;
    bool negative;
    const char *p = read_sign(s, &end, &negative);
    if (end - p > 2 && *p == '0') {
        char form = (char)(p[1] | 0x20);
        int named = form == 'x' ? 16 : form == 'o' ? 8 : form == 'b' ? 2 : 0;
        if (named && (base == 0 || base == named)) {
            base = named;
            p += 2 + (p[2] == '_');
        }
    }
    if (base == 0) base = 10;
    if (p >= end) return false;
    *fits = true;
    *out = 0;
    for (bool digit = false; p < end; p++) {
        if (*p == '_' && digit) {
            digit = false;
            if (p + 1 == end) return false;
            continue;
        }
        int d = digit_of(*p);
        if (d >= base) return false;
        digit = true;
        if (*fits) *fits = !__builtin_mul_overflow(*out, base, out) && !__builtin_sub_overflow(*out, d, out);
    }
    if (!negative && *fits) *fits = !__builtin_sub_overflow((int64_t)0, *out, out); // summed up below zero
    return true;
}

static bool is_word(const char *p, size_t n, const char *word) {
    if (strlen(word) != n) return false;
    for (size_t i = 0; i < n; i++) {
        if ((p[i] | 0x20) != word[i]) return false;
    }
    return true;
}

bool jinja_read_float(const struct jinja_string *s, double *out) {
    char text[400];
    size_t n = 0;
    const char *end;
    bool negative;
    const char *p = read_sign(s, &end, &negative), *begin = p;
    size_t length = p < end ? (size_t)(end - p) : 0;
    if (!length || length >= sizeof text) return false;
    if (is_word(p, length, "inf") || is_word(p, length, "infinity") || is_word(p, length, "nan")) {
        *out = (p[0] | 0x20) == 'n' ? (double)NAN : negative ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    for (; p < end; p++) {
        bool between = p > begin && p + 1 < end && digit_of(p[-1]) < 10 && digit_of(p[1]) < 10;
        if (*p == '_' && between) continue;
        bool allowed = digit_of(*p) < 10 || *p == '.' || *p == 'e' || *p == 'E' || *p == '+' || *p == '-';
        if (!allowed) return false;
        text[n++] = *p;
    }
    text[n] = '\0';
    if (digit_of(text[0]) > 9 && text[0] != '.') return false;
    char *stop;
    *out = strtod(text, &stop);
    if (negative) *out = -*out;
    return *stop == '\0' && stop != text;
}

static bool float_to_integer(double d, int64_t *out) {
    if (!(d >= -0x1p63 && d < 0x1p63)) return false;
    *out = (int64_t)d;
    return true;
}

static enum status filter_int(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_value v = call->self, fallback = call->arg[0].type == JINJA_ABSENT ? jinja_int(0) : call->arg[0];
    int64_t i = 0, base;
    double d = 0;
    bool fits = true, read = true;
    TRY(jinja_argument_int(r, call->arg[1], 10, &base));
    if (base < 0 || base == 1 || base > 36) return jinja_fail(r, "int() base must be >= 2 and <= 36, or 0");
    if (v.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, v);
    if (v.type == JINJA_BOOL || v.type == JINJA_INT) i = v.type == JINJA_INT ? v.integer : v.truth;
    else if (v.type == JINJA_FLOAT && isfinite(v.real)) fits = float_to_integer(v.real, &i);
    else if (v.type == JINJA_STRING && jinja_read_integer(v.string, (int)base, &i, &fits)) read = true;
    else if (v.type == JINJA_STRING && jinja_read_float(v.string, &d) && isfinite(d)) fits = float_to_integer(d, &i);
    else read = false;
    if (read && !fits) return jinja_fail(r, "the integer does not fit in 64 bits");
    *out = read ? jinja_int(i) : fallback;
    return STATUS_OK;
}

static enum status filter_float(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    double d;
    if (call->self.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, call->self);
    if (jinja_is_number(call->self)) *out = jinja_float(jinja_to_double(call->self));
    else if (call->self.type == JINJA_STRING && jinja_read_float(call->self.string, &d)) *out = jinja_float(d);
    else *out = call->arg[0].type == JINJA_ABSENT ? jinja_float(0.0) : call->arg[0];
    return STATUS_OK;
}

static enum status filter_abs(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_value v = call->self;
    if (v.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, v);
    if (!jinja_is_number(v)) return jinja_fail(r, "bad operand type for abs(): '%s'", jinja_type_name(v));
    bool negative = v.type == JINJA_FLOAT ? signbit(v.real) != 0 : v.type == JINJA_INT && v.integer < 0;
    return jinja_negate(r, v, !negative, out);
}

// Python's round(): half to even on the exact binary value, through correctly rounded decimal text.
static double round_float(double d, int64_t precision) {
    char text[800];
    if (!isfinite(d) || precision > 330) return d;
    if (precision >= 0) {
        snprintf(text, sizeof text, "%.*f", (int)precision, d);
        return strtod(text, NULL);
    }
    if (precision < -308) return copysign(0.0, d);
    double step = pow(10.0, (double)-precision);
    return nearbyint(d / step) * step;
}

static enum status round_integer(struct jinja_run *r, int64_t i, int64_t precision, int64_t *out) {
    int64_t step = 1;
    *out = i;
    for (int64_t k = precision; k < 0; k++) {
        if (__builtin_mul_overflow(step, 10, &step)) {
            *out = 0;
            return STATUS_OK;
        }
    }
    int64_t rest = i % step, down = i - rest;
    if (rest < 0) {
        rest += step;
        if (__builtin_sub_overflow(down, step, &down)) return jinja_fail(r, "the integer does not fit in 64 bits");
    }
    bool up = rest > step - rest || (rest == step - rest && (down / step) % 2 != 0);
    if (__builtin_add_overflow(down, up ? step : 0, out)) return jinja_fail(r, "the integer does not fit in 64 bits");
    return STATUS_OK;
}

static enum status filter_round(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_value v = call->self, method = call->arg[1];
    int64_t precision, i;
    TRY(jinja_argument_int(r, call->arg[0], 0, &precision));
    bool ceiling = jinja_is_text(method, "ceil", 4), floored = jinja_is_text(method, "floor", 5);
    if (method.type != JINJA_ABSENT && !ceiling && !floored && !jinja_is_text(method, "common", 6)) {
        return jinja_fail(r, "method must be common, ceil or floor");
    }
    if (v.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, v);
    if (!jinja_is_number(v)) return jinja_fail(r, "type %s doesn't define __round__ method", jinja_type_name(v));
    if (ceiling || floored) {
        double scale = pow(10.0, (double)precision), scaled = jinja_to_double(v) * scale;
        *out = jinja_float((ceiling ? ceil(scaled) : floor(scaled)) / scale);
    } else if (v.type == JINJA_FLOAT) {
        *out = jinja_float(round_float(v.real, precision));
    } else {
        TRY(round_integer(r, v.type == JINJA_INT ? v.integer : v.truth, precision, &i));
        *out = jinja_int(i);
    }
    return STATUS_OK;
}

static enum status filter_filesizeformat(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    bool binary = jinja_argument_flag(call->arg[0], false);
    double base = binary ? 1024 : 1000, bytes = 0;
    char text[64];
    bool number = call->self.type == JINJA_STRING ? jinja_read_float(call->self.string, &bytes)
                                                  : jinja_is_number(call->self);
    if (call->self.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, call->self);
    if (!number) return jinja_fail(r, "a size must be a number");
    if (call->self.type != JINJA_STRING) bytes = jinja_to_double(call->self);
    if (bytes == 1) {
        snprintf(text, sizeof text, "1 Byte");
    } else if (bytes < base && isfinite(bytes)) {
        snprintf(text, sizeof text, "%.0f Bytes", trunc(bytes) + 0.0); // no -0
    } else {
        int prefix = 0;
        double unit = base * base;
        for (; prefix < 7 && !(bytes < unit); prefix++) unit *= base;
        snprintf(text, sizeof text, "%.1f %c%s", base * bytes / unit, (binary ? "KMGTPEZY" : "kMGTPEZY")[prefix],
                 binary ? "iB" : "B");
    }
    return jinja_string_copy(r->arena, text, strlen(text), false, out);
}

static const struct jinja_builtin table[] = {
    {"int", filter_int, "default base", 0},
    {"float", filter_float, "default", 0},
    {"abs", filter_abs, "", 0},
    {"filesizeformat", filter_filesizeformat, "binary", 0},
    {"round", filter_round, "precision method", 0},
};
const struct jinja_builtin_table jinja_number_filters = {table, sizeof table / sizeof table[0]};
