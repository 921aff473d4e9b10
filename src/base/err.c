// Errors as values: recording, prefixing and naming them.
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    int http;
} statuses[] = {
#define X(name, text, http) {text, http},
    STATUS_LIST(X)
#undef X
};

enum status err_set(struct err *e, enum status status, const char *format, ...) {
    if (!e || e->status != STATUS_OK) return e ? e->status : status;
    e->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return status;
}

void err_prefix(struct err *e, const char *format, ...) {
    if (!e || e->status == STATUS_OK) return;
    char old[sizeof e->message];
    memcpy(old, e->message, sizeof old);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof e->message) return;
    snprintf(e->message + n, sizeof e->message - (size_t)n, ": %.*s",
             (int)(sizeof e->message - (size_t)n), old);
}

void err_clear(struct err *e) {
    if (!e) return;
    e->status = STATUS_OK;
    e->message[0] = '\0';
}

const char *status_text(enum status status) {
    size_t i = (size_t)status;
    return i < sizeof statuses / sizeof statuses[0] ? statuses[i].text : "unknown";
}

int status_http(enum status status) {
    size_t i = (size_t)status;
    return i < sizeof statuses / sizeof statuses[0] ? statuses[i].http : 500;
}
