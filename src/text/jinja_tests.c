// Tests: what stands behind `is`.
#include "base/utf8.h"
#include "text/jinja_run.h"
#include "text/jinja_unicode.h"

static enum status answer(bool b, struct jinja_value *out) {
    *out = jinja_bool(b);
    return STATUS_OK;
}

#define TYPE_TEST(name, condition)                                                                 \
    static enum status name(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) { \
        struct jinja_value v = call->self;                                                         \
        (void)r;                                                                                   \
        return answer(condition, out);                                                             \
    }

TYPE_TEST(test_defined, v.type != JINJA_UNDEFINED)
TYPE_TEST(test_undefined, v.type == JINJA_UNDEFINED)
TYPE_TEST(test_none, v.type == JINJA_NONE)
TYPE_TEST(test_boolean, v.type == JINJA_BOOL)
TYPE_TEST(test_true, v.type == JINJA_BOOL && v.truth)
TYPE_TEST(test_false, v.type == JINJA_BOOL && !v.truth)
TYPE_TEST(test_integer, v.type == JINJA_INT)
TYPE_TEST(test_float, v.type == JINJA_FLOAT)
TYPE_TEST(test_number, jinja_is_number(v))
TYPE_TEST(test_string, v.type == JINJA_STRING)
TYPE_TEST(test_mapping, v.type == JINJA_MAPPING)
TYPE_TEST(test_callable, v.type == JINJA_CALLABLE || v.type == JINJA_LOOP || v.type == JINJA_UNDEFINED)
TYPE_TEST(test_escaped, v.type == JINJA_STRING && v.string->safe)
TYPE_TEST(test_iterable, v.type == JINJA_STRING || v.type == JINJA_LIST || v.type == JINJA_MAPPING ||
                             v.type == JINJA_UNDEFINED || v.type == JINJA_LOOP)
TYPE_TEST(test_sequence, v.type == JINJA_STRING || v.type == JINJA_MAPPING || v.type == JINJA_UNDEFINED ||
                             (v.type == JINJA_LIST && v.list->kind <= JINJA_SEQUENCE_RANGE &&
                              v.list->kind != JINJA_SEQUENCE_GENERATOR))
TYPE_TEST(test_filter, v.type == JINJA_STRING && jinja_filter_find(v.string->text, v.string->n))
TYPE_TEST(test_test, v.type == JINJA_STRING && jinja_test_find(v.string->text, v.string->n))

#define COMPARE_TEST(name, operator)                                                               \
    static enum status name(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) { \
        bool holds;                                                                                \
        TRY(jinja_compare(r, operator, call->self, call->arg[0], &holds));                         \
        return answer(holds, out);                                                                 \
    }

COMPARE_TEST(test_equal, JINJA_OPERATOR_EQUAL)
COMPARE_TEST(test_not_equal, JINJA_OPERATOR_NOT_EQUAL)
COMPARE_TEST(test_less, JINJA_OPERATOR_LESS)
COMPARE_TEST(test_less_equal, JINJA_OPERATOR_LESS_EQUAL)
COMPARE_TEST(test_greater, JINJA_OPERATOR_GREATER)
COMPARE_TEST(test_greater_equal, JINJA_OPERATOR_GREATER_EQUAL)
COMPARE_TEST(test_in, JINJA_OPERATOR_IN)

static enum status remainder_is(struct jinja_run *r, const struct jinja_call *call, struct jinja_value divisor,
                                int64_t rest, struct jinja_value *out) {
    struct jinja_value v;
    bool equal;
    TRY(jinja_arithmetic(r, JINJA_OPERATOR_MODULO, call->self, divisor, &v));
    TRY(jinja_equal(r, v, jinja_int(rest), &equal));
    return answer(equal, out);
}

static enum status test_odd(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return remainder_is(r, call, jinja_int(2), 1, out);
}

static enum status test_even(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return remainder_is(r, call, jinja_int(2), 0, out);
}

static enum status test_divisibleby(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return remainder_is(r, call, call->arg[0], 0, out);
}

// Python's `is`. Equal scalars of one type count as the same object, which Python does not promise.
static enum status test_sameas(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_value a = call->self, b = call->arg[0];
    bool same = false;
    if (a.type == JINJA_LIST && b.type == JINJA_LIST) same = a.list == b.list;
    else if (a.type == JINJA_MAPPING && b.type == JINJA_MAPPING) same = a.mapping == b.mapping;
    else if (a.type == JINJA_UNDEFINED && b.type == JINJA_UNDEFINED) same = a.undefined == b.undefined;
    else if (a.type == b.type) TRY(jinja_equal(r, a, b, &same));
    return answer(same, out);
}

// At least one cased letter, and all of them in the wanted case.
static enum status test_case(struct jinja_run *r, const struct jinja_call *call, bool upper, struct jinja_value *out) {
    const struct jinja_string *s;
    TRY(jinja_to_string(r, call->self, &s));
    TRY(jinja_steps(r, s->n / 16));
    return answer(jinja_text_is_case(s, upper), out);
}

static enum status test_lower(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return test_case(r, call, false, out);
}

static enum status test_upper(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return test_case(r, call, true, out);
}

static const struct jinja_builtin table[] = {
    {"defined", test_defined, "", 0},
    {"undefined", test_undefined, "", 0},
    {"none", test_none, "", 0},
    {"boolean", test_boolean, "", 0},
    {"true", test_true, "", 0},
    {"false", test_false, "", 0},
    {"integer", test_integer, "", 0},
    {"float", test_float, "", 0},
    {"number", test_number, "", 0},
    {"string", test_string, "", 0},
    {"mapping", test_mapping, "", 0},
    {"iterable", test_iterable, "", 0},
    {"sequence", test_sequence, "", 0},
    {"callable", test_callable, "", 0},
    {"escaped", test_escaped, "", 0},
    {"filter", test_filter, "", 0},
    {"test", test_test, "", 0},
    {"odd", test_odd, "", 0},
    {"even", test_even, "", 0},
    {"divisibleby", test_divisibleby, "num", 1},
    {"sameas", test_sameas, "other", 1},
    {"lower", test_lower, "", 0},
    {"upper", test_upper, "", 0},
    {"in", test_in, "seq", 1},
    {"eq", test_equal, "other", 1},
    {"equalto", test_equal, "other", 1},
    {"==", test_equal, "other", 1},
    {"ne", test_not_equal, "other", 1},
    {"!=", test_not_equal, "other", 1},
    {"lt", test_less, "other", 1},
    {"lessthan", test_less, "other", 1},
    {"<", test_less, "other", 1},
    {"le", test_less_equal, "other", 1},
    {"<=", test_less_equal, "other", 1},
    {"gt", test_greater, "other", 1},
    {"greaterthan", test_greater, "other", 1},
    {">", test_greater, "other", 1},
    {"ge", test_greater_equal, "other", 1},
    {">=", test_greater_equal, "other", 1},
};

const struct jinja_builtin *jinja_test_find(const char *name, size_t n) {
    return jinja_builtin_find(table, sizeof table / sizeof table[0], name, n);
}
