// GGUF headers: metadata and tensors that load, and each fault with its own message.
#include "checkpoint/gguf.h"
#include "base/mem.h"
#include "tests/support/model_bytes.h"
#include "tests/support/test.h"

#include <string.h>

enum { U8 = 0, F32 = 6, STRING = 8, ARRAY = 9, U64 = 10 }; // metadata types
enum { T_F32 = 0, T_Q4_0 = 2, T_Q8_0 = 8, T_Q4_K = 12 };   // tensor types

static struct buf start(uint32_t version, uint64_t n_tensors, uint64_t n_keys) {
    struct buf b;
    buf_init(&b, 1 << 20);
    put_gguf_head(&b, version, n_tensors, n_keys);
    return b;
}

static enum status read_image(const struct buf *b, struct tensor_list *l, struct gguf_meta **m, struct err *e) {
    *e = (struct err){0};
    tensor_list_init(l);
    return gguf_read(l, "f", (const uint8_t *)b->data, b->n, m, e);
}

// Checks what reading the image says and frees it.
static void check_image(struct buf *b, enum status status, const char *message) {
    struct tensor_list l;
    struct gguf_meta *m;
    struct err e;
    CHECK_INT(status, read_image(b, &l, &m, &e));
    CHECK_TEXT(message, e.message);
    CHECK((m != NULL) == (status == STATUS_OK));
    gguf_meta_free(m);
    tensor_list_fini(&l);
    buf_fini(b);
}

static void reads_metadata_and_tensors(void) {
    for (uint32_t version = 2; version <= 3; version++) {
        struct buf b = start(version, 2, 3);
        struct tensor_list l;
        struct gguf_meta *m;
        struct err e;
        put_gguf_key_u32(&b, "n", 7);
        put_gguf_key_text(&b, "general.architecture", "llama");
        put_gguf_key_array(&b, "tokens", STRING, 3);
        put_gguf_text(&b, "one");
        put_gguf_text(&b, "");
        put_gguf_text(&b, "three");
        put_gguf_tensor(&b, "w", 2, (const uint64_t[]){64, 2}, T_Q4_0, 32);
        put_gguf_tensor(&b, "b", 1, (const uint64_t[]){5}, T_F32, 0);
        put_gguf_data(&b, 32, 32 + 72);
        CHECK_INT(STATUS_OK, read_image(&b, &l, &m, &e));
        CHECK_TEXT("", e.message);
        tensor_list_sort(&l);
        const struct tensor *w = tensor_list_find(&l, "w");
        CHECK(w && w->dtype == DTYPE_Q4_0 && w->n_dims == 2 && w->shape[0] == 2 && w->shape[1] == 64);
        CHECK(w && w->bytes == 72 && w->data[0] == 32);
        CHECK_INT(7, gguf_meta_find(m, "n").whole);
        CHECK_TEXT("llama", gguf_meta_find(m, "general.architecture").text);
        CHECK_INT(SETTING_NONE, gguf_meta_find(m, "absent").kind);
        struct setting tokens = gguf_meta_find(m, "tokens");
        CHECK_INT(3, tokens.n);
        CHECK_INT(0, gguf_meta_at(&tokens, 1).n);
        CHECK_INT(5, gguf_meta_at(&tokens, 2).n);
        CHECK_BYTES("three", gguf_meta_at(&tokens, 2).text, 5);
        gguf_meta_free(m);
        tensor_list_fini(&l);
        buf_fini(&b);
    }
}

static void refuses_other_heads(void) {
    struct buf b = start(3, 0, 0);
    b.data[3] = 'X';
    check_image(&b, STATUS_INVALID, "f: does not start with \"GGUF\"");
    b = start(1, 0, 0);
    check_image(&b, STATUS_UNSUPPORTED, "f: GGUF version 1; 2 and 3 can be read");
    b = start(0x03000000, 0, 0);
    check_image(&b, STATUS_UNSUPPORTED, "f: GGUF version 50331648 (a big-endian file?); 2 and 3 can be read");
    b = start(3, 0, 0);
    b.n = 10;
    check_image(&b, STATUS_INVALID,
                "f: field \"tensor count\": 8 bytes at byte 8 lead past the end of the file (10 bytes)");
    b = start(3, 0, 1ull << 60);
    check_image(&b, STATUS_INVALID, "f: 1152921504606846976 keys and 0 tensors do not fit into 24 bytes");
    b = start(3, 1ull << 63, 0);
    check_image(&b, STATUS_INVALID, "f: 0 keys and 9223372036854775808 tensors do not fit into 24 bytes");
    b = start(3, 0, 0);
    check_image(&b, STATUS_OK, "");
}

static void refuses_broken_metadata(void) {
    struct buf b = start(3, 0, 1);
    put_gguf_text(&b, "k");
    put_u32(&b, 13);
    put_u64(&b, 0);
    check_image(&b, STATUS_INVALID, "f: key \"k\": value type 13 is not known");
    b = start(3, 0, 1);
    put_gguf_text(&b, "k");
    put_u32(&b, STRING);
    put_u64(&b, 1ull << 62);
    check_image(&b, STATUS_INVALID,
                "f: key \"k\": 4611686018427387904 bytes at byte 45 lead past the end of the file (45 bytes)");
    b = start(3, 0, 1);
    put_gguf_key_array(&b, "k", U64, 1ull << 62);
    check_image(&b, STATUS_INVALID, "f: key \"k\": 4611686018427387904 values of 8 bytes overflow");
    b = start(3, 0, 1);
    put_gguf_key_array(&b, "k", STRING, 1000);
    check_image(&b, STATUS_INVALID, "f: key \"k\": an array of 1000 leads past the end of the file");
    b = start(3, 0, 1);
    put_gguf_key_array(&b, "k", 99, 1);
    check_image(&b, STATUS_INVALID, "f: key \"k\": value type 99 is not known");
    b = start(3, 0, 2);
    put_gguf_key_u32(&b, "k", 1);
    put_gguf_key_u32(&b, "k", 1);
    check_image(&b, STATUS_INVALID, "f: key \"k\" appears twice");
    b = start(3, 0, 2);
    put_gguf_key_u32(&b, "k", 1);
    put_gguf_key_u32(&b, "", 1);
    check_image(&b, STATUS_INVALID, "f: the name of key 1, after \"k\", has 0 bytes or is no UTF-8 text");
    b = start(3, 0, 1);
    put_gguf_key_u32(&b, "a\x1b[0m", 1);
    check_image(&b, STATUS_INVALID, "f: key 0, \"a...\": its name holds a control character");
}

static void put_nested(struct buf *b, int depth) {
    put_gguf_key_array(b, "k", ARRAY, 1);
    for (int i = 2; i < depth; i++) {
        put_u32(b, ARRAY);
        put_u64(b, 1);
    }
    put_u32(b, U8);
    put_u64(b, 0);
}

static void bounds_nested_arrays(void) {
    struct buf b = start(3, 0, 1);
    put_nested(&b, GGUF_NESTING_MAX);
    check_image(&b, STATUS_OK, "");
    b = start(3, 0, 1);
    put_nested(&b, GGUF_NESTING_MAX + 1);
    check_image(&b, STATUS_INVALID, "f: key \"k\": arrays nested deeper than 4");
    b = start(3, 0, 1);
    put_nested(&b, 20000);
    check_image(&b, STATUS_INVALID, "f: key \"k\": arrays nested deeper than 4");
}

static void check_alignment(uint32_t alignment, enum status status, const char *message) {
    struct buf b = start(3, 2, 1);
    put_gguf_key_u32(&b, "general.alignment", alignment);
    put_gguf_tensor(&b, "a", 1, (const uint64_t[]){1}, T_F32, 0);
    put_gguf_tensor(&b, "b", 1, (const uint64_t[]){1}, T_F32, 64);
    put_gguf_data(&b, alignment ? alignment : 1, 68);
    check_image(&b, status, message);
}

static void goes_by_the_alignment_of_the_file(void) {
    check_alignment(64, STATUS_OK, "");
    check_alignment(32, STATUS_INVALID,
                    "f: tensor \"b\" starts at byte 64 of the data where 32 was due: the gap belongs to no tensor");
    check_alignment(128, STATUS_INVALID, "f: tensor \"b\": offset 64 is no multiple of the alignment 128");
    check_alignment(0, STATUS_INVALID, "f: key \"general.alignment\": 0 is no power of two");
    check_alignment(48, STATUS_INVALID, "f: key \"general.alignment\": 48 is no power of two");
}

static void check_tensor(uint32_t n_dims, const uint64_t *dims, uint32_t type, uint64_t offset, enum status status,
                         const char *message) {
    struct buf b = start(3, 1, 0);
    put_gguf_tensor(&b, "w", n_dims, dims, type, offset);
    put_gguf_data(&b, 32, 36);
    check_image(&b, status, message);
}

static void refuses_broken_tensors(void) {
    const uint64_t row[] = {64}, zero[] = {64, 0}, odd[] = {33, 2}, wide[] = {64, 2}, five[5] = {1, 1, 1, 1, 1};
    const uint64_t huge[] = {1ull << 32, 1ull << 32}, long_row[] = {1ull << 40};
    check_tensor(1, row, T_Q4_0, 0, STATUS_OK, "");
    check_tensor(0, row, T_Q4_0, 0, STATUS_INVALID, "f: tensor \"w\": 0 dimensions; 1 to 4 are possible");
    check_tensor(5, five, T_F32, 0, STATUS_INVALID, "f: tensor \"w\": 5 dimensions; 1 to 4 are possible");
    check_tensor(2, zero, T_Q4_0, 0, STATUS_INVALID, "f: tensor \"w\": dimension 0 is 0");
    check_tensor(2, odd, T_Q8_0, 0, STATUS_INVALID,
                 "f: tensor \"w\": rows of 33 are no multiple of Q8_0's block of 32");
    check_tensor(2, huge, T_F32, 0, STATUS_INVALID, "f: tensor \"w\": the product of its shape overflows");
    check_tensor(1, row, T_Q4_K, 0, STATUS_UNSUPPORTED,
                 "f: tensor \"w\": type Q4_K cannot be read; F32, F16, BF16, Q4_0, Q4_1 and Q8_0 can");
    check_tensor(1, row, 1000, 0, STATUS_UNSUPPORTED, "f: tensor \"w\": type number 1000 is not known");
    check_tensor(1, row, T_Q4_0, 4, STATUS_INVALID, "f: tensor \"w\": offset 4 is no multiple of the alignment 32");
    check_tensor(1, row, T_Q4_0, 32, STATUS_INVALID,
                 "f: tensor \"w\" ends at byte 68 of the data, but the file has 36 (is it cut short?)");
    check_tensor(
        1, row, T_Q4_0, UINT64_MAX - 31, STATUS_INVALID,
        "f: tensor \"w\": 36 bytes at offset 18446744073709551584 lead past the end of the file (100 bytes; is "
        "it cut short?)");
    check_tensor(2, wide, T_Q4_0, 0, STATUS_INVALID,
                 "f: tensor \"w\" ends at byte 72 of the data, but the file has 36 (is it cut short?)");
    check_tensor(1, long_row, T_F32, 0, STATUS_INVALID,
                 "f: tensor \"w\": 4398046511104 bytes at offset 0 lead past the end of the file (100 bytes; is it cut "
                 "short?)");
}

static void check_pair(uint64_t second, size_t n_data, enum status status, const char *message) {
    struct buf b = start(3, 2, 0);
    put_gguf_tensor(&b, "a", 1, (const uint64_t[]){10}, T_F32, 0);
    put_gguf_tensor(&b, "b", 1, (const uint64_t[]){1}, T_F32, second);
    put_gguf_data(&b, 32, n_data);
    check_image(&b, status, message);
}

static void refuses_overlaps_gaps_and_leftovers(void) {
    check_pair(64, 68, STATUS_OK, "");
    check_pair(64, 96, STATUS_OK, ""); // padded at the end too
    check_pair(64, 100, STATUS_INVALID, "f: 32 bytes at its end, after tensor \"b\", belong to no tensor");
    check_pair(32, 68, STATUS_INVALID, "f: tensor \"b\" starts at byte 32 of the data, inside \"a\" which ends at 40");
    check_pair(96, 100, STATUS_INVALID,
               "f: tensor \"b\" starts at byte 96 of the data where 64 was due: the gap belongs to no tensor");
    check_pair(64, 200, STATUS_INVALID, "f: 132 bytes at its end, after tensor \"b\", belong to no tensor");
}

static void refuses_part_of_a_split_file(void) {
    struct buf b = start(3, 0, 1);
    put_gguf_key_u32(&b, "split.count", 3);
    check_image(&b, STATUS_UNSUPPORTED, "f: key \"split.count\": one of 3 parts; join them into one file first");
}

static void refuses_the_image_cut_anywhere(void) {
    struct buf b = start(3, 1, 3);
    put_gguf_key_text(&b, "general.architecture", "llama");
    put_gguf_key_array(&b, "s", STRING, 2);
    put_gguf_text(&b, "ab");
    put_gguf_text(&b, "c");
    put_gguf_key_array(&b, "n", F32, 3);
    for (int i = 0; i < 3; i++) put_u32(&b, 0);
    put_gguf_tensor(&b, "w", 2, (const uint64_t[]){32, 2}, T_Q8_0, 0);
    put_gguf_data(&b, 32, 68);
    for (size_t n = 0; n < b.n; n++) {
        struct tensor_list l;
        struct gguf_meta *m;
        struct err e = {0};
        tensor_list_init(&l);
        uint8_t *exact = mem_new(n ? n : 1, 1); // so that a sanitizer sees a byte too far
        memcpy(exact, b.data, n);
        CHECK(gguf_read(&l, "f", exact, n, &m, &e) != STATUS_OK);
        CHECK(e.message[0] != '\0');
        mem_free(exact);
        tensor_list_fini(&l);
    }
    buf_fini(&b);
}

static const struct test_case cases[] = {
    {"reads metadata and tensors", reads_metadata_and_tensors},
    {"refuses other heads", refuses_other_heads},
    {"refuses broken metadata", refuses_broken_metadata},
    {"bounds nested arrays", bounds_nested_arrays},
    {"goes by the alignment of the file", goes_by_the_alignment_of_the_file},
    {"refuses broken tensors", refuses_broken_tensors},
    {"refuses overlaps, gaps and leftovers", refuses_overlaps_gaps_and_leftovers},
    {"refuses part of a split file", refuses_part_of_a_split_file},
    {"refuses the image cut anywhere", refuses_the_image_cut_anywhere},
};
TEST_MAIN("checkpoint/gguf", cases)
