// JSON documents: what is refused, where the message points, and quoting.
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "tests/support/temp.h"
#include "tests/support/test.h"

#include <string.h>

static enum status parse(const char *text, yyjson_doc **doc, struct err *e) {
    *e = (struct err){0};
    return json_parse("x.json", text, strlen(text), doc, e);
}

static void check_refused(const char *text, const char *message) {
    yyjson_doc *doc;
    struct err e;
    CHECK_INT(STATUS_INVALID, parse(text, &doc, &e));
    CHECK_TEXT(message, e.message);
    CHECK(doc == NULL);
}

static void gives_values(void) {
    yyjson_doc *doc;
    struct err e;
    CHECK_INT(STATUS_OK, parse(" {\"a\": [1, {\"b\": \"\\u00e9\"}], \"b\": 2}  \n", &doc, &e));
    yyjson_val *root = yyjson_doc_get_root(doc);
    CHECK_INT(2, yyjson_get_uint(yyjson_obj_get(root, "b")));
    CHECK_TEXT("\xc3\xa9", yyjson_get_str(yyjson_obj_get(yyjson_arr_get(yyjson_obj_get(root, "a"), 1), "b")));
    yyjson_doc_free(doc);
}

static void points_at_what_is_broken(void) {
    check_refused("{\"a\": 1,\n \"b\": tru}",
                  "x.json: line 2, column 7: invalid literal, expected a valid literal such as 'true'");
    check_refused("{\"a\": NaN}", "x.json: line 1, column 7: unexpected character, expected a valid JSON value");
    check_refused("{\"a\": 1} x", "x.json: line 1, column 10: unexpected content after document");
    check_refused("", "x.json: empty where a JSON document is expected");
    check_refused("{\"a\": \"\xff\"}", "x.json: line 1, column 8: invalid UTF-8 encoding in string");
}

static void refuses_duplicate_keys_anywhere(void) {
    check_refused("{\"a\": 1, \"b\": 2, \"a\": 1}", "x.json: key \"a\" appears twice in one object");
    check_refused("[[{\"q\": {\"k\": 1, \"\\u006b\": 2}}]]", "x.json: key \"k\" appears twice in one object");
    yyjson_doc *doc;
    struct err e;
    CHECK_INT(STATUS_OK, parse("[{\"a\": {\"a\": 1}}, {\"a\": 2}]", &doc, &e));
    yyjson_doc_free(doc);
}

static void bounds_depth(void) {
    enum { DEEP = 100000 };
    static char text[2 * DEEP + 1];
    yyjson_doc *doc;
    struct err e;
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    CHECK_INT(STATUS_OK, parse(text, &doc, &e));
    yyjson_doc_free(doc);
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    check_refused(text, "x.json: line 1, column 129: nested deeper than 128 levels");
    CHECK_INT(STATUS_OK, parse("\"[[[ \\\" [[[\"", &doc, &e)); // brackets in a text do not count
    yyjson_doc_free(doc);
}

static void bounds_the_number_of_values(void) {
    struct buf b;
    yyjson_doc *doc;
    struct err e = {0};
    buf_init(&b, 3 * JSON_VALUES_MAX);
    buf_byte(&b, '[');
    for (int i = 0; i < JSON_VALUES_MAX; i++) buf_append(&b, "0,", 2);
    buf_text(&b, "0]");
    CHECK_INT(STATUS_INVALID, json_parse("big", b.data, b.n, &doc, &e));
    CHECK_TEXT("big: line 1, column 8388607: more than 4194304 values", e.message);
    buf_fini(&b);
}

static void finds_duplicates_among_many_keys_quickly(void) {
    enum { KEYS = 200000 };
    struct buf b;
    buf_init(&b, 16 << 20);
    buf_byte(&b, '{');
    for (int i = 0; i < KEYS; i++) buf_printf(&b, "\"key%d\":%d,", i, i);
    buf_text(&b, "\"key77777\":0}");
    yyjson_doc *doc;
    struct err e = {0};
    CHECK_INT(STATUS_INVALID, json_parse("big", b.data, b.n, &doc, &e));
    CHECK_TEXT("big: key \"key77777\" appears twice in one object", e.message);
    buf_fini(&b);
}

static void passes_on_a_failed_allocation(void) {
    for (uint64_t n = 1; n <= 3; n++) {
        yyjson_doc *doc;
        struct err e = {0};
        mem_fail_after(n);
        enum status status = json_parse("x", "{\"a\": 1, \"b\": 2}", 16, &doc, &e);
        mem_fail_after(0);
        if (status == STATUS_OK)
            yyjson_doc_free(doc);
        else
            CHECK_INT(STATUS_NO_MEMORY, status);
    }
}

static void reads_files_up_to_a_limit(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    yyjson_doc *doc;
    struct err e = {0};
    temp_text(&t, "a.json", "{\"a\": 1}");
    CHECK_INT(STATUS_OK, json_read(temp_path(&t, "a.json", path), 8, &doc, &e));
    yyjson_doc_free(doc);
    CHECK_INT(STATUS_TOO_LARGE, json_read(path, 7, &doc, &e));
    CHECK(strstr(e.message, path) != NULL);
    temp_remove(&t);
}

static void quotes_strings(void) {
    struct buf b;
    buf_init(&b, 100);
    json_quote(&b, "a\"\\\n\t\x01\xc3\xa9z", 9);
    CHECK_TEXT("\"a\\\"\\\\\\n\\t\\u0001\xc3\xa9z\"", b.data);
    buf_reset(&b);
    json_quote(&b, "", 0);
    CHECK_TEXT("\"\"", b.data);
    buf_fini(&b);
}

static const struct test_case cases[] = {
    {"gives values", gives_values},
    {"points at what is broken", points_at_what_is_broken},
    {"refuses duplicate keys anywhere", refuses_duplicate_keys_anywhere},
    {"bounds depth", bounds_depth},
    {"bounds the number of values", bounds_the_number_of_values},
    {"finds duplicates among many keys quickly", finds_duplicates_among_many_keys_quickly},
    {"passes on a failed allocation", passes_on_a_failed_allocation},
    {"reads files up to a limit", reads_files_up_to_a_limit},
    {"quotes strings", quotes_strings},
};
TEST_MAIN("base/json", cases)
