// Errors are values: a status and one message that names the file, key, tensor or field, and what to do.
#ifndef TF_BASE_ERR_H
#define TF_BASE_ERR_H

#include <stdbool.h>

#define TF_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TF_MUST_CHECK __attribute__((warn_unused_result))

// X(name, short text, HTTP status)
#define STATUS_LIST(X)                                                                             \
    X(OK, "ok", 200)                                                                               \
    X(INVALID, "invalid input", 400)                                                               \
    X(UNSUPPORTED, "not supported", 400)                                                           \
    X(NOT_FOUND, "not found", 404)                                                                 \
    X(TOO_LARGE, "over a limit", 413)                                                              \
    X(IO, "input or output failed", 500)                                                           \
    X(NO_MEMORY, "out of memory", 503)                                                             \
    X(BUSY, "busy", 503)                                                                           \
    X(CANCELLED, "cancelled", 499)                                                                 \
    X(INTERNAL, "internal error", 500)

enum status {
#define X(name, text, http) STATUS_##name,
    STATUS_LIST(X)
#undef X
};

struct err {
    enum status status;
    char message[512]; // one sentence, no trailing newline; always terminated
};

// Records the first failure and returns its status; a later call keeps the first message. `e` may be NULL.
enum status err_set(struct err *e, enum status status, const char *format, ...) TF_PRINTF(3, 4);

// Puts "prefix: " before the message already recorded, so that a caller can name the file it was reading.
void err_prefix(struct err *e, const char *format, ...) TF_PRINTF(2, 3);

void err_clear(struct err *e);

// Short text of a status, never NULL.
const char *status_text(enum status status);

// HTTP status that answers a request which failed this way.
int status_http(enum status status);

// Returns from the calling function when `expr` is not STATUS_OK.
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        enum status try_status_ = (expr);                                                          \
        if (try_status_ != STATUS_OK) return try_status_;                                          \
    } while (0)

#endif
