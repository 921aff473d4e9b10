// One request and its response, as the files of the HTTP layer share it.
#ifndef TF_SERVER_HTTP_EXCHANGE_H
#define TF_SERVER_HTTP_EXCHANGE_H

#include "server/http.h"
#include "server/http_head.h"

#include <microhttpd.h>
#include <stdatomic.h>

enum { HTTP_SET_MAX = 32 }; // headers that a handler may set

struct http_set {
    char *name, *value; // owned
};

// How far a server's stop has come.
struct http_stopping {
    atomic_bool refuses; // new requests
    atomic_bool gone;    // every client counts as gone
};

struct http_exchange {
    const struct http_options *options; // of the server; no zeroes in it
    const struct http_stopping *stopping;
    struct MHD_Connection *connection;
    int fd;

    // The request.
    char *target, *path, *head_bytes; // owned
    const char *target_in_place;      // where the library keeps the target
    struct http_head head;
    bool head_read;
    struct http_refusal refusal;
    const char *retry_after; // header of a refusal, or NULL
    struct buf body;
    uint64_t body_seen;     // bytes that came, kept or not
    uint64_t body_deadline; // monotonic ns

    // The response: made by http_reply or http_stream, handed over when the handler is done.
    struct http_set set[HTTP_SET_MAX];
    size_t n_set;
    struct MHD_Response *response;
    int status;
    bool streamed, abandoned; // abandoned: the response could not be made
    struct http_source source;
    struct buf piece; // what the source gave last
    size_t piece_sent;
    enum http_more more;
};

// Made when the request line has been read; NULL when there is no memory. `target` is where the library keeps it.
struct http_exchange *http_exchange_new(const struct http_options *options, const struct http_stopping *stopping,
                                        struct MHD_Connection *connection, const char *target);

// Closes the source and frees everything.
void http_exchange_free(struct http_exchange *x);

// The library's calls for one request: the head, pieces of the body, then the answer. Refuses from the start when
// `refusal` holds a status. MHD_NO closes the connection.
enum MHD_Result http_exchange_head(struct http_exchange *x, const char *method, const char *version,
                                   const struct http_refusal *refusal);
enum MHD_Result http_exchange_body(struct http_exchange *x, const char *bytes, size_t n);
enum MHD_Result http_exchange_answer(struct http_exchange *x);

#endif
