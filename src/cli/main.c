// The program: picks the command, prints its failure, sets the exit status.
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/version.h"
#include "cli/visible.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static command_fn *const functions[COMMAND_COUNT] = {
    [COMMAND_RUN] = cmd_run,           [COMMAND_SERVE] = cmd_serve,   [COMMAND_INFO] = cmd_info,
    [COMMAND_BENCH] = cmd_bench,       [COMMAND_KCHECK] = cmd_kcheck, [COMMAND_TOKENIZE] = cmd_tokenize,
    [COMMAND_GENERATE] = cmd_generate, [COMMAND_LOGITS] = cmd_logits, [COMMAND_HELP] = cmd_help,
};

static int usage(const char *message, const char *hint) {
    fputs("tensorfold: ", stderr);
    visible_print_line(stderr, message);
    fprintf(stderr, " (try: tensorfold help%s%s)\n", hint ? " " : "", hint ? hint : "");
    return EXIT_USAGE;
}

static int failure(const char *message) {
    fputs("tensorfold: ", stderr);
    visible_print_line(stderr, message);
    fputc('\n', stderr);
    return EXIT_FAILED;
}

// What was printed must have arrived: a full disk is a failure too.
static int finish(void) {
    bool broken = fflush(stdout) != 0 || ferror(stdout);
    return broken ? failure("cannot write to standard output") : EXIT_OK;
}

static int run_command(enum command c, int argc, char **argv) {
    struct options options;
    struct command_error e = {0};
    if (options_parse(argc, argv, c, &options, &e.err) != STATUS_OK) return usage(e.err.message, command_row(c)->name);
    if (options_has(&options, FLAG_HELP)) {
        help_command(stdout, c);
        return finish();
    }
    enum status s = functions[c](&options, &e);
    if (s == STATUS_OK) return finish();
    fflush(stdout);
    return e.usage ? usage(e.err.message, command_row(c)->name) : failure(e.err.message);
}

// The number of a standard stream that came closed would go to a file or a socket, and what is printed into that. Each
// is opened the way that it is not used, so reading and writing still fail; the lowest free number is given first.
static void hold_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv) {
    hold_standard_streams();
    if (argc < 2) return usage("no command was given", NULL);
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_overview(stdout);
        return finish();
    }
    if (strcmp(name, "--version") == 0) {
        struct err e = {0};
        return version_print(stdout, &e) == STATUS_OK ? finish() : failure(e.message);
    }
    struct err e = {0};
    enum command c;
    if (command_find(name, &c, &e) != STATUS_OK) return usage(e.message, NULL);
    return run_command(c, argc - 1, argv + 1);
}
