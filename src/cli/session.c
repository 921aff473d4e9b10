// Opening and closing what the model commands work on.
#include "cli/session.h"

#include "cli/visible.h"

#include <stdio.h>

static void write_log(void *context, enum log_level level, const char *line) {
    static const char *const names[] = {"error: ", "warning: ", "", ""};
    const struct options *o = context;
    if (level > LOG_LEVEL_WARN && !options_has(o, FLAG_VERBOSE)) return;
    fprintf(stderr, "tensorfold: %s", names[level]);
    visible_print_line(stderr, line);
    fputc('\n', stderr);
}

enum status session_isa(const struct options *o, enum isa *out, struct command_error *e) {
    *out = isa_best();
    if (!options_has(o, FLAG_ISA)) return STATUS_OK;
    enum status s = isa_parse(options_text(o, FLAG_ISA), out, &e->err);
    if (s == STATUS_INVALID) e->usage = true;
    return s;
}

enum status session_backend(const struct options *o, struct backend **out, struct command_error *e) {
    struct backend_options b = {.threads = (uint32_t)options_count(o, FLAG_THREADS, 0)};
    TRY(session_isa(o, &b.isa, e));
    return backend_open_cpu(&b, out, &e->err);
}

struct model_options session_model_options(const struct options *o) {
    return (struct model_options){.context = options_count(o, FLAG_CONTEXT, 0),
                                  .rows_max = (uint32_t)options_count(o, FLAG_PREFILL_WIDTH, 0)};
}

enum status session_open(struct session *s, const struct options *o, const char *path, struct command_error *e) {
    *s = (struct session){.path = path, .clock = clock_system(), .log = {write_log, (void *)o}};
    s->opened_ns = clock_now_ns(&s->clock);
    TRY(session_backend(o, &s->backend, e));
    return checkpoint_open(path, &s->checkpoint, &e->err);
}

enum status session_load(struct session *s, const struct options *o, struct err *e) {
    struct model_options m = session_model_options(o);
    TRY(model_open(s->checkpoint, s->backend, &m, &s->log, &s->model, e));
    struct engine_options options = {.clock = s->clock,
                                     .log = &s->log,
                                     .prefill_width = (uint32_t)options_count(o, FLAG_PREFILL_WIDTH, 0),
                                     .prompt_round_ms = 500};
    return engine_new(s->model, &options, &s->engine, e);
}

void session_close(struct session *s) {
    if (s->engine) engine_free(s->engine);
    if (s->model) s->model->ops->close(s->model);
    if (s->backend) s->backend->ops->close(s->backend);
    if (s->checkpoint) checkpoint_close(s->checkpoint);
    *s = (struct session){0};
}

enum status session_check_ids(const struct session *s, const int32_t *ids, size_t n, struct err *e) {
    uint32_t vocab = s->model->geometry.vocab;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= 0 && (uint32_t)ids[i] < vocab) continue;
        return err_set(e, STATUS_INVALID, "token id %d at position %zu is outside the model's %u ids", ids[i], i,
                       vocab);
    }
    return STATUS_OK;
}
