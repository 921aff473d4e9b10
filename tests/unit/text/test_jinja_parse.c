// The parser: precedence, what is refused and where, bounds of nesting.
#include "base/mem.h"
#include "tests/unit/text/jinja_rows.h"

static void binds_operators_as_jinja2_does(void) {
    CHECK_ROWS("{}", {"{{ 1 + 2 * 3 }}", "7"}, {"{{ 2 ** 3 ** 2 }}", "64"}, {"{{ -2 ** 2 }}", "4"},
               {"{{ 1 + 2 ~ 3 + 4 }}", "! line 1, column 6: unsupported operand type(s) for +: 'int' and 'str'"},
               {"{{ 'a' ~ 1 * 2 }}", "a2"},
               {"{{ -5|abs }}", "5"},
               {"{{ not 1 == 2 }}", "True"},
               {"{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }}", "True False"},
               {"{{ 1 if 0 else 2 if 0 else 3 }}", "3"},
               {"{{ 3 is odd and 4 is even }}", "True"},
               {"{{ 9 is divisibleby 3 }}", "True"},
               {"{{ 1, 2 }} {{ (1,) }} {{ () }}", "(1, 2) (1,) ()"},
               {"{{ 'ab' 'cd' | upper }}", "ABCD"});
}

static void names_line_and_column_of_a_fault(void) {
    CHECK_ROWS("{}", {"a\n  {{ 1 2 }}", "! line 2, column 8: expected '}}', got 'integer'"},
               {"{% if 1 %}\n{% endfor %}", "! line 2, column 4: Encountered unknown tag 'endfor'."},
               {"{% if 1 %}x",
                "! line 1, column 12: Unexpected end of template. Jinja was looking for the tag 'endif'"},
               {"{% foo %}", "! line 1, column 4: Encountered unknown tag 'foo'."},
               {"{{ x | }}", "! line 1, column 8: expected 'name', got '}}'"},
               {"{% set 'a' = 1 %}", "! line 1, column 8: can't assign to this expression"},
               {"{{ f(a=1, 2) }}", "! line 1, column 11: invalid syntax for function call expression"},
               {"{% break %}", "! line 1, column 4: 'break' outside loop"});
}

static void refuses_what_it_does_not_support_by_name(void) {
    CHECK_ROWS("{}", {"{% include 'x' %}", "! line 1, column 4: the tag 'include' is not supported"},
               {"{% block b %}{% endblock %}", "! line 1, column 4: the tag 'block' is not supported"},
               {"{{ x|urlize }}", "! line 1, column 6: the filter 'urlize' is not supported"},
               {"{{ lipsum() }}", "! line 1, column 4: lipsum() is not supported"},
               {"{{ x|nothing }}", "! line 1, column 6: No filter named 'nothing'."},
               {"{{ x is nothing }}", "! line 1, column 9: No test named 'nothing'."});
}

static void an_unknown_filter_inside_an_if_fails_only_when_reached(void) {
    CHECK_ROWS("{}", {"{% if 0 %}{{ 1|nothing }}{% endif %}ok", "ok"},
               {"{% if 1 %}{{ 1|nothing }}{% endif %}", "! line 1, column 16: No filter named 'nothing' found."});
}

// Nesting of any kind ends in a message, never on the C stack.
static void bounds_nesting(void) {
    static const char *const units[] = {"(", "[", "{1:", "-", "not ", "1+(", "a[", "f(", "x if y else ", "{% if 1 %}",
                                        "{% for i in a %}", "1|d(", "a is in ["};
    enum { TIMES = 100000 };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i]), prefix = units[i][0] == '{' && units[i][1] == '%' ? 0 : 2;
        char *text = mem_new(prefix + n * TIMES, 1);
        struct jinja *j = NULL;
        struct err e = {0};
        memcpy(text, "{{", prefix);
        for (size_t k = 0; k < TIMES; k++) memcpy(text + prefix + n * k, units[i], n);
        if (jinja_compile(text, prefix + n * TIMES, &j, &e) == STATUS_OK) test_fail(__FILE__, __LINE__, "%s", units[i]);
        mem_free(text);
    }
}

// Long chains nest to the left without parentheses; they compile, and evaluating them is bounded.
static void bounds_chains(void) {
    static const char *const units[] = {"+1", ".a", "[0]", "|string", " is defined", "~1", " or 0", "()", "**1"};
    enum { TIMES = 100000 };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i]);
        char *text = mem_new(3 + n * TIMES + 3, 1);
        struct jinja *j = NULL;
        struct jinja_output out;
        struct jinja_mapping none = {0};
        struct jinja_value root = jinja_of_mapping(&none);
        struct err e = {0};
        memcpy(text, "{{1", 3);
        for (size_t k = 0; k < TIMES; k++) memcpy(text + 3 + n * k, units[i], n);
        memcpy(text + 3 + n * TIMES, "}}", 2);
        if (jinja_compile(text, 5 + n * TIMES, &j, &e) == STATUS_OK) {
            bool chained = units[i][0] == '~';
            bool rendered = jinja_render(j, &root, NULL, &out, &e) == STATUS_OK;
            if (rendered != chained) test_fail(__FILE__, __LINE__, "%s", units[i]);
            if (rendered) jinja_output_fini(&out);
        }
        jinja_free(j);
        mem_free(text);
    }
}

static void survives_every_failed_allocation(void) {
    static const char text[] = "{% macro m(a, b=1) %}{{ a|upper }}{% endmacro %}{% for x in [1] %}{{ m(x) }}"
     "{% endfor %}";
    struct jinja *j = NULL;
    enum status status = STATUS_NO_MEMORY;
    for (uint64_t n = 1; status != STATUS_OK && n < 1000; n++) {
        struct err e = {0};
        mem_fail_after(n);
        status = jinja_compile(text, sizeof text - 1, &j, &e);
        mem_fail_after(0);
        if (status != STATUS_OK) CHECK(e.message[0] != '\0');
    }
    CHECK_INT(STATUS_OK, status);
    jinja_free(j);
}

static const struct test_case cases[] = {
    {"binds operators as jinja2 does", binds_operators_as_jinja2_does},
    {"names line and column of a fault", names_line_and_column_of_a_fault},
    {"refuses what it does not support by name", refuses_what_it_does_not_support_by_name},
    {"an unknown filter inside an if fails only when reached", an_unknown_filter_inside_an_if_fails_only_when_reached},
    {"bounds nesting", bounds_nesting},
    {"bounds chains", bounds_chains},
    {"survives every failed allocation", survives_every_failed_allocation},
};
TEST_MAIN("jinja_parse", cases)
