// + - * / // % ** as Python computes them, on 64-bit integers, floats, strings and lists.
#include "text/jinja_run.h"

#include <math.h>
#include <string.h>

static bool is_integer(struct jinja_value v) { return v.type == JINJA_INT || v.type == JINJA_BOOL; }
static int64_t to_integer(struct jinja_value v) { return v.type == JINJA_BOOL ? v.truth : v.integer; }

static enum status overflow(struct jinja_run *r) { return jinja_fail(r, "the integer result does not fit in 64 bits"); }

static enum status floor_divide(struct jinja_run *r, int64_t a, int64_t b, bool rest, int64_t *out) {
    if (b == 0) return jinja_fail(r, rest ? "integer modulo by zero" : "integer division or modulo by zero");
    if (b == -1) { // the one quotient that can overflow
        *out = 0;
        return !rest && __builtin_sub_overflow((int64_t)0, a, out) ? overflow(r) : STATUS_OK;
    }
    int64_t quotient = a / b, remainder = a % b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) {
        quotient--;
        remainder += b;
    }
    *out = rest ? remainder : quotient;
    return STATUS_OK;
}

static enum status integer_power(struct jinja_run *r, int64_t base, int64_t exponent, int64_t *out) {
    int64_t result = 1;
    while (exponent > 0) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) return overflow(r);
        exponent >>= 1;
        if (exponent && __builtin_mul_overflow(base, base, &base)) return overflow(r);
    }
    *out = result;
    return STATUS_OK;
}

static enum status integer_arithmetic(struct jinja_run *r, enum jinja_operator op, int64_t a, int64_t b,
                                      struct jinja_value *out) {
    int64_t i = 0;
    bool over = false;
    switch (op) {
    case JINJA_OPERATOR_ADD: over = __builtin_add_overflow(a, b, &i); break;
    case JINJA_OPERATOR_SUBTRACT: over = __builtin_sub_overflow(a, b, &i); break;
    case JINJA_OPERATOR_MULTIPLY: over = __builtin_mul_overflow(a, b, &i); break;
    case JINJA_OPERATOR_FLOOR_DIVIDE: TRY(floor_divide(r, a, b, false, &i)); break;
    case JINJA_OPERATOR_MODULO: TRY(floor_divide(r, a, b, true, &i)); break;
    default: TRY(integer_power(r, a, b, &i)); break;
    }
    *out = jinja_int(i);
    return over ? overflow(r) : STATUS_OK;
}

// Python's float floor division and remainder: the remainder has the sign of the divisor.
static double float_floor_divide(double a, double b, double *remainder) {
    double rest = fmod(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) {
        rest += b;
        quotient -= 1.0;
    } else if (rest == 0) {
        rest = copysign(0.0, b);
    }
    *remainder = rest;
    if (quotient == 0) return copysign(0.0, a / b);
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

static enum status float_power(struct jinja_run *r, double a, double b, struct jinja_value *out) {
    if (a == 0 && b < 0) return jinja_fail(r, "0.0 cannot be raised to a negative power");
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b)) return jinja_fail(r, "complex numbers are not supported");
    double result = pow(a, b);
    if (isinf(result) && isfinite(a) && isfinite(b)) return jinja_fail(r, "(34, 'Numerical result out of range')");
    *out = jinja_float(result);
    return STATUS_OK;
}

static enum status float_arithmetic(struct jinja_run *r, enum jinja_operator op, double a, double b,
                                    bool integers, struct jinja_value *out) {
    double rest;
    if (b == 0 && op == JINJA_OPERATOR_DIVIDE) return jinja_fail(r, "%sdivision by zero", integers ? "" : "float ");
    if (b == 0 && op == JINJA_OPERATOR_FLOOR_DIVIDE) return jinja_fail(r, "float floor division by zero");
    if (b == 0 && op == JINJA_OPERATOR_MODULO) return jinja_fail(r, "float modulo");
    switch (op) {
    case JINJA_OPERATOR_ADD: *out = jinja_float(a + b); break;
    case JINJA_OPERATOR_SUBTRACT: *out = jinja_float(a - b); break;
    case JINJA_OPERATOR_MULTIPLY: *out = jinja_float(a * b); break;
    case JINJA_OPERATOR_DIVIDE: *out = jinja_float(a / b); break;
    case JINJA_OPERATOR_FLOOR_DIVIDE: *out = jinja_float(float_floor_divide(a, b, &rest)); break;
    case JINJA_OPERATOR_MODULO:
        float_floor_divide(a, b, &rest);
        *out = jinja_float(rest);
        break;
    default: return float_power(r, a, b, out);
    }
    return STATUS_OK;
}

static enum status number_arithmetic(struct jinja_run *r, enum jinja_operator op, struct jinja_value a,
                                     struct jinja_value b, struct jinja_value *out) {
    bool integers = is_integer(a) && is_integer(b);
    bool whole = integers && op != JINJA_OPERATOR_DIVIDE && !(op == JINJA_OPERATOR_POWER && to_integer(b) < 0);
    if (whole) return integer_arithmetic(r, op, to_integer(a), to_integer(b), out);
    return float_arithmetic(r, op, jinja_to_double(a), jinja_to_double(b), integers, out);
}

static enum status repeat(struct jinja_run *r, struct jinja_value v, int64_t times, struct jinja_value *out) {
    if (times < 0) times = 0;
    if (v.type == JINJA_STRING) {
        struct jinja_sink k;
        jinja_sink_init(&k, r->arena, r->output_limit);
        TRY(jinja_steps(r, v.string->n ? (size_t)times : 0));
        for (int64_t i = 0; v.string->n && i < times && k.failed == STATUS_OK; i++) jinja_sink_string(&k, v.string);
        return jinja_sink_end(&k, out);
    }
    struct jinja_list *l;
    TRY(jinja_list_new(r->arena, 0, v.list->kind, &l));
    for (int64_t i = 0; v.list->n && i < times; i++) {
        TRY(jinja_steps(r, v.list->n));
        for (size_t k = 0; k < v.list->n; k++) TRY(jinja_list_push(r->arena, l, v.list->at[k]));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status join_lists(struct jinja_run *r, const struct jinja_list *a, const struct jinja_list *b,
                              struct jinja_value *out) {
    struct jinja_list *l;
    TRY(jinja_steps(r, (a->n + b->n) / 8));
    TRY(jinja_list_new(r->arena, a->n + b->n, a->kind, &l));
    if (a->n) memcpy(l->at, a->at, a->n * sizeof *l->at);
    if (b->n) memcpy(l->at + a->n, b->at, b->n * sizeof *l->at);
    l->n = a->n + b->n;
    *out = jinja_of_list(l);
    return STATUS_OK;
}

// Where one side is safe, the other is escaped first.
static enum status join_strings(struct jinja_run *r, const struct jinja_string *a, const struct jinja_string *b,
                                struct jinja_value *out) {
    bool safe = a->safe || b->safe;
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    if (safe && !a->safe) jinja_text_escape(&k, a);
    else jinja_sink_string(&k, a);
    if (safe && !b->safe) {
        struct jinja_sink escaped;
        struct jinja_value text;
        jinja_sink_init(&escaped, r->arena, r->output_limit);
        jinja_text_escape(&escaped, b);
        TRY(jinja_sink_end(&escaped, &text));
        b = text.string;
    }
    jinja_sink_string(&k, b);
    TRY(jinja_sink_end(&k, out));
    return safe ? jinja_make_safe(r, out) : STATUS_OK;
}

static bool is_sequence(struct jinja_value v) {
    return v.type == JINJA_LIST && v.list->kind <= JINJA_SEQUENCE_TUPLE;
}

static enum status unsupported(struct jinja_run *r, enum jinja_operator op, struct jinja_value a,
                               struct jinja_value b) {
    static const char *const signs[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};
    const char *left = jinja_type_name(a), *right = jinja_type_name(b);
    bool a_sequence = a.type == JINJA_STRING || is_sequence(a), b_sequence = b.type == JINJA_STRING || is_sequence(b);
    if (op == JINJA_OPERATOR_ADD && a_sequence) {
        return jinja_fail(r, "can only concatenate %s (not \"%s\") to %s", left, right, left);
    }
    if (op == JINJA_OPERATOR_MULTIPLY && (a_sequence || b_sequence)) {
        return jinja_fail(r, "can't multiply sequence by non-int of type '%s'", a_sequence ? right : left);
    }
    return jinja_fail(r, "unsupported operand type(s) for %s: '%s' and '%s'", signs[op], left, right);
}

enum status jinja_arithmetic(struct jinja_run *r, enum jinja_operator op, struct jinja_value a, struct jinja_value b,
                             struct jinja_value *out) {
    if (jinja_is_number(a) && jinja_is_number(b)) return number_arithmetic(r, op, a, b, out);
    if (op == JINJA_OPERATOR_MODULO && a.type == JINJA_STRING) return jinja_format_percent(r, a.string, b, out);
    if (a.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, a);
    if (b.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, b);
    bool a_sequence = a.type == JINJA_STRING || is_sequence(a), b_sequence = b.type == JINJA_STRING || is_sequence(b);
    if (op == JINJA_OPERATOR_MULTIPLY && a_sequence && is_integer(b)) return repeat(r, a, to_integer(b), out);
    if (op == JINJA_OPERATOR_MULTIPLY && b_sequence && is_integer(a)) return repeat(r, b, to_integer(a), out);
    if (op != JINJA_OPERATOR_ADD) return unsupported(r, op, a, b);
    if (a.type == JINJA_STRING && b.type == JINJA_STRING) return join_strings(r, a.string, b.string, out);
    if (is_sequence(a) && is_sequence(b) && a.list->kind == b.list->kind) return join_lists(r, a.list, b.list, out);
    return unsupported(r, op, a, b);
}

enum status jinja_negate(struct jinja_run *r, struct jinja_value v, bool plus, struct jinja_value *out) {
    if (v.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, v);
    if (v.type == JINJA_FLOAT) {
        *out = jinja_float(plus ? v.real : -v.real);
        return STATUS_OK;
    }
    if (!is_integer(v)) {
        return jinja_fail(r, "bad operand type for unary %c: '%s'", plus ? '+' : '-', jinja_type_name(v));
    }
    int64_t i = to_integer(v), negative = 0;
    if (!plus && __builtin_sub_overflow((int64_t)0, i, &negative)) return overflow(r);
    *out = jinja_int(plus ? i : negative);
    return STATUS_OK;
}
