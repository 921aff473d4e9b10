// The routes that generate nothing: what is served, and how the server is.
#include "base/json.h"
#include "server/answer.h"
#include "server/routes.h"
#include "server/server_state.h"

#include <inttypes.h>
#include <string.h>

enum { BODY_MAX = 1 << 20 };

static void write_model(const struct server *s, const char *name, struct buf *out) {
    buf_text(out, "{\"id\":");
    json_quote(out, name, strlen(name));
    buf_printf(out, ",\"object\":\"model\",\"created\":%" PRId64 ",\"owned_by\":\"tensorfold\"", s->started);
    buf_printf(out, ",\"context_length\":%" PRIu32 ",\"max_model_len\":%" PRIu32 "}", s->serving.context,
               s->serving.context);
}

void status_models(struct server *s, struct http_exchange *x, const char *tail) {
    (void)tail;
    struct buf body;
    buf_init(&body, BODY_MAX);
    buf_text(&body, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < s->serving.n_names; i++) {
        if (i) buf_byte(&body, ',');
        write_model(s, s->serving.names[i], &body);
    }
    buf_text(&body, "]}");
    answer_json(x, 200, &body);
    buf_fini(&body);
}

void status_one_model(struct server *s, struct http_exchange *x, const char *tail) {
    struct buf body;
    buf_init(&body, BODY_MAX);
    for (size_t i = 0; i < s->serving.n_names && !body.n; i++) {
        if (strcmp(s->serving.names[i], tail) == 0) write_model(s, tail, &body);
    }
    if (body.n) {
        answer_json(x, 200, &body);
    } else {
        struct api_error e = {0};
        api_error_answer(&e, 404, "model_not_found", "there is no model %s here; %s is served", tail,
                         s->serving.names[0]);
        answer_error(x, &e);
    }
    buf_fini(&body);
}

static void write_names(const struct server *s, struct buf *out) {
    buf_text(out, "\"model\":");
    json_quote(out, s->serving.names[0], strlen(s->serving.names[0]));
    buf_text(out, ",\"model_ids\":[");
    for (size_t i = 0; i < s->serving.n_names; i++) {
        if (i) buf_byte(out, ',');
        json_quote(out, s->serving.names[i], strlen(s->serving.names[i]));
    }
    buf_byte(out, ']');
}

void status_health(struct server *s, struct http_exchange *x, const char *tail) {
    (void)tail;
    struct worker_state w;
    worker_state(s->worker, &w);
    struct buf body;
    buf_init(&body, BODY_MAX);
    buf_printf(&body, "{\"status\":\"%s\",", w.ready ? "ok" : "failed");
    write_names(s, &body);
    buf_printf(&body, ",\"engine\":\"%s\",\"context_length\":%" PRIu32, s->serving.arithmetic, s->serving.context);
    buf_printf(&body, ",\"requests_running\":%" PRIu32 ",\"requests_waiting\":%" PRIu32, w.running, w.waiting);
    buf_printf(&body, ",\"requests_total\":%" PRIu64 ",\"requests_cancelled_total\":%" PRIu64, w.requests, w.cancelled);
    buf_printf(&body, ",\"requests_failed_total\":%" PRIu64 ",\"prompt_tokens_total\":%" PRIu64, w.failed,
               w.prompt_tokens);
    buf_printf(&body, ",\"completion_tokens_total\":%" PRIu64 "}", w.reply_tokens);
    answer_json(x, w.ready ? 200 : 503, &body);
    buf_fini(&body);
}
