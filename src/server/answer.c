// JSON answers.
#include "server/answer.h"

enum { BODY_MAX = 1 << 16 };

void answer_error(struct http_exchange *x, const struct api_error *e) {
    struct buf body;
    buf_init(&body, BODY_MAX);
    api_error_write(e, &body);
    if (e->http == 503) http_set_header(x, "Retry-After", "1");
    http_reply(x, e->http, "application/json", body.data, body.failed == STATUS_OK ? body.n : 0);
    buf_fini(&body);
}

void answer_json(struct http_exchange *x, int status, const struct buf *body) {
    if (body->failed == STATUS_OK) {
        http_reply(x, status, "application/json", body->data, body->n);
        return;
    }
    struct api_error e = {0};
    const struct err err = {STATUS_NO_MEMORY, "no memory for the answer"};
    api_error_from(&e, &err, NULL);
    answer_error(x, &e);
}
