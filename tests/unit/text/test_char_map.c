// Precompiled character maps: look-ups, clusters, and maps that are damaged.
#include "text/char_map.h"
#include "tests/support/test.h"
#include "text/grapheme.h"

#include <string.h>

enum { UNITS = 0x48 };

// A map of two texts: "A" becomes "b", "\r" becomes a blank.
struct map {
    unsigned char bytes[4 + 4 * UNITS + 4];
};

static void put_unit(struct map *m, size_t at, uint32_t unit) {
    for (size_t i = 0; i < 4; i++) m->bytes[4 + 4 * at + i] = (unsigned char)(unit >> 8 * i);
}

static void build(struct map *m) {
    memset(m, 0, sizeof *m);
    m->bytes[0] = (unsigned char)(4 * UNITS & 255);
    m->bytes[1] = (unsigned char)(4 * UNITS >> 8);
    put_unit(m, 'A', 'A' | 256 | 1 << 10); // a leaf; its value is one place to the side
    put_unit(m, 'A' ^ 1, 0x80000000u | 0);
    put_unit(m, '\r', '\r' | 256 | 1 << 10);
    put_unit(m, '\r' ^ 1, 0x80000000u | 2);
    memcpy(m->bytes + 4 + 4 * UNITS, "b\0 ", 4);
}

static const char *mapped(const char *text) {
    static char out[64];
    struct map bytes;
    struct char_map m;
    struct buf made;
    struct err e = {0};
    build(&bytes);
    buf_init(&made, sizeof out - 1);
    CHECK_INT(STATUS_OK, char_map_init(&m, (const char *)bytes.bytes, sizeof bytes.bytes, &e));
    char_map_append(&m, text, strlen(text), &made);
    memcpy(out, made.n ? made.data : "", made.n);
    out[made.n] = '\0';
    buf_fini(&made);
    return out;
}

static void replaces_what_it_knows(void) {
    CHECK_TEXT("bab", mapped("AaA"));
    CHECK_TEXT("", mapped(""));
    CHECK_TEXT("b", mapped("A\u0301"));           // a short cluster is replaced as a whole
    CHECK_TEXT("b\u0301\u0301\u0301", mapped("A\u0301\u0301\u0301"));
    CHECK_TEXT("x x", mapped("x\r\nx"));
    CHECK_TEXT("\u4e2d", mapped("\u4e2d"));
}

static void refuses_damaged_maps(void) {
    struct map bytes;
    struct char_map m;
    for (size_t n = 0; n < 4 + 4 * UNITS; n++) {
        struct err e = {0};
        build(&bytes);
        CHECK_INT(STATUS_INVALID, char_map_init(&m, (const char *)bytes.bytes, n, &e));
    }
    // Values and places beyond the ends are no replacement.
    struct err e = {0};
    struct buf out;
    buf_init(&out, 64);
    put_unit(&bytes, 'A' ^ 1, 1000);
    put_unit(&bytes, '\r', '\r' | 256 | 0x3fffffu << 10);
    CHECK_INT(STATUS_OK, char_map_init(&m, (const char *)bytes.bytes, sizeof bytes.bytes, &e));
    char_map_append(&m, "A\ra", 3, &out);
    CHECK_INT(3, out.n);
    CHECK_BYTES("A\ra", out.data, 3);
    buf_fini(&out);
}

static void ends_clusters(void) {
    static const struct {
        const char *text;
        size_t n;
    } rows[] = {{"ab", 1}, {"a\u0301b", 3}, {"\r\n", 2}, {"\n\u0301", 1}, {"a\u200db", 4}, {"\u0e01\u0e33", 6},
                {"\u1000\u102b", 3}, {"\u0301a", 2}, {"\u00ad\u0301", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(rows[i].n, grapheme_length(rows[i].text, strlen(rows[i].text)));
}

static const struct test_case cases[] = {
    {"replaces what it knows", replaces_what_it_knows},
    {"refuses damaged maps", refuses_damaged_maps},
    {"ends clusters", ends_clusters},
};
TEST_MAIN("text/char_map", cases)
