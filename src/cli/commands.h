// The commands, one file each (cmd_<name>.c): each prints its own result, main its error.
#ifndef TF_CLI_COMMANDS_H
#define TF_CLI_COMMANDS_H

#include "cli/options.h"

// STATUS_INVALID with *usage set means bad usage (exit 2); any other failure exits 1.
struct command_error {
    struct err err;
    bool usage;
};

typedef enum status command_fn(const struct options *o, struct command_error *e);

command_fn cmd_run, cmd_serve, cmd_info, cmd_bench, cmd_kcheck, cmd_tokenize, cmd_generate, cmd_logits, cmd_help;

// Marks the failure in `e` as bad usage and passes its status on.
static inline enum status command_usage(struct command_error *e, enum status s) {
    e->usage = true;
    return s;
}

#endif
