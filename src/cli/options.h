// What was asked for on the command line, parsed against the table in options.def.
#ifndef TF_CLI_OPTIONS_H
#define TF_CLI_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command {
#define COMMAND(id, ...) COMMAND_##id,
#include "cli/options.def"
    COMMAND_COUNT
};

enum flag {
#define FLAG(id, ...) FLAG_##id,
#include "cli/options.def"
    FLAG_COUNT
};

enum flag_kind {
    FLAG_KIND_SWITCH,
    FLAG_KIND_COUNT,  // a whole number
    FLAG_KIND_NUMBER, // a decimal number
    FLAG_KIND_TEXT,   // the last one given counts
    FLAG_KIND_DAY,    // YYYY-MM-DD, a day that there is
    FLAG_KIND_LIST,   // may be repeated
};

struct command_row {
    const char *name, *operands;
    size_t least, most; // operands it takes
    const char *summary, *about;
};

struct flag_row {
    const char *name;
    enum flag_kind kind;
    const char *argument; // NULL for a switch
    double least, most;
    uint32_t commands; // bit set of enum command
    const char *help;
};

const struct command_row *command_row(enum command c);
const struct flag_row *flag_row(enum flag f);
static inline bool flag_is_of(enum flag f, enum command c) { return flag_row(f)->commands >> c & 1; }
bool flag_is_required(enum flag f, enum command c); // the command cannot run without it

enum { OPERANDS_MAX = 2, OPTION_LIST_MAX = 16 };

struct flag_value {
    bool given;
    uint64_t count;
    double number;
    const char *text;
};

// Strings are argv's own.
struct options {
    enum command command;
    const char *operands[OPERANDS_MAX]; // NULL where absent
    size_t n_operands;
    struct flag_value values[FLAG_COUNT];
    const char *list[OPTION_LIST_MAX]; // what the one repeatable flag was given
    size_t n_list;
};

// Finds a command by its name; an unknown one is an error that suggests the nearest.
enum status command_find(const char *name, enum command *out, struct err *e) TF_MUST_CHECK;

// Parses the arguments of a command; argv[0] is the command's name. Flags and operands may be mixed; "--" ends the
// flags. argv is permuted. Every failure is bad usage. With --help nothing else is demanded.
enum status options_parse(int argc, char **argv, enum command command, struct options *out,
                          struct err *e) TF_MUST_CHECK;

static inline bool options_has(const struct options *o, enum flag f) { return o->values[f].given; }

static inline const char *options_text(const struct options *o, enum flag f) { return o->values[f].text; }

static inline uint64_t options_count(const struct options *o, enum flag f, uint64_t otherwise) {
    return o->values[f].given ? o->values[f].count : otherwise;
}

static inline double options_number(const struct options *o, enum flag f, double otherwise) {
    return o->values[f].given ? o->values[f].number : otherwise;
}

#endif
