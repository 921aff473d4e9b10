// The fields of POST /v1/chat/completions, and the prompt its conversation becomes.
#ifndef TF_SERVER_CHAT_REQUEST_H
#define TF_SERVER_CHAT_REQUEST_H

#include "server/prompt.h"

// Reads the fields that only this route has.
enum status chat_request_read(const struct fields *f, struct request *out) TF_MUST_CHECK;

// Renders the conversation with the checkpoint's template and tokenizes it.
enum status chat_request_prompt(const struct serving *s, const struct request *r, struct prompt *out,
                                struct api_error *e) TF_MUST_CHECK;

#endif
