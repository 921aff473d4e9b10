// Answers that are one JSON object.
#ifndef TF_SERVER_ANSWER_H
#define TF_SERVER_ANSWER_H

#include "server/api_error.h"
#include "server/http.h"

// Sends a body that was written into `body`, or the failure to write it.
void answer_json(struct http_exchange *x, int status, const struct buf *body);
void answer_error(struct http_exchange *x, const struct api_error *e);

#endif
