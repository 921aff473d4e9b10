// Streamed replies of OpenAI's chat and completion routes: each function appends whole server-sent events.
#ifndef TF_SERVER_OPENAI_STREAM_H
#define TF_SERVER_OPENAI_STREAM_H

#include "server/api_error.h"
#include "server/reply_facts.h"
#include "text/reasoning.h"

// The first event: the role of a chat, the echoed prompt of a completion (none without one).
void openai_stream_begin(const struct reply_facts *f, const char *echo, size_t n, struct buf *out);
void openai_stream_text(const struct reply_facts *f, enum reasoning_part part, const char *text, size_t n,
                        struct buf *out);
// The finish reason with the figures, the usage where it was asked for, [DONE].
void openai_stream_end(const struct reply_facts *f, struct buf *out);
// What failed after the stream had begun, [DONE].
void openai_stream_fail(const struct api_error *e, struct buf *out);
// A comment that keeps proxies and clients waiting.
void openai_stream_ping(struct buf *out);

#endif
