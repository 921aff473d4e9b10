// Starting and stopping: the worker first, then the address; the other way round at the end.
#include "server/server_state.h"

#include "base/mem.h"
#include "server/reply_text.h"
#include "server/routes.h"

#include <time.h>

enum status server_start(const struct server_options *options, struct server **out, struct err *e) {
    struct server *s = mem_new(1, sizeof *s);
    if (!s) return err_set(e, STATUS_NO_MEMORY, "no memory for the server");
    const struct model_geometry *geometry = engine_geometry(options->engine);
    s->serving = options->serving;
    s->serving.context = geometry->context;
    s->serving.vocab = geometry->vocab;
    s->serving.token_bytes = reply_rule_token_bytes(options->serving.tokenizer);
    s->log = options->log;
    s->started = (int64_t)time(NULL);
    const struct worker_options worker = {.engine = options->engine, .log = options->log};
    enum status status = worker_start(&worker, &s->worker, e);
    if (status == STATUS_OK) {
        const struct http_options http = {.host = options->host,
                                          .port = options->port,
                                          .handle = routes_handle,
                                          .refuse = routes_refuse,
                                          .context = s,
                                          .log = options->log};
        status = http_start(&http, &s->http, e);
    }
    if (status != STATUS_OK) {
        server_stop(s, 0);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

uint16_t server_port(const struct server *s) { return http_port(s->http); }

void server_stop(struct server *s, uint32_t grace_ms) {
    if (s->http) http_stop(s->http, grace_ms);
    if (s->worker) worker_stop(s->worker, 0);
    mem_free(s);
}
