// Streamed replies of OpenAI's chat and completion routes, as whole server-sent events.
#ifndef TF_SERVER_OPENAI_STREAM_H
#define TF_SERVER_OPENAI_STREAM_H

#include "server/api_error.h"
#include "server/reply_facts.h"
#include "text/reasoning.h"

// Text on its way into events: what comes at once becomes one event a part.
struct openai_stream {
    const struct reply_facts *facts;
    enum reasoning_part part; // of the text gathered
    struct buf text;
    struct buf *out; // where events go
};

void openai_stream_init(struct openai_stream *s, const struct reply_facts *facts);
void openai_stream_fini(struct openai_stream *s);

// The first event: the role of a chat, the echoed prompt of a completion (none without one).
void openai_stream_begin(struct openai_stream *s, const char *echo, size_t n);

reasoning_sink openai_stream_take; // context: the stream
void openai_stream_flush(struct openai_stream *s); // what was taken becomes an event

// The finish reason with the figures, the usage where it was asked for, [DONE].
void openai_stream_end(struct openai_stream *s);
// What failed after the stream had begun, [DONE].
void openai_stream_fail(struct openai_stream *s, const struct api_error *e);
// A comment that keeps proxies and clients waiting.
void openai_stream_ping(struct openai_stream *s);

#endif
