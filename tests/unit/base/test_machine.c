// The machine and its services: instruction sets by name, cache and processor counts, clock, log lines, SHA-256.
#include "base/clock.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/sha256.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static void instruction_sets_are_parsed_or_refused_by_name(void) {
    enum isa isa;
    struct err e = {0};
    CHECK_INT(STATUS_OK, isa_parse("ref", &isa, &e));
    CHECK_INT(ISA_REF, isa);
    CHECK_INT(STATUS_INVALID, isa_parse("sse9", &isa, &e));
    CHECK_TEXT("--isa sse9: unknown; use ref, avx2 or avx512", e.message);
    for (int i = 0; i < ISA_COUNT; i++) {
        err_clear(&e);
        bool has = isa_available((enum isa)i);
        CHECK_INT(has ? STATUS_OK : STATUS_UNSUPPORTED, isa_parse(isa_name((enum isa)i), &isa, &e));
        if (!has) CHECK(strstr(e.message, isa_name((enum isa)i)) && strstr(e.message, "lacks"));
        if (has) CHECK((int)isa_best() >= i);
    }
}

static void counts_and_sizes_are_sane(void) {
    CHECK(cpu_count() >= 1);
    CHECK(cpu_last_cache_bytes() >= (uint64_t)64 << 10);
    CHECK(cpu_last_cache_bytes() <= (uint64_t)4 << 30);
}

static void the_clock_never_runs_backwards(void) {
    struct clock clock = clock_system();
    uint64_t before = clock_now_ns(&clock);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_now_ns(&clock);
        CHECK(now >= before);
        before = now;
    }
}

static void keep_line(void *context, enum log_level level, const char *line) {
    snprintf(context, 64, "%d %s", (int)level, line);
}

static void log_lines_reach_the_callback(void) {
    char line[64] = "";
    const struct log log = {keep_line, line}, silent = {0};
    log_line(&log, LOG_LEVEL_WARN, "page %d", 7);
    CHECK_TEXT("1 page 7", line);
    log_line(&silent, LOG_LEVEL_ERROR, "lost");
    log_line(NULL, LOG_LEVEL_ERROR, "lost");
    CHECK_TEXT("1 page 7", line);
}

static void sha256_can_be_read_on_the_way(void) {
    // The sums of "abc" and of the empty text are those of FIPS 180-4.
    char hex[65];
    struct sha256 *sum = sha256_new();
    sha256_hex(sum, hex);
    CHECK_TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", hex);
    sha256_add(sum, "a", 1);
    sha256_hex(sum, hex);
    sha256_add(sum, "bc", 2);
    sha256_hex(sum, hex);
    CHECK_TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", hex);
    sha256_free(sum);
    sha256_free(NULL);
}

static const struct test_case cases[] = {
    {"instruction sets are parsed or refused by name", instruction_sets_are_parsed_or_refused_by_name},
    {"counts and sizes are sane", counts_and_sizes_are_sane},
    {"the clock never runs backwards", the_clock_never_runs_backwards},
    {"log lines reach the callback", log_lines_reach_the_callback},
    {"SHA-256 can be read on the way", sha256_can_be_read_on_the_way},
};
TEST_MAIN("base/machine", cases)
