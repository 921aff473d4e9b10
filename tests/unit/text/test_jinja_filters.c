// Filters, tests, methods, operators and formatting against what jinja2 and Python answer.
#include "tests/unit/text/jinja_rows.h"

#define CONTEXT                                                                                                        \
    "{\"s\":\"Hello World\",\"u\":\"Gr\u00fc\u00dfe \u00f1\",\"l\":[3,1,2],\"d\":{\"b\":1,\"A\":[2]},"                 \
    "\"o\":[{\"n\":\"a\",\"v\":3},{\"n\":\"B\",\"v\":1},{\"n\":\"c\",\"v\":2,\"w\":null}]}"

static void filters_text(void) {
    CHECK_ROWS(CONTEXT, {"{{ u|upper }} {{ u|length }} {{ u|title }}", "GR\u00dcSSE \u00d1 7 Gr\u00fc\u00dfe \u00d1"},
               {"{{ 'foo-bar (baz)'|title }} {{ 'fOO'|capitalize }}", "Foo-Bar (Baz) Foo"},
               {"{{ ' x '|trim }}|{{ 'xxaxx'|trim('x') }}", "x|a"},
               {"{{ s|replace('l', 'L', 1) }} {{ 'ab'|replace('', '-') }}", "HeLlo World -a-b-"},
               {"{{ 'a\\nb\\n\\nc'|indent(2, true) }}", "  a\n  b\n\n  c"},
               {"{{ 'a\\n\\nb'|indent('> ', blank=true) }}", "a\n> \n> b"},
               {"{{ 'foo bar baz'|truncate(9, false, '..', 0) }}", "foo.."},
               {"{{ 'x'|center(4) }}|", " x  |"},
               {"{{ '<a>'|e }} {{ ('<a>'|safe) + '<b>' }}", "&lt;a&gt; <a>&lt;b&gt;"},
               {"{{ 'a b/\u00e9?'|urlencode }}", "a%20b/%C3%A9%3F"},
               {"{{ 'a b_c'|wordcount }} {{ s|first }}{{ s|last }}{{ s|reverse }}", "2 HddlroW olleH"},
               {"{{ s|upper(1) }}", "! line 1, column 6: upper() takes at most 0 argument(s), got 1"},
               {"{{ s|indent(x=1) }}", "! line 1, column 6: indent() got an unexpected keyword argument 'x'"});
}

static void filters_sequences(void) {
    CHECK_ROWS(CONTEXT, {"{{ l|sort }}{{ l|sort(reverse=true) }}{{ ['b','A']|sort }}", "[1, 2, 3][3, 2, 1]['A', 'b']"},
               {"{{ o|sort(attribute='v')|map(attribute='n')|join }}", "Bca"},
               {"{{ o|map(attribute='w', default='-')|list }}", "['-', '-', None]"},
               {"{{ o|selectattr('v', 'gt', 1)|map(attribute='n')|list }}", "['a', 'c']"},
               {"{{ o|rejectattr('w', 'defined')|list|length }}", "2"},
               {"{{ l|select('odd')|list }}{{ l|reject('odd')|list }}", "[3, 1][2]"},
               {"{{ [1,1,'a','A']|unique|list }}", "[1, 'a']"},
               {"{{ l|min }}{{ l|max }}{{ l|sum }}{{ o|sum('v', 10) }}", "13616"},
               {"{{ l|batch(2, 'x')|list }}", "[[3, 1], [2, 'x']]"},
               {"{{ l|slice(2)|list }}", "[[3, 1], [2]]"},
               {"{{ d|dictsort }}", "[('A', [2]), ('b', 1)]"},
               {"{{ d|items|list }}", "[('b', 1), ('A', [2])]"},
               {"{{ o|join(', ', attribute='n') }}", "a, B, c"},
               {"{{ [[1,2],[3]]|map('first')|list }}", "[1, 3]"},
               {"{{ none|selectattr('x')|list }}", "[]"},
               {"{{ [1,'a']|sort }}", "! line 1, column 12: '<' not supported between instances of 'str' and 'int'"});
}

static void filters_numbers(void) {
    CHECK_ROWS(CONTEXT,
               {"{{ '42'|int }} {{ 'x'|int(7) }} {{ 'ff'|int(base=16) }} {{ '3.7'|int }} {{ -3.9|int }}",
                "42 7 255 3 -3"},
               {"{{ '3.5'|float }} {{ 'x'|float }} {{ 'inf'|float }}", "3.5 0.0 inf"},
               {"{{ 2.5|round }} {{ 2.675|round(2) }} {{ 55|round(-1) }}", "2.0 2.67 60"},
               {"{{ 42.55|round(1, 'ceil') }} {{ -5|abs }}", "42.6 5"},
               {"{{ zz|default('d') }}{{ ''|d('e', true) }}", "de"});
}

static void tests_values(void) {
    CHECK_ROWS(CONTEXT,
               {"{{ s is string }}{{ d is mapping }}{{ l is sequence }}{{ 5 is iterable }}", "TrueTrueTrueFalse"},
               {"{{ true is number }}{{ true is integer }}{{ 5.0 is float }}{{ none is none }}", "TrueFalseTrueTrue"},
               {"{{ 'abc' is lower }}{{ 'ABC' is upper }}{{ '1' is lower }}", "TrueTrueFalse"},
               {"{{ 3 is in [1,3] }}{{ 3 is not in [1,3] }}", "TrueFalse"},
               {"{{ 5 is ge(5) }}{{ 3 is ne 4 }}{{ 'upper' is filter }}{{ 'q' is test }}", "TrueTrueTrueFalse"});
}

static void calls_string_methods(void) {
    CHECK_ROWS(CONTEXT,
               {"{{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a b c'.rsplit(' ', 1) }}",
                "['a', 'b', '', 'c'] ['a', 'b'] ['a b', 'c']"},
               {"{{ ' a  b c '.split(none, 1) }} {{ ' a  b c '.rsplit(none, 1) }}", "['a', 'b c '] [' a  b', 'c']"},
               {"{{ 'a\\nb\\r\\nc'.splitlines() }}", "['a', 'b', 'c']"},
               {"{{ 'abcba'.lstrip('ab') }} {{ 'abcba'.rstrip('ab') }}", "cba abc"},
               {"{{ s.startswith(('x', 'He')) }}{{ s.endswith('ld') }}{{ s.startswith('World', 6) }}", "TrueTrueTrue"},
               {"{{ s.find('o') }} {{ s.rfind('o') }} {{ s.find('z') }} {{ s.count('l') }} {{ u.find('\u00f1') }}",
                "4 7 -1 3 6"},
               {"{{ s.partition(' ') }} {{ 'x'.rjust(3, '.') }} {{ ', '.join('ab') }}",
                "('Hello', ' ', 'World') ..x a, b"},
               {"{{ '12'.isdigit() }}{{ 'a1'.isalnum() }}{{ '\u00b2'.isdecimal() }}", "TrueTrueFalse"},
               {"{{ s.split('') }}", "! line 1, column 11: empty separator"});
}

static void cuts_and_counts_by_code_points(void) {
    CHECK_ROWS(CONTEXT,
               {"{{ u[2] }}{{ u[-1] }} {{ u[2:4] }} {{ u[::-1] }} {{ u[::3] }}",
                "\u00fc\u00f1 \u00fc\u00df \u00f1 e\u00df\u00fcrG G\u00df\u00f1"},
               {"{{ l[::-1] }}{{ l[1:] }}{{ l[-2:] }}{{ l[5:] }}", "[2, 1, 3][1, 2][1, 2][]"},
               {"{{ l[::0] }}", "! line 1, column 5: slice step cannot be zero"});
}

static void computes_as_python_does(void) {
    CHECK_ROWS(CONTEXT,
               {"{{ 7 // -2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ -7.5 % 2 }} {{ 7 / 2 }} {{ 2 ** -1 }}",
                "-4 2 -2 0.5 3.5 0.5"},
               {"{{ 'ab' * 2 }}{{ [1] * 2 }}{{ (1,) + (2,) }}", "abab[1, 1](1, 2)"},
               {"{{ 1 == 1.0 }}{{ 9007199254740993 == 9007199254740992.0 }}", "TrueFalse"},
               {"{{ [1, 2] < [1, 3] }}{{ 'a' < 'b' < 'c' }}", "TrueTrue"},
               {"{{ 1 // 0 }}", "! line 1, column 6: integer division or modulo by zero"},
               {"{{ 9223372036854775807 + 1 }}", "! line 1, column 24: the integer result does not fit in 64 bits"},
               {"{{ 'a' + 1 }}", "! line 1, column 8: can only concatenate str (not \"int\") to str"},
               {"{{ 1 < 'a' }}", "! line 1, column 4: '<' not supported between instances of 'int' and 'str'"});
}

static void formats_text(void) {
    CHECK_ROWS(CONTEXT,
               {"{{ '%s %5.2f|%-4s|%05d|%x' % ('a', 3.14159, 'b', 42, 255) }}", "a  3.14|b   |00042|ff"},
               {"{{ '%(k)s %%' % {'k': 1} }}", "1 %"},
               {"{{ '{} {1}'.format(1, 2) }}", "! line 1, column 19: numbered and automatic fields are mixed"},
               {"{{ '{0}{x.a}{y[0]}{{}}'.format('a', x={'a':1}, y=[2]) }}", "a12{}"},
               {"{{ '{:>4}|{:<4}|{:^4}|{:*^5}'.format('a', 'b', 'c', 'd') }}", "   a|b   | c  |**d**"},
               {"{{ '{:05d} {:+d} {:,} {:#x} {:.2f} {:%} {!r}'.format(42, 4, 1234567, 255, 2.5, 0.5, 'q') }}",
                "00042 +4 1,234,567 0xff 2.50 50.000000% 'q'"},
               {"{{ '%d' % 'x' }}", "! line 1, column 9: %d format: a real number is required, not str"});
}

static const struct test_case cases[] = {
    {"filters text", filters_text},
    {"filters sequences", filters_sequences},
    {"filters numbers", filters_numbers},
    {"tests values", tests_values},
    {"calls string methods", calls_string_methods},
    {"cuts and counts by code points", cuts_and_counts_by_code_points},
    {"computes as Python does", computes_as_python_does},
    {"formats text", formats_text},
};
TEST_MAIN("jinja_filters", cases)
