// Refusals, failures and the envelope they are sent in.
#include "server/api_error.h"

#include "base/json.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void record(struct api_error *e, int http, const char *code, const char *param) {
    e->http = http;
    e->code = code;
    snprintf(e->param, sizeof e->param, "%s", param ? param : "");
}

enum status api_error_refuse(struct api_error *e, const char *code, const char *param, const char *format, ...) {
    if (e->http) return STATUS_INVALID;
    record(e, 400, code, param);
    va_list args;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return STATUS_INVALID;
}

enum status api_error_answer(struct api_error *e, int http, const char *code, const char *format, ...) {
    if (e->http) return STATUS_INVALID;
    record(e, http, code, NULL);
    va_list args;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return STATUS_INVALID;
}

enum status api_error_from(struct api_error *e, const struct err *from, const char *param) {
    if (e->http) return from->status;
    int http = status_http(from->status);
    record(e, http == 413 ? 400 : http, http == 503 ? "busy" : NULL, param);
    snprintf(e->message, sizeof e->message, "%s", from->message);
    return from->status;
}

static void quote(struct buf *out, const char *text) {
    struct buf whole;
    buf_init(&whole, 4 * sizeof(struct api_error));
    utf8_append_lossy(&whole, text, strlen(text));
    json_quote(out, whole.n ? whole.data : "", whole.n);
    buf_fini(&whole);
}

void api_error_write(const struct api_error *e, struct buf *out) {
    buf_text(out, "{\"error\":{\"message\":");
    quote(out, e->message);
    buf_printf(out, ",\"type\":\"%s\",\"param\":", e->http < 500 ? "invalid_request_error" : "server_error");
    if (e->param[0]) {
        quote(out, e->param);
    } else {
        buf_text(out, "null");
    }
    buf_text(out, ",\"code\":");
    if (e->code) {
        quote(out, e->code);
    } else {
        buf_text(out, "null");
    }
    buf_text(out, "}}");
}
