// Settings by key: the typed getters over JSON and over GGUF metadata, and what they say of other types.
#include "checkpoint/config.h"
#include "checkpoint/gguf.h"
#include "tests/support/model_bytes.h"
#include "tests/support/temp.h"
#include "tests/support/test.h"

#include <string.h>

static const char text[] =
    "{\"n\": 42, \"negative\": -3, \"f\": 1.5, \"whole_float\": 4096.0, \"huge\": 1e300, \"yes\": true, \"none\": null,"
    " \"s\": \"llama\", \"list\": [1, 2.0, \"x\", null, 0.5], \"ids\": [2, 7], \"rope\": {\"theta\": 1e4, \"deep\": "
    "{\"x\": "
    "1}}, \"flat\": 5}";

static struct config *json_config(void) {
    struct config *c = NULL;
    struct err e = {0};
    CHECK_INT(STATUS_OK, config_parse("c.json", text, strlen(text), &c, &e));
    CHECK_TEXT("", e.message);
    return c;
}

// `call` gives `status` and leaves the message `expected` in its error, `e`.
#define CHECK_REFUSED(status, expected, call)                                                                          \
    do {                                                                                                               \
        struct err e = {0};                                                                                            \
        CHECK_INT(status, call);                                                                                       \
        CHECK_TEXT(expected, e.message);                                                                               \
    } while (0)

static void gets_whole_numbers(void) {
    struct config *c = json_config();
    uint64_t v = 0;
    CHECK_INT(STATUS_OK, config_u64(c, "n", &v, NULL));
    CHECK_INT(42, v);
    CHECK_INT(STATUS_OK, config_u64(c, "whole_float", &v, NULL));
    CHECK_INT(4096, v);
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"f\": expected a whole number >= 0, found 1.5",
                  config_u64(c, "f", &v, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"huge\": expected a whole number >= 0, found 1.0000000000000001e+300",
                  config_u64(c, "huge", &v, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"negative\": expected a whole number >= 0, found -3",
                  config_u64(c, "negative", &v, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"s\": expected a whole number >= 0, found a text of 5 bytes",
                  config_u64(c, "s", &v, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"yes\": expected a whole number >= 0, found true",
                  config_u64(c, "yes", &v, &e));
    CHECK_REFUSED(STATUS_NOT_FOUND, "c.json: key \"absent\" is missing", config_u64(c, "absent", &v, &e));
    CHECK_REFUSED(STATUS_NOT_FOUND, "c.json: key \"none\" is missing", config_u64(c, "none", &v, &e));
    config_free(c);
}

static void gets_other_scalars(void) {
    struct config *c = json_config();
    double f = 0;
    bool b = false;
    const char *s = NULL;
    size_t n = 0;
    CHECK_INT(STATUS_OK, config_f64(c, "n", &f, NULL));
    CHECK(f == 42.0);
    CHECK_INT(STATUS_OK, config_f64(c, "negative", &f, NULL));
    CHECK(f == -3.0);
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"s\": expected a finite number, found a text of 5 bytes",
                  config_f64(c, "s", &f, &e));
    CHECK_INT(STATUS_OK, config_bool(c, "yes", &b, NULL));
    CHECK(b);
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"n\": expected true or false, found 42", config_bool(c, "n", &b, &e));
    CHECK_INT(STATUS_OK, config_text(c, "s", &s, &n, NULL));
    CHECK_INT(5, n);
    CHECK_TEXT("llama", s);
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"list\": expected a text, found a list of 5",
                  config_text(c, "list", &s, &n, &e));
    config_free(c);
}

static void steps_into_objects(void) {
    struct config *c = json_config();
    double f = 0;
    uint64_t v = 0;
    CHECK_INT(STATUS_OK, config_f64(c, "rope.theta", &f, NULL));
    CHECK(f == 1e4);
    CHECK_INT(STATUS_OK, config_u64(c, "rope.deep.x", &v, NULL));
    CHECK_INT(1, v);
    CHECK(config_has(c, "rope") && config_has(c, "rope.deep.x") && !config_has(c, "rope.absent.x"));
    CHECK(!config_has(c, "none") && !config_has(c, "none.x") && !config_has(c, "") && !config_has(c, "."));
    // Something stands where an object is due: that is not the same as nothing.
    CHECK(config_has(c, "flat.theta"));
    CHECK_REFUSED(STATUS_INVALID,
                  "c.json: key \"flat.theta\": expected a finite number, found a value where an object is due",
                  config_f64(c, "flat.theta", &f, &e));
    config_free(c);
}

static void gets_elements_of_lists(void) {
    struct config *c = json_config();
    size_t n = 0;
    uint64_t v = 0;
    const char *s;
    double f = 0;
    CHECK_INT(STATUS_OK, config_n(c, "list", &n, NULL));
    CHECK_INT(5, n);
    CHECK_INT(STATUS_OK, config_u64_at(c, "list", 1, &v, NULL));
    CHECK_INT(2, v);
    CHECK_INT(STATUS_OK, config_f64_at(c, "list", 4, &f, NULL));
    CHECK_INT(STATUS_OK, config_text_at(c, "list", 2, &s, &n, NULL));
    CHECK_TEXT("x", s);
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"list\"[2]: expected a whole number >= 0, found a text of 1 bytes",
                  config_u64_at(c, "list", 2, &v, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"list\"[3]: expected a text, found null",
                  config_text_at(c, "list", 3, &s, &n, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"list\": element 5 of a list of 5",
                  config_u64_at(c, "list", 5, &v, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"n\": expected a list, found 42", config_n(c, "n", &n, &e));
    config_free(c);
}

static void takes_one_id_or_a_list_of_ids(void) {
    struct config *c = json_config();
    int32_t ids[2] = {0};
    size_t n = 9;
    CHECK_INT(STATUS_OK, config_ids(c, "absent", ids, 2, &n, NULL));
    CHECK_INT(0, n);
    CHECK_INT(STATUS_OK, config_ids(c, "n", ids, 2, &n, NULL));
    CHECK(n == 1 && ids[0] == 42);
    CHECK_INT(STATUS_OK, config_ids(c, "ids", ids, 2, &n, NULL));
    CHECK(n == 2 && ids[0] == 2 && ids[1] == 7);
    CHECK_REFUSED(STATUS_TOO_LARGE, "c.json: key \"list\": 5 ids are over the limit of 2",
                  config_ids(c, "list", ids, 2, &n, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"negative\": expected a token id, found -3",
                  config_ids(c, "negative", ids, 2, &n, &e));
    config_free(c);
}

static void refuses_files_that_are_no_settings(void) {
    struct config *c;
    CHECK_REFUSED(STATUS_INVALID, "c.json: not a JSON object", config_parse("c.json", "[1]", 3, &c, &e));
    CHECK_REFUSED(STATUS_INVALID, "c.json: key \"a\" appears twice in one object",
                  config_parse("c.json", "{\"a\":1,\"a\":2}", 13, &c, &e));
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct err e = {0};
    CHECK_INT(STATUS_NOT_FOUND, config_read(temp_path(&t, "none.json", path), &c, &e));
    CHECK(strstr(e.message, path) != NULL);
    CHECK(c == NULL);
    temp_remove(&t);
}

static void put_key(struct buf *b, const char *key, uint32_t type, const void *bytes, size_t n) {
    put_gguf_text(b, key);
    put_u32(b, type);
    buf_append(b, bytes, n);
}

static void reads_every_type_of_gguf_metadata(void) {
    struct buf b;
    struct tensor_list l;
    struct gguf_meta *m;
    struct config *c;
    uint64_t v = 0;
    double f = 0;
    bool truth = false;
    buf_init(&b, 1 << 16);
    put_gguf_head(&b, 3, 0, 14);
    put_key(&b, "u8", 0, "\xff", 1);
    put_key(&b, "i8", 1, "\xff", 1);
    put_key(&b, "u16", 2, "\x01\x80", 2);
    put_key(&b, "i16", 3, "\x01\x80", 2);
    put_key(&b, "llama.u32", 4, "\x01\x00\x00\x80", 4);
    put_key(&b, "i32", 5, "\x07\x00\x00\x00", 4);
    put_key(&b, "f32", 6, "\x00\x00\x80\x45", 4);
    put_key(&b, "bool", 7, "\x01", 1);
    put_gguf_key_text(&b, "s", "hi");
    put_key(&b, "u64", 10, "\x00\x00\x00\x00\x01\x00\x00\x00", 8);
    put_key(&b, "i64", 11, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    put_key(&b, "f64", 12, "\x00\x00\x00\x00\x00\x00\xf8\x7f", 8);
    put_gguf_key_array(&b, "i16s", 3, 2);
    buf_append(&b, "\x05\x00\xff\xff", 4);
    put_gguf_key_array(&b, "strings", 8, 1);
    put_gguf_text(&b, "t");
    tensor_list_init(&l);
    CHECK_INT(STATUS_OK, gguf_read(&l, "g", (const uint8_t *)b.data, b.n, &m, NULL));
    CHECK_INT(STATUS_OK, config_over_gguf("g", m, &c, NULL));
    CHECK(config_is_gguf(c));
    CHECK(config_u64(c, "u8", &v, NULL) == STATUS_OK && v == 255);
    CHECK(config_f64(c, "i8", &f, NULL) == STATUS_OK && f == -1);
    CHECK(config_u64(c, "u16", &v, NULL) == STATUS_OK && v == 0x8001);
    CHECK(config_f64(c, "i16", &f, NULL) == STATUS_OK && f == -32767);
    CHECK(config_u64(c, "llama.u32", &v, NULL) == STATUS_OK && v == 0x80000001u);
    CHECK(config_u64(c, "i32", &v, NULL) == STATUS_OK && v == 7);
    CHECK(config_u64(c, "f32", &v, NULL) == STATUS_OK && v == 4096);
    CHECK(config_bool(c, "bool", &truth, NULL) == STATUS_OK && truth);
    CHECK(config_u64(c, "u64", &v, NULL) == STATUS_OK && v == 1ull << 32);
    CHECK_REFUSED(STATUS_INVALID, "g: key \"i64\": expected a whole number >= 0, found -1",
                  config_u64(c, "i64", &v, &e));
    CHECK_REFUSED(STATUS_INVALID, "g: key \"f64\": expected a finite number, found nan", config_f64(c, "f64", &f, &e));
    CHECK_REFUSED(STATUS_INVALID, "g: key \"s\": expected a whole number >= 0, found a text of 2 bytes",
                  config_u64(c, "s", &v, &e));
    CHECK(config_f64_at(c, "i16s", 1, &f, NULL) == STATUS_OK && f == -1);
    CHECK_REFUSED(STATUS_INVALID, "g: key \"i16s\"[1]: expected a token id, found -1",
                  config_ids(c, "i16s", (int32_t[2]){0}, 2, &(size_t){0}, &e));
    const char *s;
    size_t n;
    CHECK(config_text_at(c, "strings", 0, &s, &n, NULL) == STATUS_OK && n == 1 && s[0] == 't');
    CHECK(!config_has(c, "llama"));
    config_free(c);
    tensor_list_fini(&l);
    buf_fini(&b);
}

static const struct test_case cases[] = {
    {"gets whole numbers", gets_whole_numbers},
    {"gets other scalars", gets_other_scalars},
    {"steps into objects", steps_into_objects},
    {"gets elements of lists", gets_elements_of_lists},
    {"takes one id or a list of ids", takes_one_id_or_a_list_of_ids},
    {"refuses files that are no settings", refuses_files_that_are_no_settings},
    {"reads every type of GGUF metadata", reads_every_type_of_gguf_metadata},
};
TEST_MAIN("checkpoint/config", cases)
