// The kernel contract: all kernels pass, all planted faults go red, and the report says so.
#include "kernels/kcheck.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

struct report {
    uint32_t lines, with; // all lines; those that contain `text`
    const char *text;
    char last[512];
};

static void keep(void *context, const char *line) {
    struct report *r = context;
    r->lines++;
    if (r->text && strstr(line, r->text)) r->with++;
    snprintf(r->last, sizeof r->last, "%s", line);
    if (strncmp(line, "FAIL", 4) == 0 || strncmp(line, "MISSED", 6) == 0 || strncmp(line, "LIMIT", 5) == 0)
        test_fail(__FILE__, __LINE__, "%s", line);
}

static struct kcheck_summary run(struct report *r, struct kcheck_options o) {
    struct kcheck_summary s = {0};
    struct err e = {0};
    o.clock = clock_system();
    o.write = keep;
    o.context = r;
    CHECK_INT(STATUS_OK, kcheck_run(&o, &s, &e));
    return s;
}

static void passes_every_kernel(void) {
    struct report r = {.text = "skip    "};
    struct kcheck_summary s = run(&r, (struct kcheck_options){.seed = 7});
    char want[256];
    snprintf(want, sizeof want,
             "SUMMARY %u kernels: %u pass, 0 fail; %u controls: %u red as planted, 0 missed; 0 limit problems",
             s.passed, s.passed, s.red, s.red);
    CHECK_TEXT(want, r.last);
    CHECK(kcheck_good(&s));
    CHECK(s.passed >= 6 && s.red >= 10);
    CHECK_INT(s.skipped, r.with);
    CHECK_INT(s.passed + s.skipped + s.red + 1, r.lines);
}

static void takes_only_what_is_asked_for(void) {
    struct report r = {0};
    struct kcheck_summary s = run(&r, (struct kcheck_options){.op = "LINEAR.Q8_?.*", .isas = 1u << ISA_REF});
    CHECK_INT(1, s.passed);
    CHECK_INT(0, s.red);
    s = run(&r, (struct kcheck_options){.op = "linear.fault"});
    CHECK_INT(0, s.passed);
    CHECK_INT(13, s.red);
}

static void lists_without_running(void) {
    struct report r = {.text = "planted: "};
    struct kcheck_summary s = run(&r, (struct kcheck_options){.list = true, .op = "linear_quantise"});
    CHECK_INT(0, s.passed + s.red + s.skipped);
    CHECK_INT(4, r.with);
}

static void is_repeatable(void) {
    struct report first = {0}, second = {0};
    run(&first, (struct kcheck_options){.op = "linear.fault.half_sum", .seed = 3});
    run(&second, (struct kcheck_options){.op = "linear.fault.half_sum", .seed = 3});
    CHECK_TEXT(first.last, second.last);
}

static void parses_instruction_sets(void) {
    uint32_t isas;
    struct err e = {0};
    CHECK_INT(STATUS_OK, kcheck_parse_isas("avx512,ref", &isas, &e));
    CHECK_INT(1u << ISA_AVX512 | 1u << ISA_REF, isas);
    CHECK_INT(STATUS_INVALID, kcheck_parse_isas("avx2,mmx", &isas, &e));
    CHECK_TEXT("--isa: mmx is unknown; use ref, avx2 or avx512", e.message);
}

static const struct test_case cases[] = {
    {"passes every kernel and sees every planted fault", passes_every_kernel},
    {"takes only what is asked for", takes_only_what_is_asked_for},
    {"lists without running", lists_without_running},
    {"is repeatable", is_repeatable},
    {"parses instruction sets", parses_instruction_sets},
};
TEST_MAIN("kernels/kcheck", cases)
