// Help, manual page and completion: nothing of the option table is left out.
#include "base/mem.h"
#include "cli/help.h"
#include "tests/support/test.h"

#include <string.h>

enum { TEXT_MAX = 1 << 20 };

static char text[TEXT_MAX];

// Runs a printer into `text`.
#define CAPTURE(call)                                                                              \
    do {                                                                                           \
        FILE *out = fmemopen(text, sizeof text, "w");                                              \
        call;                                                                                      \
        fclose(out);                                                                               \
    } while (0)

static void check_contains(const char *what) {
    if (!strstr(text, what)) test_fail(__FILE__, __LINE__, "expected %s in: %.200s", what, text);
}

static void lists_every_command_in_the_overview(void) {
    CAPTURE(help_overview(out));
    for (int c = 0; c < COMMAND_COUNT; c++) {
        check_contains(command_row((enum command)c)->name);
        check_contains(command_row((enum command)c)->summary);
    }
}

static void lists_exactly_the_flags_of_a_command(void) {
    for (int c = 0; c < COMMAND_COUNT; c++) {
        CAPTURE(help_command(out, (enum command)c));
        for (int f = 0; f < FLAG_COUNT; f++) {
            char line[64];
            snprintf(line, sizeof line, "\n  --%s", flag_row((enum flag)f)->name);
            bool there = false;
            for (const char *at = text; (at = strstr(at, line)); at++) there = there || strchr(" \n", at[strlen(line)]);
            CHECK_INT(flag_is_of((enum flag)f, (enum command)c), there);
        }
    }
}

static void says_which_flags_a_command_cannot_do_without(void) {
    CAPTURE(help_command(out, COMMAND_LOGITS));
    check_contains("usage: tensorfold logits MODEL --ids IDS --positions LIST --npy FILE [FLAGS]\n");
    CAPTURE(help_command(out, COMMAND_TOKENIZE));
    check_contains("usage: tensorfold tokenize MODEL --jsonl [FLAGS]\n");
    CAPTURE(help_command(out, COMMAND_KCHECK));
    check_contains("usage: tensorfold kcheck [FLAGS]\n");
    CAPTURE(help_manual(out, "1.2.3"));
    check_contains(".SS \"tensorfold generate MODEL \\-\\-ids IDS\"\n");
}

static void keeps_help_within_80_columns(void) {
    for (int c = 0; c < COMMAND_COUNT; c++) {
        CAPTURE(help_command(out, (enum command)c));
        for (const char *line = text; *line;) {
            size_t n = strcspn(line, "\n");
            if (n > 80) test_fail(__FILE__, __LINE__, "%zu columns: %.*s", n, (int)n, line);
            line += n + (line[n] == '\n');
        }
    }
}

static void puts_every_command_and_flag_into_the_manual(void) {
    CAPTURE(help_manual(out, "1.2.3"));
    check_contains("tensorfold 1.2.3");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        char heading[64];
        snprintf(heading, sizeof heading, ".SS \"tensorfold %s", command_row((enum command)c)->name);
        check_contains(heading);
    }
    check_contains("\\-\\-prefill\\-width \\fIN\\fR");
    check_contains("\\-\\-min\\-p \\fIP\\fR");
}

static void completes_every_command_and_flag(void) {
    CAPTURE(help_completion(out));
    for (int c = 0; c < COMMAND_COUNT; c++) {
        char row[64];
        snprintf(row, sizeof row, "    %s) flags=\"", command_row((enum command)c)->name);
        check_contains(row);
    }
    check_contains("--help\" ;;");
}

static const struct test_case cases[] = {
    {"lists every command in the overview", lists_every_command_in_the_overview},
    {"lists exactly the flags of a command", lists_exactly_the_flags_of_a_command},
    {"says which flags a command cannot do without", says_which_flags_a_command_cannot_do_without},
    {"keeps help within 80 columns", keeps_help_within_80_columns},
    {"puts every command and flag into the manual", puts_every_command_and_flag_into_the_manual},
    {"completes every command and flag", completes_every_command_and_flag},
};
TEST_MAIN("cli/help", cases)
