// help: what the option table says, as help, manual page or completion script.
#include "cli/commands.h"
#include "cli/help.h"

enum status cmd_help(const struct options *o, struct command_error *e) {
    if (options_has(o, FLAG_MAN)) {
        help_manual(stdout, TF_VERSION);
    } else if (options_has(o, FLAG_COMPLETION)) {
        help_completion(stdout);
    } else if (o->n_operands == 0) {
        help_overview(stdout);
    } else {
        enum command c;
        enum status s = command_find(o->operands[0], &c, &e->err);
        if (s != STATUS_OK) return command_usage(e, s);
        help_command(stdout, c);
    }
    return STATUS_OK;
}
