// HTTP/1.1 for the routes: bounded requests in, responses out, whole or streamed. Knows no API and no model.
//
// One thread a connection, so a handler may take its time: it parses, renders and waits for tokens in its own thread.
#ifndef TF_SERVER_HTTP_H
#define TF_SERVER_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_server;
struct http_exchange; // one request and its response; lives until its handler and its source are done

// Answers one request: calls http_reply or http_stream exactly once before it returns. Runs on the connection's thread.
typedef void http_handler(void *context, struct http_exchange *x);

struct http_options {
    const char *host; // a numeric address or a name: "127.0.0.1"
    uint16_t port;    // 0 = any free one
    http_handler *handle;
    void *context;
    const struct log *log;    // or NULL
    uint32_t connections_max; // 0 = 512; one more gets 503 with Retry-After, or is closed
    size_t body_max;          // 0 = 32 MiB; a longer body gets 413 naming the limit, and the connection closes
    uint32_t idle_s, stall_s; // 0 = 900 between requests, 120 while reading or writing one
    // Answers a request that never reaches `handle` (malformed, over a limit, too many connections) with http_reply in
    // the routes' own form; the connection closes behind it. Only the message is known then: no path, no header, no
    // body. NULL = plain text. What the library itself refuses is answered with its own few lines of HTML.
    void (*refuse)(void *context, struct http_exchange *x, int status, const char *message);
};

// Listens and answers. An address that cannot be had is one sentence that says what to do.
enum status http_start(const struct http_options *options, struct http_server **out, struct err *e) TF_MUST_CHECK;
uint16_t http_port(const struct http_server *s);

// Stops accepting at once; exchanges in progress may go on for grace_ms, then their clients count as gone. Returns when
// every handler and source has returned.
void http_stop(struct http_server *s, uint32_t grace_ms);

// The request. Strings live as long as the exchange.
const char *http_method(const struct http_exchange *x); // "POST"
const char *http_path(const struct http_exchange *x);   // as sent, without the query
const char *http_header(const struct http_exchange *x, const char *name); // NULL when absent; names in any case
const char *http_body(const struct http_exchange *x, size_t *n);

// True once the client has closed or reset its side; never waits. A handler that waits asks this now and then.
bool http_client_gone(struct http_exchange *x);

// A header of the response to come. Before http_reply or http_stream.
void http_set_header(struct http_exchange *x, const char *name, const char *value);

// The whole response. `body` is copied.
void http_reply(struct http_exchange *x, int status, const char *content_type, const char *body, size_t n);

enum http_more {
    HTTP_MORE, // call again
    HTTP_END,  // what was appended is the last of the body
    HTTP_ABORT // the body cannot be finished: the connection closes without its proper end
};

// Gives a streamed body piece by piece.
struct http_source {
    // Appends bytes to `out`, waiting for them if it must, though never longer than about a second without appending
    // something or asking http_client_gone. Called only when the client has taken the bytes before.
    enum http_more (*next)(void *context, struct http_exchange *x, struct buf *out);
    // Always called once in the end: after the last byte, or when the client is gone.
    void (*close)(void *context);
    void *context;
};

// A response whose body is streamed (chunked, not buffered) after the handler has returned.
void http_stream(struct http_exchange *x, int status, const char *content_type, const struct http_source *source);

#endif
