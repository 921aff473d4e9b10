// The evaluator: statements, scopes, macros, undefined values, the sandbox, marks, bounds.
#include "base/mem.h"
#include "tests/unit/text/jinja_rows.h"

#define CONTEXT                                                                                                        \
    "{\"a\":1,\"n\":null,\"l\":[1,2,3],\"d\":{\"x\":1,\"items\":5},\"s\":\"text\",\"pairs\":[[1,\"a\"],[2,\"b\"]]}"

static void runs_loops(void) {
    CHECK_ROWS(CONTEXT,
               {"{% for i in l %}{{ loop.index }}{{ loop.revindex0 }}{{ loop.last }} {% endfor %}",
                "12False 21False 30True "},
               {"{% for i in [] %}x{% else %}none{% endfor %}", "none"},
               {"{% for i in l if i > 1 %}{{ i }}/{{ loop.length }} {% endfor %}", "2/2 3/2 "},
               {"{% for k, v in pairs %}{{ v }}{{ k }}{% endfor %}", "a1b2"},
               {"{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}"
                "{% endif %}{{ i }}{% endfor %}", "02"},
               {"{% for i in l %}{{ loop.previtem }}-{{ loop.nextitem }};{% endfor %}", "-2;1-3;2-;"},
               {"{% for t in [[1,[2]]] recursive %}{{ t is iterable and loop(t) or t }}{% endfor %}", "12"},
               {"{% for k, v in l %}{% endfor %}", "! line 1, column 4: cannot unpack non-iterable int object"},
               {"{% for i in a %}{% endfor %}", "! line 1, column 4: 'int' object is not iterable"});
}

static void keeps_scopes_apart(void) {
    CHECK_ROWS(CONTEXT, {"{% set y = 0 %}{% for i in l %}{% set y = y + 1 %}{{ y }}{% endfor %}{{ y }}", "1110"},
               {"{% if a %}{% set q = 1 %}{% endif %}{{ q }}", "1"},
               {"{% set ns = namespace(v=0) %}{% for i in l %}{% set ns.v = ns.v + i %}{% endfor %}{{ ns.v }}", "6"},
               {"{% with a = 5, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}", "511"},
               {"{% generation %}{% set q = 1 %}{{ q }}{% endgeneration %}{{ q }}", "1"},
               {"{% set d.x = 1 %}", "! line 1, column 4: cannot assign attribute on non-namespace object"},
               {"{% set x %}a{{ a }}{% endset %}{{ x }}", "a1"},
               {"{% set x | upper %}a{% endset %}{{ x }}", "A"},
               {"{% filter upper %}a{{ s }}{% endfilter %}", "ATEXT"});
}

static void runs_macros(void) {
    CHECK_ROWS(CONTEXT,
               {"{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }} {{ m(b=5,a=4) }} {{ m() }}", "12 45 2"},
               {"{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1,x=3) }}", "(1,){'x': 3}"},
               {"{% macro m() %}<{{ caller(7) }}>{% endmacro %}{% call(v) m() %}{{ v }}{% endcall %}", "<7>"},
               {"{% macro m(n) %}{{ n }}{% if n %}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(3) }}", "3210"},
               {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1,2) }}",
                "! line 1, column 42: macro 'm' takes not more than 1 argument(s)"},
               {"{% macro m(a) %}{{ a.x }}{% endmacro %}{{ m() }}",
                "! line 1, column 21: parameter 'a' was not provided"},
               {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                "! line 1, column 19: the template is nested too deeply"});
}

static void words_undefined_values_as_jinja2_does(void) {
    CHECK_ROWS(CONTEXT,
               {"[{{ zz }}{{ d.zz }}{{ l[9] }}]", "[]"},
               {"{{ zz.x }}", "! line 1, column 6: 'zz' is undefined"},
               {"{{ d.zz.x }}", "! line 1, column 8: 'dict object' has no attribute 'zz'"},
               {"{{ l[9].x }}", "! line 1, column 8: list object has no element 9"},
               {"{{ n.x.y }}", "! line 1, column 7: 'None' has no attribute 'x'"},
               {"{{ zz + 1 }}", "! line 1, column 7: 'zz' is undefined"},
               {"{{ zz is defined }}{{ zz == zy }}{{ not zz }}", "FalseTrueTrue"});
}

static void looks_up_methods_before_keys_with_a_dot(void) {
    CHECK_ROWS(CONTEXT, {"{{ d.items is callable }}{{ d['items'] }}", "True5"}, {"{{ d.get('q', 7) }}", "7"},
               {"{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}", "x1items5"});
}

static void forbids_what_changes_values(void) {
    CHECK_ROWS(CONTEXT,
               {"{{ l.append(4) }}", "! line 1, column 12: access to attribute 'append' of 'list' object is unsafe."},
               {"{{ d.pop('x') }}", "! line 1, column 9: access to attribute 'pop' of 'dict' object is unsafe."},
               {"{{ s.__class__.x }}",
                "! line 1, column 15: access to attribute '__class__' of 'str' object is unsafe."},
               {"{{ range(200000) }}",
                "! line 1, column 9: Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)."});
}

static void raises_the_message_alone(void) {
    CHECK_ROWS(CONTEXT, {"\n{{ raise_exception('No ' ~ s) }}", "! No text"});
}

static void keeps_marks_byte_by_byte(void) {
    CHECK_MARKED_ROWS("{\"s\":\" <b> \",\"l\":[\"x\",\"y\"]}",
                      {"<{{ s }}>", "<[ <b> ]>"},
                      {"{{ '<' + s.strip() + '>' }}", "<[<b>]>"},
                      {"{{ ('a' ~ s ~ 'c')[1:4] }}", "[ <b]"},
                      {"{{ ('ab' + s)|replace('b', '-') }}", "a-[ <]-[> ]"},
                      {"{{ l|join(', ') }}", "[x], [y]"},
                      {"{% set t %}<{{ s }}>{% endset %}{{ t|trim }}", "<[ <b> ]>"},
                      {"{% macro m(v) %}<{{ v }}>{% endmacro %}{{ m(s)[1:] }}", "[ <b> ]>"},
                      {"{{ s.split('b')[0] }}|", "[ <]|"},
                      {"{{ 'a{}c'.format(l[0]) }}", "a[x]c"},
                      {"{{ '%s-' % l[0] }}", "[x]-"});
}

static void marks_transformed_data_as_a_whole(void) {
    CHECK_MARKED_ROWS("{\"s\":\"a\",\"d\":{\"k\":\"<|x|>\"}}",
                      {"<{{ s|upper }}>", "<[A]>"},
                      {"{{ ('x' + s)|upper }}", "[XA]"},
                      {"{{ d|tojson }}", "{\"[k]\": \"[<|x|>]\"}"},
                      {"{{ s|e }}-", "[a]-"},
                      {"{{ ['q', s] }}", "['q', ['a']]"},
                      {"{{ s * 3 }}.", "[aaa]."});
}

static void stops_at_its_bounds(void) {
    static const struct {
        const char *template;
        struct jinja_options options;
        const char *message;
    } rows[] = {
        {"{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}", {.steps = 10000},
         "too many steps"},
        {"{% for i in range(1000) %}0123456789{% endfor %}", {.output_bytes = 999}, "too large"},
        {"{% set n = namespace(s='0123456789') %}{% for i in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
         {.memory_bytes = 1 << 20}, "too large"},
        {"{% set n = namespace(l=[1]) %}{% for i in range(40) %}{% set n.l = n.l + n.l %}{% endfor %}",
         {.memory_bytes = 1 << 20}, "too"},
        {"{{ 'ab' * 100000000000 }}", {.steps = 1000}, "too many steps"},
        {"{% set n = namespace(l=1) %}{% for i in range(9999) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}", {0},
         "nested too deeply"},
        {"{% set n = namespace(l=1,m=1) %}{% for i in range(9999) %}{% set n.l = [n.l] %}{% set n.m = [n.m] %}"
         "{% endfor %}{{ n.l == n.m }}", {0}, "nested too deeply"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char got[ROW_TEXT];
        struct err e = {0};
        CHECK(rows_render(rows[i].template, "{}", false, &rows[i].options, got, &e) != STATUS_OK);
        if (!strstr(e.message, rows[i].message)) test_fail(__FILE__, __LINE__, "%s: %s", rows[i].template, e.message);
    }
}

static int64_t a_day_in_march(void *context) { return *(int64_t *)context; }

static void knows_the_date_only_with_a_clock(void) {
    int64_t seconds = 1772874302;
    struct jinja_clock clock = {a_day_in_march, &seconds};
    struct jinja_options options = {.clock = &clock};
    char got[ROW_TEXT];
    struct err e = {0};
    CHECK_INT(STATUS_OK, rows_render("{{ strftime_now('%d %b %Y %H:%M') }}", "{}", false, &options, got, &e));
    CHECK_TEXT("07 Mar 2026 09:05", got);
    CHECK_ROWS("{}", {"{{ strftime_now is defined }}", "False"});
}

static void survives_every_failed_allocation(void) {
    char got[ROW_TEXT];
    enum status status = STATUS_NO_MEMORY;
    for (uint64_t n = 1; status != STATUS_OK && n < 1000; n++) {
        struct err e = {0};
        yyjson_doc *doc;
        if (json_parse("warm-up", "1", 1, &doc, &e) == STATUS_OK) yyjson_doc_free(doc);
        mem_fail_after(n);
        status = rows_render("{% for i in l %}{{ i ~ 'x' * 2000 }}{% endfor %}", CONTEXT, true, NULL, got, &e);
        mem_fail_after(0);
    }
    CHECK_INT(STATUS_OK, status);
}

static const struct test_case cases[] = {
    {"runs loops", runs_loops},
    {"keeps scopes apart", keeps_scopes_apart},
    {"runs macros", runs_macros},
    {"words undefined values as jinja2 does", words_undefined_values_as_jinja2_does},
    {"looks up methods before keys with a dot", looks_up_methods_before_keys_with_a_dot},
    {"forbids what changes values", forbids_what_changes_values},
    {"raises the message alone", raises_the_message_alone},
    {"keeps marks byte by byte", keeps_marks_byte_by_byte},
    {"marks transformed data as a whole", marks_transformed_data_as_a_whole},
    {"stops at its bounds", stops_at_its_bounds},
    {"knows the date only with a clock", knows_the_date_only_with_a_clock},
    {"survives every failed allocation", survives_every_failed_allocation},
};
TEST_MAIN("jinja_eval", cases)
