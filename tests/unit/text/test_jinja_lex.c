// The lexer: white space round tags, comments, raw text, numbers, strings, and where faults are said to be.
#include "text/jinja_lex.h"
#include "tests/unit/text/jinja_rows.h"

static void drops_one_line_feed_after_a_block(void) {
    CHECK_ROWS("{\"a\":1}", {"x\n{% if a %}\ny\n{% endif %}\nz", "x\ny\nz"}, {"{{ a }}\n\nb", "1\n\nb"},
               {"{% if a %}\n\ny{% endif %}", "\ny"},
               {"{# c #}\nx", "x"},
               {"{% if a +%}\ny{% endif %}", "\ny"});
}

static void strips_blanks_before_a_block_that_begins_a_line(void) {
    CHECK_ROWS("{\"a\":1}", {"x\n \t {% if a %}y{% endif %}", "x\ny"}, {"x {% if a %}y{% endif %}", "x y"},
               {"  {{ a }}", "  1"},
               {"  {# c #}y", "y"},
               {"x\n  {%+ if a %}y{% endif %}", "x\n  y"},
               {"{% if a %}\n  {% if a %}y{% endif %}{% endif %}", "y"},
               {"{{ a }}  {% if a %}y{% endif %}", "1  y"});
}

static void minus_signs_strip_all_white_space(void) {
    CHECK_ROWS("{\"a\":1}", {"x \n {%- if a -%} \n y \n {%- endif -%} \n z", "xyz"}, {"x \n{{- a -}}\n y", "x1y"},
               {"x {#- c -#} y", "xy"},
               {"\u3000{%- if a %}y{% endif %}", "y"});
}

static void keeps_raw_text_as_it_is(void) {
    CHECK_ROWS("{}", {"{% raw %}{{ x }}{% if %}{% endraw %}", "{{ x }}{% if %}"},
               {"a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"},
               {"{% raw %}x", "! line 1, column 1: Missing end of raw directive"},
               {"a\n{# b", "! line 2, column 1: Missing end of comment tag"});
}

static void normalises_line_ends_and_drops_the_last(void) {
    CHECK_ROWS("{}", {"a\r\nb\rc\n", "a\nb\nc"}, {"a\n\n", "a\n"}, {"\n", ""}, {"", ""});
}

static void reads_numbers_as_python_does(void) {
    CHECK_ROWS("{}", {"{{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }}", "1000 31 5 15"},
               {"{{ 1.5e-7 }} {{ 1e3 }} {{ 1_0.5 }}", "1.5e-07 1000.0 10.5"},
               {"{{ [[1,2],[3,4]].1.0 }}", "3"},
               {"{{ 9223372036854775807 }}", "9223372036854775807"},
               {"{{ 9223372036854775808 }}", "! line 1, column 4: the integer does not fit in 64 bits"});
}

static void resolves_escapes_in_strings(void) {
    CHECK_ROWS("{}", {"{{ 'a\\n\\t\\\\\\'b' }}", "a\n\t\\'b"}, {"{{ '\\x41\\u00e9\\101\\q' }}", "A\u00e9A\\q"},
               {"{{ 'a' \"b\" }}", "ab"},
               {"{{ '}}' }}", "}}"},
               {"{{ '\\ud83d' }}", "! line 1, column 4: the escape is no Unicode character"},
               {"{{ '\\x4' }}", "! line 1, column 4: truncated \\xXX escape"},
               {"{{ 'a }}", "! line 1, column 4: the string is not closed"});
}

static void balances_brackets(void) {
    CHECK_ROWS("{}",
               {"{{ {'a': {}}['a'] }}", "{}"},
               {"{{ {}}}", "{}"},
               {"{{ (1] }}", "! line 1, column 6: unexpected ']', expected ')'"},
               {"x\n {{ 1) }}", "! line 2, column 6: unexpected ')'"},
               {"{{ 1", "! line 1, column 3: the tag is not closed"});
}

static void bounds_what_it_takes(void) {
    static char deep[400];
    struct arena a;
    struct jinja_tokens tokens;
    struct err e = {0};
    memset(deep, '(', sizeof deep);
    memcpy(deep, "{{", 2);
    arena_init(&a, (size_t)1 << 20);
    CHECK_INT(STATUS_INVALID, jinja_lex(&a, deep, sizeof deep, &tokens, &e));
    CHECK(strstr(e.message, "brackets are nested too deeply") != NULL);
    err_clear(&e);
    CHECK_INT(STATUS_TOO_LARGE, jinja_lex(&a, deep, (size_t)JINJA_SOURCE_MAX + 1, &tokens, &e));
    err_clear(&e);
    CHECK_INT(STATUS_INVALID, jinja_lex(&a, "\xff", 1, &tokens, &e));
    CHECK_TEXT("the template is not valid UTF-8", e.message);
    arena_fini(&a);
}

static const struct test_case cases[] = {
    {"drops one line feed after a block", drops_one_line_feed_after_a_block},
    {"strips blanks before a block that begins a line", strips_blanks_before_a_block_that_begins_a_line},
    {"minus signs strip all white space", minus_signs_strip_all_white_space},
    {"keeps raw text as it is", keeps_raw_text_as_it_is},
    {"normalises line ends and drops the last", normalises_line_ends_and_drops_the_last},
    {"reads numbers as Python does", reads_numbers_as_python_does},
    {"resolves escapes in strings", resolves_escapes_in_strings},
    {"balances brackets", balances_brackets},
    {"bounds what it takes", bounds_what_it_takes},
};
TEST_MAIN("jinja_lex", cases)
