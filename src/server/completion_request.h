// The fields of POST /v1/completions, and the prompt its text or ids become.
#ifndef TF_SERVER_COMPLETION_REQUEST_H
#define TF_SERVER_COMPLETION_REQUEST_H

#include "server/prompt.h"

// Reads the fields that only this route has.
enum status completion_request_read(const struct fields *f, struct request *out) TF_MUST_CHECK;

// Tokenizes a text, or checks the range of ids; with "echo" also makes the text that the reply begins with.
enum status completion_request_prompt(const struct serving *s, const struct request *r, struct prompt *out,
                                      struct api_error *e) TF_MUST_CHECK;

#endif
