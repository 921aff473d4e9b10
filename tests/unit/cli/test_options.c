// Command lines: what they mean, and what each wrong one is told.
#include "cli/options.h"
#include "tests/support/test.h"

#include <string.h>

enum { ARGUMENTS_MAX = 40 };

// Parses a command line given as one string with single blanks between arguments.
static enum status parse(const char *line, struct options *o, struct err *e) {
    static char copy[1024];
    char *argv[ARGUMENTS_MAX] = {0}, *rest = NULL;
    int argc = 0;
    memcpy(copy, line, strlen(line) + 1);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) argv[argc++] = word;
    enum command command;
    *e = (struct err){0};
    TRY(command_find(argv[0], &command, e));
    return options_parse(argc, argv, command, o, e);
}

static void check_refused(const char *line, const char *message) {
    struct options o;
    struct err e;
    CHECK_INT(STATUS_INVALID, parse(line, &o, &e));
    CHECK_TEXT(message, e.message);
}

static void reads_operands_and_flags_in_any_order(void) {
    struct options o;
    struct err e;
    CHECK_INT(STATUS_OK, parse("generate --ids 1,2 --json m.gguf --top-p 0.9 --seed=18446744073709551615", &o, &e));
    CHECK_INT(COMMAND_GENERATE, o.command);
    CHECK_INT(1, o.n_operands);
    CHECK_TEXT("m.gguf", o.operands[0]);
    CHECK_TEXT("1,2", options_text(&o, FLAG_IDS));
    CHECK(options_has(&o, FLAG_JSON));
    CHECK(options_number(&o, FLAG_TOP_P, 0) == 0.9);
    CHECK(options_count(&o, FLAG_SEED, 0) == UINT64_MAX);
    CHECK_INT(7, options_count(&o, FLAG_TOP_K, 7));
}

static void takes_everything_behind_two_dashes_as_operands(void) {
    struct options o;
    struct err e;
    CHECK_INT(STATUS_OK, parse("run --raw -- --json -x", &o, &e));
    CHECK_TEXT("--json", o.operands[0]);
    CHECK_TEXT("-x", o.operands[1]);
}

static void lets_a_later_flag_win(void) {
    struct options o;
    struct err e;
    CHECK_INT(STATUS_OK, parse("bench m --threads 2 --threads 3", &o, &e));
    CHECK_INT(3, options_count(&o, FLAG_THREADS, 0));
}

static void collects_stop_texts_in_order_and_bounds_them(void) {
    struct options o;
    struct err e;
    CHECK_INT(STATUS_OK, parse("run --stop a m p --stop b", &o, &e));
    CHECK_INT(2, o.n_list);
    CHECK_TEXT("a", o.list[0]);
    CHECK_TEXT("b", o.list[1]);
    check_refused("run --stop 1 --stop 2 --stop 3 --stop 4 --stop 5 --stop 6 --stop 7 --stop 8 --stop 9 --stop 10 "
                  "--stop 11 --stop 12 --stop 13 --stop 14 --stop 15 --stop 16 --stop 17",
                  "--stop may be given at most 16 times");
}

static void names_what_is_missing(void) {
    check_refused("info", "info needs MODEL");
    check_refused("generate m", "generate needs --ids IDS");
    check_refused("logits m --ids 1 --positions 0", "logits needs --npy FILE");
    check_refused("tokenize m", "tokenize needs --jsonl");
    check_refused("bench m --threads", "--threads needs an argument");
}

static void refuses_what_it_does_not_know(void) {
    check_refused("info a b", "info does not know what to do with b");
    check_refused("info a --npy x", "info has no flag --npy");
    check_refused("info a -q", "info has no flag -q");
    check_refused("info a --json=1", "--json takes no argument");
}

static void suggests_the_nearest_word(void) {
    check_refused("run --temprature 1", "run has no flag --temprature; did you mean --temperature?");
    check_refused("run --max-token=1 --max-tokns=1", "run has no flag --max-tokns; did you mean --max-tokens?");
    check_refused("tokenise m", "there is no command tokenise; did you mean tokenize?");
    check_refused("frobnicate", "there is no command frobnicate");
}

static void bounds_numbers(void) {
    check_refused("bench m --threads 0", "--threads takes a whole number from 1 to 1024, not 0");
    check_refused("bench m --threads 2x", "--threads takes a whole number from 1 to 1024, not 2x");
    check_refused("bench m --threads -1", "--threads takes a whole number from 1 to 1024, not -1");
    check_refused("run --temperature nan", "--temperature takes a number from 0 to 1000000, not nan");
    check_refused("run --top-p 1.5", "--top-p takes a number from 0 to 1, not 1.5");
    check_refused("run --seed 18446744073709551616",
                  "--seed takes a whole number of at most 64 bits, not 18446744073709551616");
}

static void takes_days_that_there_are(void) {
    struct options o;
    struct err e;
    CHECK_INT(STATUS_OK, parse("run --date 2024-02-29", &o, &e));
    CHECK_TEXT("2024-02-29", options_text(&o, FLAG_DATE));
    check_refused("run --date tomorrow", "--date takes a day as YYYY-MM-DD, not tomorrow");
    check_refused("serve --date 2026-02-29", "--date takes a day as YYYY-MM-DD, not 2026-02-29");
}

static void asks_nothing_more_when_help_is_wanted(void) {
    struct options o;
    struct err e;
    CHECK_INT(STATUS_OK, parse("logits --help", &o, &e));
    CHECK(options_has(&o, FLAG_HELP));
    CHECK_INT(STATUS_OK, parse("logits -h", &o, &e));
    CHECK(options_has(&o, FLAG_HELP));
}

static void gives_every_model_command_the_common_flags(void) {
    static const enum command models[] = {COMMAND_RUN,      COMMAND_INFO,     COMMAND_BENCH,
                                          COMMAND_TOKENIZE, COMMAND_GENERATE, COMMAND_LOGITS};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        CHECK(flag_is_of(FLAG_THREADS, models[i]));
        CHECK(flag_is_of(FLAG_ISA, models[i]));
        CHECK(flag_is_of(FLAG_PREFILL_WIDTH, models[i]));
    }
}

static const struct test_case cases[] = {
    {"reads operands and flags in any order", reads_operands_and_flags_in_any_order},
    {"takes everything behind two dashes as operands", takes_everything_behind_two_dashes_as_operands},
    {"lets a later flag win", lets_a_later_flag_win},
    {"collects stop texts in order and bounds them", collects_stop_texts_in_order_and_bounds_them},
    {"names what is missing", names_what_is_missing},
    {"refuses what it does not know", refuses_what_it_does_not_know},
    {"suggests the nearest word", suggests_the_nearest_word},
    {"bounds numbers", bounds_numbers},
    {"takes days that there are", takes_days_that_there_are},
    {"asks nothing more when help is wanted", asks_nothing_more_when_help_is_wanted},
    {"gives every model command the common flags", gives_every_model_command_the_common_flags},
};
TEST_MAIN("cli/options", cases)
