// Help texts, wrapped to 80 columns.
#include "cli/help.h"

#include <string.h>

enum { COLUMNS = 80, HELP_INDENT = 24 };

// Prints `text` broken at blanks so that no line passes COLUMNS; the first line starts at column `at`, others at
// `indent`.
static void print_wrapped(FILE *out, const char *text, size_t at, size_t indent) {
    for (const char *word = text; *word;) {
        size_t n = strcspn(word, " ");
        bool fresh = at == indent;
        if (!fresh && at + 1 + n > COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
            fresh = true;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", (int)n, word);
        at += n + (fresh ? 0 : 1);
        word += n;
        word += strspn(word, " ");
    }
    fputc('\n', out);
}

void help_overview(FILE *out) {
    fprintf(out, "usage: tensorfold COMMAND [ARGUMENTS]\n\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const struct command_row *row = command_row((enum command)c);
        fprintf(out, "  %-10s %s\n", row->name, row->summary);
    }
    fputs("\n`tensorfold help COMMAND` lists what a command takes, `tensorfold --version` tells of this build.\n", out);
}

static void print_flag(FILE *out, enum flag f) {
    const struct flag_row *row = flag_row(f);
    int n = fprintf(out, "  --%s%s%s", row->name, row->argument ? " " : "", row->argument ? row->argument : "");
    if (n + 1 >= HELP_INDENT) n = fprintf(out, "\n") - 1;
    fprintf(out, "%*s", HELP_INDENT - n, "");
    print_wrapped(out, row->help, HELP_INDENT, HELP_INDENT);
}

void help_usage(enum command command, char out[HELP_USAGE_BYTES]) {
    const struct command_row *row = command_row(command);
    snprintf(out, HELP_USAGE_BYTES, "tensorfold %s%s%s", row->name, *row->operands ? " " : "", row->operands);
    for (int i = 0; i < FLAG_COUNT; i++) {
        if (!flag_is_required((enum flag)i, command)) continue;
        const struct flag_row *f = flag_row((enum flag)i);
        size_t n = strlen(out);
        snprintf(out + n, HELP_USAGE_BYTES - n, " --%s%s%s", f->name, f->argument ? " " : "",
                 f->argument ? f->argument : "");
    }
}

void help_command(FILE *out, enum command command) {
    const struct command_row *row = command_row(command);
    char usage[HELP_USAGE_BYTES];
    help_usage(command, usage);
    fprintf(out, "usage: %s [FLAGS]\n\n", usage);
    print_wrapped(out, row->about, 0, 0);
    fputc('\n', out);
    for (int f = 0; f < FLAG_COUNT; f++) {
        if (flag_is_of((enum flag)f, command)) print_flag(out, (enum flag)f);
    }
}
