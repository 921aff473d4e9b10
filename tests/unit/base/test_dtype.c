// Stored number formats: their table, their sizes, and the 16-bit floats bit for bit.
#include "base/dtype.h"
#include "base/float16.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static void names_go_both_ways(void) {
    for (int t = 0; t < DTYPE_COUNT; t++) {
        enum dtype found;
        const char *name = dtype_name((enum dtype)t);
        CHECK(dtype_find(name, strlen(name), &found));
        CHECK_INT(t, found);
    }
    enum dtype none;
    CHECK(!dtype_find("F3", 2, &none));
    CHECK(!dtype_find("F322", 4, &none));
}

static void bytes_come_in_whole_blocks(void) {
    uint64_t bytes = 0;
    CHECK(dtype_bytes(DTYPE_Q4_1, 64, &bytes));
    CHECK_INT(40, bytes);
    CHECK(!dtype_bytes(DTYPE_Q4_1, 65, &bytes));
    CHECK(!dtype_bytes(DTYPE_F64, UINT64_MAX, &bytes));
}

static void every_binary16_has_its_exact_value(void) {
    for (uint32_t h = 0; h < 0x10000; h++) {
        int exponent = (int)(h >> 10) & 31, mantissa = (int)h & 0x3ff;
        double value = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
        if (h & 0x8000) value = -value;
        float got = f16_to_float((uint16_t)h);
        if (exponent == 31 && mantissa) CHECK(isnan(got));
        else if (exponent == 31) CHECK(isinf(got) && (got < 0) == (h >> 15));
        else CHECK((double)got == value && !!signbit(got) == (h >> 15));
    }
}

static void bfloat16_rounds_to_nearest_even(void) {
    static const struct {
        uint32_t from;
        uint16_t to;
    } rows[] = {{0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81},
                {0x7f7fffff, 0x7f80}, {0x80000001, 0x8000}, {0xff800000, 0xff80}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(rows[i].to, float_to_bf16(float_from_bits(rows[i].from)));
    CHECK(isnan(bf16_to_float(float_to_bf16(float_from_bits(0x7f800001)))));
    for (uint32_t h = 0; h < 0x7f80; h++) CHECK_INT(h, float_to_bf16(bf16_to_float((uint16_t)h)));
}

static const struct test_case cases[] = {
    {"names go both ways", names_go_both_ways},
    {"bytes come in whole blocks", bytes_come_in_whole_blocks},
    {"every binary16 has its exact value", every_binary16_has_its_exact_value},
    {"bfloat16 rounds to nearest even", bfloat16_rounds_to_nearest_even},
};
TEST_MAIN("base/dtype", cases)
