// kcheck: the kernel contract, checked on this machine.
#include "cli/commands.h"

#include "kernels/kcheck.h"

#include <stdio.h>

static void print_line(void *context, const char *line) {
    (void)context;
    puts(line);
    fflush(stdout);
}

enum status cmd_kcheck(const struct options *o, struct command_error *e) {
    struct kcheck_options k = {.op = options_text(o, FLAG_OP),
                               .seed = options_count(o, FLAG_SEED, 0),
                               .bench = options_has(o, FLAG_SPEED),
                               .list = options_has(o, FLAG_LIST),
                               .clock = clock_system(),
                               .write = print_line};
    if (options_has(o, FLAG_ISA)) {
        enum status s = kcheck_parse_isas(options_text(o, FLAG_ISA), &k.isas, &e->err);
        if (s != STATUS_OK) return command_usage(e, s);
    }
    struct kcheck_summary summary;
    TRY(kcheck_run(&k, &summary, &e->err));
    if (!summary.visited) return err_set(&e->err, STATUS_NOT_FOUND, "no check matches; kcheck --list names them");
    if (kcheck_good(&summary)) return STATUS_OK;
    return err_set(&e->err, STATUS_INTERNAL, "%u kernels failed, %u planted faults were missed, %u limit problems",
                   summary.failed, summary.missed, summary.limits);
}
