// The option table and its parser.
#include "cli/options.h"

#include "base/suggest.h"
#include "text/chat_context.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ON(c) (1u << COMMAND_##c)
#define ON_ALL ((1u << COMMAND_COUNT) - 1)
#define ON_MODELS (ON(RUN) | ON(SERVE) | ON(INFO) | ON(BENCH) | ON(TOKENIZE) | ON(GENERATE) | ON(LOGITS))

static const struct command_row commands[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, least, most, summary, about) \
    [COMMAND_##id] = {name, operands, least, most, summary, about},
#include "cli/options.def"
};

static const struct flag_row flags[FLAG_COUNT] = {
#define FLAG(id, name, kind, argument, least, most, commands, help) \
    [FLAG_##id] = {name, FLAG_KIND_##kind, argument, least, most, commands, help},
#include "cli/options.def"
};

// Flags without which a command cannot run.
static const struct {
    enum command command;
    enum flag flag;
} required[] = {
    {COMMAND_GENERATE, FLAG_IDS}, {COMMAND_LOGITS, FLAG_IDS},     {COMMAND_LOGITS, FLAG_POSITIONS},
    {COMMAND_LOGITS, FLAG_NPY},   {COMMAND_TOKENIZE, FLAG_JSONL},
};

const struct command_row *command_row(enum command c) { return &commands[c]; }
const struct flag_row *flag_row(enum flag f) { return &flags[f]; }

bool flag_is_required(enum flag f, enum command c) {
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (required[i].flag == f && required[i].command == c) return true;
    }
    return false;
}

enum status command_find(const char *name, enum command *out, struct err *e) {
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        *out = (enum command)i;
        return STATUS_OK;
    }
    const char *near = suggest(name, names, COMMAND_COUNT);
    if (near) return err_set(e, STATUS_INVALID, "there is no command %s; did you mean %s?", name, near);
    return err_set(e, STATUS_INVALID, "there is no command %s", name);
}

static enum status parse_count(const struct flag_row *row, const char *text, struct flag_value *v, struct err *e) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    bool digits = *text >= '0' && *text <= '9' && *end == '\0';
    if (!digits || errno || (double)n < row->least || (double)n > row->most) {
        if (isinf(row->most)) {
            return err_set(e, STATUS_INVALID, "--%s takes a whole number of at most 64 bits, not %s", row->name, text);
        }
        return err_set(e, STATUS_INVALID, "--%s takes a whole number from %.0f to %.0f, not %s", row->name, row->least,
                       row->most, text);
    }
    v->count = n;
    return STATUS_OK;
}

static enum status parse_number(const struct flag_row *row, const char *text, struct flag_value *v, struct err *e) {
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= row->least && x <= row->most)) {
        return err_set(e, STATUS_INVALID, "--%s takes a number from %.15g to %.15g, not %s", row->name,
                       row->least, row->most, text);
    }
    v->number = x;
    return STATUS_OK;
}

static enum status take_flag(enum flag f, const char *argument, struct options *o, struct err *e) {
    const struct flag_row *row = &flags[f];
    struct flag_value *v = &o->values[f];
    v->given = true;
    v->text = argument;
    switch (row->kind) {
    case FLAG_KIND_COUNT: return parse_count(row, argument, v, e);
    case FLAG_KIND_NUMBER: return parse_number(row, argument, v, e);
    case FLAG_KIND_DAY:
        if (chat_context_is_day(argument)) return STATUS_OK;
        return err_set(e, STATUS_INVALID, "--%s takes a day as YYYY-MM-DD, not %s", row->name, argument);
    case FLAG_KIND_LIST:
        if (!*argument) return err_set(e, STATUS_INVALID, "--%s may not be empty", row->name);
        if (o->n_list == OPTION_LIST_MAX) {
            return err_set(e, STATUS_INVALID, "--%s may be given at most %d times", row->name, OPTION_LIST_MAX);
        }
        o->list[o->n_list++] = argument;
        return STATUS_OK;
    case FLAG_KIND_SWITCH:
    case FLAG_KIND_TEXT: return STATUS_OK;
    }
    return STATUS_OK;
}

enum { FLAG_VAL = 256 }; // getopt's values of long flags start here, past all letters

// The flags of one command in getopt_long's form. Returns how many.
static size_t getopt_table(enum command command, struct option table[FLAG_COUNT + 1]) {
    size_t n = 0;
    for (int f = 0; f < FLAG_COUNT; f++) {
        if (!flag_is_of((enum flag)f, command)) continue;
        table[n++] = (struct option){.name = flags[f].name,
                                     .has_arg = flags[f].argument ? required_argument : no_argument,
                                     .val = FLAG_VAL + f};
    }
    table[n] = (struct option){0};
    return n;
}

static enum status refuse_unknown(const char *argument, enum command command, const struct option *table, size_t n,
                                  struct err *e) {
    const char *name = commands[command].name;
    const char *names[FLAG_COUNT];
    size_t length = strcspn(argument, "=");
    for (size_t i = 0; i < n; i++) {
        names[i] = table[i].name;
        if (length == strlen(names[i]) + 2 && strncmp(argument + 2, names[i], length - 2) == 0) {
            return err_set(e, STATUS_INVALID, "--%s takes no argument", names[i]);
        }
    }
    const char *near = strncmp(argument, "--", 2) == 0 ? suggest(argument + 2, names, n) : NULL;
    if (near) {
        return err_set(e, STATUS_INVALID, "%s has no flag %.*s; did you mean --%s?", name, (int)length, argument, near);
    }
    return err_set(e, STATUS_INVALID, "%s has no flag %.*s", name, (int)length, argument);
}

static enum status check_complete(const struct options *o, struct err *e) {
    const struct command_row *row = &commands[o->command];
    if (o->n_operands < row->least) return err_set(e, STATUS_INVALID, "%s needs %s", row->name, row->operands);
    for (int i = 0; i < FLAG_COUNT; i++) {
        if (!flag_is_required((enum flag)i, o->command) || options_has(o, (enum flag)i)) continue;
        const struct flag_row *f = &flags[i];
        return err_set(e, STATUS_INVALID, "%s needs --%s%s%s", row->name, f->name, f->argument ? " " : "",
                       f->argument ? f->argument : "");
    }
    return STATUS_OK;
}

enum status options_parse(int argc, char **argv, enum command command, struct options *out, struct err *e) {
    *out = (struct options){.command = command};
    struct option table[FLAG_COUNT + 1];
    size_t n = getopt_table(command, table);
    optind = 0; // glibc: start afresh
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", table, NULL)) != -1;) {
        if (c == 'h') {
            out->values[FLAG_HELP].given = true;
        } else if (c == ':') {
            return err_set(e, STATUS_INVALID, "%s needs an argument", argv[optind - 1]);
        } else if (c == '?') {
            const char letter[] = {'-', (char)optopt, '\0'};
            bool is_letter = optopt > 0 && optopt < FLAG_VAL;
            return refuse_unknown(is_letter ? letter : argv[optind - 1], command, table, n, e);
        } else {
            TRY(take_flag((enum flag)(c - FLAG_VAL), optarg, out, e));
        }
    }
    for (int i = optind; i < argc; i++) {
        if (out->n_operands == commands[command].most) {
            return err_set(e, STATUS_INVALID, "%s does not know what to do with %s", commands[command].name, argv[i]);
        }
        out->operands[out->n_operands++] = argv[i];
    }
    return options_has(out, FLAG_HELP) ? STATUS_OK : check_complete(out, e);
}
