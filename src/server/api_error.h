// Errors of the API: an HTTP status and OpenAI's envelope {"error": {message, type, param, code}}.
#ifndef TF_SERVER_API_ERROR_H
#define TF_SERVER_API_ERROR_H

#include "base/buf.h"
#include "base/err.h"

struct api_error {
    int http;         // 400 to 599; 0 = nothing failed
    const char *code; // what a program may test for ("context_length_exceeded"); NULL = none
    char param[128];  // the field at fault ("stop[2]"); "" = none
    char message[1024];
};

// Records a refusal (status 400) and returns STATUS_INVALID. `code` and `param` may be NULL. A later call keeps the
// first.
enum status api_error_refuse(struct api_error *e, const char *code, const char *param, const char *format, ...)
    TF_PRINTF(4, 5);

// The same with another HTTP status.
enum status api_error_answer(struct api_error *e, int http, const char *code, const char *format, ...) TF_PRINTF(4, 5);

// Records what a lower layer reports, with the HTTP status of its kind (base/err.h), and returns that kind.
enum status api_error_from(struct api_error *e, const struct err *from, const char *param);

// Appends the envelope. Text that is not whole UTF-8 is made so.
void api_error_write(const struct api_error *e, struct buf *out);

#endif
