// Values as text: Python's float text, str, repr, and tojson.
#include "text/jinja_print.h"
#include "tests/unit/text/jinja_rows.h"

#include <math.h>
#include <stdlib.h>

static void prints_floats_as_python_does(void) {
    static const struct {
        double d;
        const char *text;
    } rows[] = {{0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {0.1, "0.1"},
    {0.1 + 0.2, "0.30000000000000004"},
    {1e15, "1000000000000000.0"},
                {1e16, "1e+16"},
                {1e22, "1e+22"},
                {1e23, "1e+23"},
                {0.0001, "0.0001"},
                {0.00001, "1e-05"},
                {1.5e-7, "1.5e-07"},
                {123456.789, "123456.789"},
                {5e-324, "5e-324"},
                {1.7976931348623157e308, "1.7976931348623157e+308"},
                {(double)INFINITY, "inf"},
                {-(double)INFINITY, "-inf"}, {(double)NAN, "nan"}, {9007199254740993.0, "9007199254740992.0"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[JINJA_FLOAT_TEXT];
        CHECK_INT(strlen(rows[i].text), jinja_float_text(rows[i].d, text));
        CHECK_TEXT(rows[i].text, text);
    }
}

static void float_text_reads_back_equal(void) {
    struct test_random random = {7};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = test_random_u64(&random);
        double d;
        char text[JINJA_FLOAT_TEXT];
        memcpy(&d, &bits, sizeof d);
        if (!isfinite(d)) continue;
        CHECK(jinja_float_text(d, text) < JINJA_FLOAT_TEXT);
        if (strtod(text, NULL) != d) test_fail(__FILE__, __LINE__, "%a: %s", d, text);
    }
}

static void prints_and_represents_values(void) {
    CHECK_ROWS("{\"u\":\"\u00e9\u200b\\u0007\",\"e\":{}}",
               {"{{ none }} {{ true }} {{ 1.0 }} {{ [none, true, 'a', 1.5] }}", "None True 1.0 [None, True, 'a', 1.5]"},
               {"{{ ['it\\'s', 'q\"', 'b\\'\"', '\\n\\\\'] }}", "[\"it's\", 'q\"', 'b\\'\"', '\\n\\\\']"},
               {"{{ [u] }}", "['\u00e9\\u200b\\x07']"},
               {"{{ {'a': (1,), 2: []} }} {{ e.keys() }} {{ range(3) }}",
                "{'a': (1,), 2: []} dict_keys([]) range(0, 3)"},
               {"{{ [zz] }}", "[Undefined]"});
}

static void writes_json_as_hugging_face_does(void) {
    CHECK_ROWS("{\"v\":{\"a\":1.0,\"b\":[1e21,null,true],\"c\":{},\"d\":\"<\u00e9\\\"\\n\\u0001\"}}",
               {"{{ v|tojson }}",
                "{\"a\": 1.0, \"b\": [1e+21, null, true], \"c\": {}, \"d\": \"<\u00e9\\\"\\n\\u0001\"}"},
               {"{{ v.b|tojson(indent=2) }}", "[\n  1e+21,\n  null,\n  true\n]"},
               {"{{ [[], {}]|tojson(indent=1) }}", "[\n [],\n {}\n]"},
               {"{{ {'b':1,'a':2}|tojson(sort_keys=true, separators=(',', ':')) }}", "{\"a\":2,\"b\":1}"},
               {"{{ '\u00e9\U0001f642'|tojson(ensure_ascii=true) }}", "\"\\u00e9\\ud83d\\ude42\""},
               {"{{ {1: 2, none: 3, true: 4}|tojson }}", "{\"1\": 4, \"null\": 3}"},
               {"{{ zz|tojson }}", "! line 1, column 7: Object of type Undefined is not JSON serializable"});
}

static void keeps_integers_and_floats_of_json_apart(void) {
    CHECK_ROWS("{\"v\":[1,1.0,-5,9223372036854775807,18446744073709551615,0.5]}",
               {"{{ v }}", "[1, 1.0, -5, 9223372036854775807, 1.8446744073709552e+19, 0.5]"});
}

static const struct test_case cases[] = {
    {"prints floats as Python does", prints_floats_as_python_does},
    {"float text reads back equal", float_text_reads_back_equal},
    {"prints and represents values", prints_and_represents_values},
    {"writes JSON as Hugging Face does", writes_json_as_hugging_face_does},
    {"keeps integers and floats of JSON apart", keeps_integers_and_floats_of_json_apart},
};
TEST_MAIN("jinja_print", cases)
