// The manual page (roff, man macros) and the completion script, made from the option table.
#include "cli/help.h"

#include <string.h>

// Running text: a hyphen becomes a real one, a backslash is escaped, and no line may start with a control character.
static void print_roff(FILE *out, const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '-') {
            fputs("\\-", out);
        } else if (*text == '\\') {
            fputs("\\e", out);
        } else {
            fputc(*text, out);
        }
    }
}

static void print_entry(FILE *out, const struct flag_row *row) {
    fputs(".TP\n.B ", out);
    fputs("\\-\\-", out);
    print_roff(out, row->name);
    if (row->argument) fprintf(out, " \\fI%s\\fR", row->argument);
    fputc('\n', out);
    print_roff(out, row->help);
    fputs(".\n", out);
}

static void print_command(FILE *out, enum command c) {
    const struct command_row *row = command_row(c);
    char usage[HELP_USAGE_BYTES];
    help_usage(c, usage);
    fputs(".SS \"", out);
    print_roff(out, usage);
    fputs("\"\n", out);
    print_roff(out, row->about);
    fputc('\n', out);
    for (int f = 0; f < FLAG_COUNT; f++) {
        if (f != FLAG_HELP && flag_is_of((enum flag)f, c)) print_entry(out, flag_row((enum flag)f));
    }
}

void help_manual(FILE *out, const char *version) {
    fprintf(out, ".TH TENSORFOLD 1 \"\" \"tensorfold %s\" \"User Commands\"\n", version);
    fputs(".SH NAME\ntensorfold \\- run language models on this machine, with exact replies\n"
          ".SH SYNOPSIS\n.B tensorfold\n.I command\n[\\fIarguments\\fR]\n"
          ".SH DESCRIPTION\n"
          "A reply depends on the checkpoint, the request and the arithmetic version, and on nothing else: threads, "
          "instruction set and pass width never change a token.\n"
          ".SH COMMANDS\nEvery command takes\n.BR \\-\\-help .\n",
          out);
    for (int c = 0; c < COMMAND_COUNT; c++) print_command(out, (enum command)c);
    fputs(".SH IN A CHAT\n"
          "Enter sends, Alt\\-Enter starts a new line, pasted text may have many lines. Ctrl\\-C stops the reply, "
          "Ctrl\\-D ends the chat. Lines that start with a slash are commands;\n.B /help\nlists them.\n"
          ".SH EXIT STATUS\n0 on success, 1 on a failure (one message on standard error), 2 on bad usage.\n"
          ".SH ENVIRONMENT\n.TP\n.B XDG_CACHE_HOME\nwhere the cache folder lies (default: ~/.cache).\n"
          ".SH FILES\n.TP\n.I ~/.cache/tensorfold/models\ndownloaded models, the default model among them.\n"
          ".TP\n.I ~/.cache/tensorfold/history\nlines entered in chats, readable by their owner only.\n",
          out);
}

void help_completion(FILE *out) {
    fputs("# bash completion for tensorfold\n_tensorfold() {\n    local word=${COMP_WORDS[COMP_CWORD]} flags\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"",
          out);
    for (int c = 0; c < COMMAND_COUNT; c++) fprintf(out, "%s ", command_row((enum command)c)->name);
    fputs("--version --help\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (int c = 0; c < COMMAND_COUNT; c++) {
        fprintf(out, "    %s) flags=\"", command_row((enum command)c)->name);
        const char *gap = "";
        for (int f = 0; f < FLAG_COUNT; f++) {
            if (!flag_is_of((enum flag)f, (enum command)c)) continue;
            fprintf(out, "%s--%s", gap, flag_row((enum flag)f)->name);
            gap = " ";
        }
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
          "complete -o filenames -F _tensorfold tensorfold\n",
          out);
}
