// serve: a model behind an HTTP address, until a signal asks to stop.
#include "cli/default_model.h"
#include "cli/run.h"
#include "cli/stop_signal.h"

#include "server/server.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// GRACE_MS: how long replies in progress may go on after the first signal.
enum { PATH_BYTES_MAX = 8192, PORT = 8080, GRACE_MS = 30000 };

// A served model, and what it is called.
struct service {
    struct run run;
    char own_name[PATH_BYTES_MAX];
    const char *names[OPTION_LIST_MAX + 1];
    size_t n_names;
};

// The last part of a path, without what a .gguf file's name ends in.
static void name_of_path(const char *path, char out[PATH_BYTES_MAX]) {
    char whole[PATH_MAX];
    const char *from = realpath(path, whole) ? whole : path, *slash = strrchr(from, '/');
    snprintf(out, PATH_BYTES_MAX, "%s", slash && slash[1] ? slash + 1 : from);
    size_t n = strlen(out);
    if (n > 5 && strcmp(out + n - 5, ".gguf") == 0) out[n - 5] = '\0';
}

static void set_names(struct service *s, const struct options *o, const char *path) {
    name_of_path(path, s->own_name);
    for (size_t i = 0; i < o->n_list; i++) s->names[s->n_names++] = o->list[i];
    if (s->n_names == 0) s->names[s->n_names++] = s->own_name;
}

static struct server_options server_options_of(struct service *s, const struct options *o) {
    struct run *r = &s->run;
    return (struct server_options){.serving = {.names = s->names,
                                               .n_names = s->n_names,
                                               .tokenizer = r->text.tokenizer,
                                               .chat = r->text.chat,
                                               .end_ids = r->end_ids,
                                               .n_end_ids = r->n_end_ids,
                                               .defaults = r->rule,
                                               .max_tokens = options_count(o, FLAG_MAX_TOKENS, 0),
                                               .date = options_text(o, FLAG_DATE),
                                               .arithmetic = r->session.backend->ops->arithmetic,
                                               .clock = r->session.clock},
                                   .engine = r->session.engine,
                                   .host = options_has(o, FLAG_HOST) ? options_text(o, FLAG_HOST) : "127.0.0.1",
                                   .port = (uint16_t)options_count(o, FLAG_PORT, PORT),
                                   .log = &r->session.log};
}

// Where clients of this machine find the server, whatever addresses it listens on.
static const char *reachable(const char *host) {
    bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    return any ? "127.0.0.1" : host;
}

static void announce(const struct service *s, const struct server_options *options, uint16_t port) {
    const char *host = reachable(options->host);
    bool bracketed = strchr(host, ':') != NULL;
    char address[512];
    snprintf(address, sizeof address, "http://%s%s%s:%u/v1", bracketed ? "[" : "", host, bracketed ? "]" : "", port);
    printf("serving %s at %s; try: curl %s/%s -d '%s'\n", s->names[0], address, address,
           s->run.text.chat ? "chat/completions" : "completions",
           s->run.text.chat ? "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}"
                            : "{\"prompt\": \"Hello\", \"max_tokens\": 50}");
    fflush(stdout);
}

static enum status serve(struct service *s, const struct options *o, struct stop_signal *stop, struct err *e) {
    struct server_options options = server_options_of(s, o);
    struct server *server;
    TRY(server_start(&options, &server, e));
    stop_signal_arm(stop);
    announce(s, &options, server_port(server));
    stop_signal_wait(stop);
    fputs("tensorfold: stopping once the replies in progress are done; interrupt again to stop at once\n", stderr);
    server_stop(server, GRACE_MS);
    return STATUS_OK;
}

static enum status open_and_serve(const char *path, const struct options *o, struct command_error *e) {
    struct service s = {0};
    struct stop_signal stop;
    TRY(stop_signal_open(&stop, &e->err));
    enum status status = run_open(&s.run, o, path, e);
    if (status == STATUS_OK) {
        set_names(&s, o, path);
        status = serve(&s, o, &stop, &e->err);
    }
    run_close(&s.run);
    stop_signal_close(&stop);
    return status;
}

enum status cmd_serve(const struct options *o, struct command_error *e) {
    struct buf path;
    buf_init(&path, PATH_BYTES_MAX);
    enum status status = default_model_find(o->operands[0], &path, &e->err);
    if (status == STATUS_OK) status = open_and_serve(path.data, o, e);
    buf_fini(&path);
    return status;
}
