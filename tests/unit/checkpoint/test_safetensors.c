// Safetensors headers: what loads, and each fault with its own message.
#include "checkpoint/safetensors.h"
#include "tests/support/model_bytes.h"
#include "tests/support/test.h"

#include <string.h>

// Reads the image; gives the status and, in `e`, the message. The list stays with the caller.
static enum status read_image(const struct buf *b, struct tensor_list *l, struct err *e) {
    *e = (struct err){0};
    tensor_list_init(l);
    return safetensors_read(l, "f", 0, (const uint8_t *)b->data, b->n, e);
}

static void check_image(const struct buf *b, enum status status, const char *message) {
    struct tensor_list l;
    struct err e;
    CHECK_INT(status, read_image(b, &l, &e));
    CHECK_TEXT(message, e.message);
    tensor_list_fini(&l);
}

static void check_header(const char *header, size_t n_data, enum status status, const char *message) {
    struct buf b;
    buf_init(&b, 1 << 20);
    put_safetensors(&b, header, n_data);
    check_image(&b, status, message);
    buf_fini(&b);
}

#define A_AT(from, to) "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[" #from "," #to "]}"
#define B_AT(from, to) "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[" #from "," #to "]}"

static void reads_tensors_in_any_order_and_place(void) {
    struct buf b;
    struct tensor_list l;
    struct err e;
    buf_init(&b, 1 << 20);
    // An odd header length leaves every tensor misaligned; blanks pad it; one tensor is empty, one has no dimension.
    put_safetensors(
        &b,
        "{" B_AT(25, 33) "," A_AT(1, 25) ",\"e\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[25,25]},"
                                         "\"s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},\"__metadata__"
                                         "\":{\"format\":\"mlx\"}}   ",
        33);
    CHECK_INT(STATUS_OK, read_image(&b, &l, &e));
    CHECK_TEXT("", e.message);
    tensor_list_sort(&l);
    CHECK_INT(4, l.n);
    const struct tensor *t = tensor_list_find(&l, "a");
    CHECK(t && t->dtype == DTYPE_F32 && t->n_dims == 2 && t->shape[0] == 2 && t->shape[1] == 3 && t->bytes == 24);
    CHECK_INT(1, t ? t->data[0] : -1);
    t = tensor_list_find(&l, "b");
    CHECK_INT(25, t ? t->data[0] : -1);
    t = tensor_list_find(&l, "s");
    CHECK(t && t->n_dims == 0 && t->bytes == 1);
    CHECK(tensor_list_find(&l, "c") == NULL);
    tensor_list_fini(&l);
    buf_fini(&b);
}

static void check_length(uint64_t length, enum status status, const char *message) {
    struct buf b;
    buf_init(&b, 1 << 20);
    put_u64(&b, length);
    buf_text(&b, "{" A_AT(0, 24) "}");
    check_image(&b, status, message);
    buf_fini(&b);
}

static void refuses_header_lengths_that_cannot_be(void) {
    struct buf b;
    buf_init(&b, 100);
    buf_text(&b, "1234567");
    check_image(&b, STATUS_INVALID, "f: 7 bytes are too few for a safetensors file");
    buf_fini(&b);
    check_length(0, STATUS_INVALID, "f: header of 0 bytes does not start with '{'");
    check_length(7, STATUS_INVALID, "f: header: line 1, column 8: unexpected end of data");
    check_length(1000, STATUS_INVALID, "f: header length 1000 leads past the end of the file (65 bytes)");
    check_length(100000001, STATUS_TOO_LARGE, "f: header length 100000001 is over the limit of 100000000 bytes");
    check_length(1ull << 63, STATUS_TOO_LARGE,
                 "f: header length 9223372036854775808 is over the limit of 100000000 bytes");
}

static void refuses_headers_of_another_form(void) {
    check_header(" {}", 0, STATUS_INVALID, "f: header of 3 bytes does not start with '{'");
    check_header("{\"a\":1}", 0, STATUS_INVALID, "f: tensor \"a\": its header entry is no object");
    check_header("{\"__metadata__\":[]}", 0, STATUS_INVALID, "f: key \"__metadata__\": not an object");
    check_header("{\"__metadata__\":{\"x\":1}}", 0, STATUS_INVALID, "f: key \"__metadata__\": value 0 is not a string");
    check_header("{\"__metadata__\":null}", 0, STATUS_OK, "");
    check_header("{" A_AT(0, 24) "," A_AT(0, 24) "}", 24, STATUS_INVALID,
                 "f: header: key \"a\" appears twice in one object");
}

static void refuses_names_that_cannot_be_shown(void) {
    check_header("{\"\":{}}", 0, STATUS_INVALID, "f: a tensor has an empty name");
    check_header("{\"a\\nb\":{}}", 0, STATUS_INVALID, "f: tensor \"a...\": its name holds control character 0x0a");
    check_header("{\"a\\u0000\":{}}", 0, STATUS_INVALID, "f: tensor \"a...\": its name holds control character 0x00");
    char header[400] = "{\"";
    memset(header + 2, 'n', TENSOR_NAME_MAX + 1);
    memcpy(header + 3 + TENSOR_NAME_MAX, "\":{}}", 6);
    check_header(header, 0, STATUS_INVALID,
                 "f: tensor \"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...\": "
                 "a name of 257 bytes is over the limit of 256");
}

#define ENTRY(dtype, shape, offsets) "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void refuses_entries_of_the_wrong_form(void) {
    check_header("{\"a\":{\"shape\":[],\"data_offsets\":[0,4]}}", 4, STATUS_INVALID,
                 "f: tensor \"a\": \"dtype\" is missing or no string");
    check_header(ENTRY("\"F33\"", "[1]", "[0,4]"), 4, STATUS_UNSUPPORTED,
                 "f: tensor \"a\": dtype \"F33\" is not known");
    check_header(ENTRY("\"Q4_0\"", "[32]", "[0,18]"), 18, STATUS_UNSUPPORTED,
                 "f: tensor \"a\": dtype \"Q4_0\" is not known");
    check_header(ENTRY("\"F32\"", "4", "[0,4]"), 4, STATUS_INVALID, "f: tensor \"a\": \"shape\" is missing or no list");
    check_header(ENTRY("\"F32\"", "[-1]", "[0,4]"), 4, STATUS_INVALID,
                 "f: tensor \"a\": \"shape\" holds something other than whole numbers >= 0");
    check_header(ENTRY("\"F32\"", "[1.0]", "[0,4]"), 4, STATUS_INVALID,
                 "f: tensor \"a\": \"shape\" holds something other than whole numbers >= 0");
    check_header(ENTRY("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, STATUS_UNSUPPORTED,
                 "f: tensor \"a\": 9 dimensions are over the limit of 8");
    check_header(ENTRY("\"F32\"", "[1]", "[0,4,8]"), 4, STATUS_INVALID,
                 "f: tensor \"a\": \"data_offsets\" is missing or no pair of whole numbers >= 0");
    check_header(ENTRY("\"F32\"", "[1]", "[0,\"4\"]"), 4, STATUS_INVALID,
                 "f: tensor \"a\": \"data_offsets\" is missing or no pair of whole numbers >= 0");
}

static void refuses_sizes_that_disagree(void) {
    check_header(ENTRY("\"F32\"", "[2,3]", "[0,20]"), 20, STATUS_INVALID,
                 "f: tensor \"a\": its shape in F32 takes 24 bytes, its data_offsets span 20");
    check_header(ENTRY("\"F32\"", "[2,3]", "[24,0]"), 24, STATUS_INVALID,
                 "f: tensor \"a\": data_offsets [24, 0] are reversed");
    check_header(ENTRY("\"F32\"", "[2,3]", "[0,24]"), 23, STATUS_INVALID,
                 "f: tensor \"a\" ends at byte 24 of the data, but the file has 23 (is it cut short?)");
    check_header(ENTRY("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, STATUS_INVALID,
                 "f: tensor \"a\": the product of its shape overflows");
    check_header(ENTRY("\"F32\"", "[4611686018427387905]", "[0,4]"), 4, STATUS_INVALID,
                 "f: tensor \"a\": the product of its shape overflows");
    check_header(
        ENTRY("\"F32\"", "[1]", "[18446744073709551615,18446744073709551615]"), 4, STATUS_INVALID,
        "f: tensor \"a\" ends at byte 18446744073709551615 of the data, but the file has 4 (is it cut short?)");
}

static void refuses_overlaps_gaps_and_leftovers(void) {
    check_header("{" A_AT(0, 24) "," B_AT(20, 28) "}", 28, STATUS_INVALID,
                 "f: tensor \"b\" starts at byte 20 of the data, inside \"a\" which ends at 24");
    check_header("{" A_AT(0, 24) "," B_AT(26, 34) "}", 34, STATUS_INVALID,
                 "f: tensor \"b\" starts at byte 26 of the data where 24 was due: the gap belongs to no tensor");
    check_header("{" A_AT(0, 24) "}", 25, STATUS_INVALID,
                 "f: 1 bytes at its end, after tensor \"a\", belong to no tensor");
    check_header("{}", 3, STATUS_INVALID, "f: 3 bytes at its end, after the header, belong to no tensor");
}

static void takes_a_header_of_exactly_a_hundred_thousand_bytes(void) {
    enum { BYTES = 100000 };
    static char header[BYTES + 1];
    memset(header, ' ', BYTES);
    memcpy(header, "{" A_AT(0, 24) "}", sizeof "{" A_AT(0, 24) "}" - 1);
    check_header(header, 24, STATUS_OK, "");
}

static void refuses_deep_nesting_in_an_ignored_field(void) {
    enum { DEEP = 10000 };
    static char header[2 * DEEP + 100] = "{\"a\":{\"ignored\":";
    size_t n = strlen(header);
    memset(header + n, '[', DEEP);
    memset(header + n + DEEP, ']', DEEP);
    memcpy(header + n + 2 * DEEP, "}}", 3);
    check_header(header, 0, STATUS_INVALID, "f: header: line 1, column 143: nested deeper than 128 levels");
}

static const struct test_case cases[] = {
    {"reads tensors in any order and place", reads_tensors_in_any_order_and_place},
    {"refuses header lengths that cannot be", refuses_header_lengths_that_cannot_be},
    {"refuses headers of another form", refuses_headers_of_another_form},
    {"refuses names that cannot be shown", refuses_names_that_cannot_be_shown},
    {"refuses entries of the wrong form", refuses_entries_of_the_wrong_form},
    {"refuses sizes that disagree", refuses_sizes_that_disagree},
    {"refuses overlaps, gaps and leftovers", refuses_overlaps_gaps_and_leftovers},
    {"takes a header of exactly a hundred thousand bytes", takes_a_header_of_exactly_a_hundred_thousand_bytes},
    {"refuses deep nesting in an ignored field", refuses_deep_nesting_in_an_ignored_field},
};
TEST_MAIN("checkpoint/safetensors", cases)
