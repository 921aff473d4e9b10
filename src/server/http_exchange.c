// One exchange: the request comes in and is judged, the handler answers, the response goes out.
#include "server/http_exchange.h"

#include "base/clock.h"
#include "base/mem.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

// A refused body is read on and thrown away up to DISCARD_MAX more, so that a client that is still sending gets to read
// the answer; DISCARD_S: as long as it does send. BODY_STALLS: a body may take that many stall times in all.
enum { DISCARD_MAX = 64 << 20, DISCARD_S = 2, BODY_STALLS = 5, PIECE_MAX = 64 << 20, BLOCK = 16384 };

static const struct http_refusal over_body_max = {413, NULL}; // its message names the limit

struct http_exchange *http_exchange_new(const struct http_options *options, const struct http_stopping *stopping,
                                        struct MHD_Connection *connection, const char *target) {
    struct http_exchange *x = mem_new(1, sizeof *x);
    if (!x) return NULL;
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    x->options = options;
    x->stopping = stopping;
    x->connection = connection;
    x->fd = fd ? fd->connect_fd : -1;
    x->target_in_place = target;
    x->target = mem_string(target, strlen(target));
    x->path = mem_new(strlen(target) + 2, 1);
    buf_init(&x->body, options->body_max);
    buf_init(&x->piece, PIECE_MAX);
    if (x->target && x->path) return x;
    http_exchange_free(x);
    return NULL;
}

void http_exchange_free(struct http_exchange *x) {
    if (!x) return;
    if (x->source.close) x->source.close(x->source.context);
    for (size_t i = 0; i < x->n_set; i++) {
        mem_free(x->set[i].name);
        mem_free(x->set[i].value);
    }
    buf_fini(&x->body);
    buf_fini(&x->piece);
    mem_free(x->target);
    mem_free(x->path);
    mem_free(x->head_bytes);
    mem_free(x);
}

const char *http_method(const struct http_exchange *x) { return x->head.method; }
const char *http_path(const struct http_exchange *x) { return x->path; }

const char *http_header(const struct http_exchange *x, const char *name) { return http_head_field(&x->head, name); }

const char *http_body(const struct http_exchange *x, size_t *n) {
    *n = x->body.n;
    return x->body.data ? x->body.data : "";
}

bool http_client_gone(struct http_exchange *x) {
    if (atomic_load(&x->stopping->gone)) return true;
#ifdef POLLRDHUP
    // Sees the end of the client's side behind bytes not read yet, and works for any descriptor.
    struct pollfd p = {.fd = x->fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
#else
    char byte;
    return recv(x->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
#endif
}

void http_set_header(struct http_exchange *x, const char *name, const char *value) {
    char *n = mem_string(name, strlen(name)), *v = mem_string(value, strlen(value));
    if (n && v && x->n_set < HTTP_SET_MAX) {
        x->set[x->n_set++] = (struct http_set){.name = n, .value = v};
        return;
    }
    log_line(x->options->log, LOG_LEVEL_ERROR, "no room for the response header %s", name);
    mem_free(n);
    mem_free(v);
}

static void set_timeout(struct http_exchange *x, uint32_t seconds) {
    MHD_set_connection_option(x->connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)seconds);
}

static void respond(struct http_exchange *x, int status, const char *content_type, struct MHD_Response *response) {
    bool whole = response != NULL;
    x->response = response;
    x->status = status;
    if (whole && content_type)
        whole = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) == MHD_YES;
    for (size_t i = 0; whole && i < x->n_set; i++)
        whole = MHD_add_response_header(response, x->set[i].name, x->set[i].value) == MHD_YES;
    if (whole) return;
    log_line(x->options->log, LOG_LEVEL_ERROR, "the response to %s %s could not be made", x->head.method, x->path);
    x->abandoned = true;
}

void http_reply(struct http_exchange *x, int status, const char *content_type, const char *body, size_t n) {
    if (x->response) return;
    respond(x, status, content_type, MHD_create_response_from_buffer(n, (void *)body, MHD_RESPMEM_MUST_COPY));
}

// Asks the source until it has something. A while may pass, which is no stall of the client's.
static void fetch_piece(struct http_exchange *x) {
    set_timeout(x, 0);
    buf_reset(&x->piece);
    x->piece_sent = 0;
    while (x->piece.n == 0 && x->more == HTTP_MORE) {
        x->more = x->source.next(x->source.context, x, &x->piece);
        if (x->piece.failed != STATUS_OK || (x->piece.n == 0 && http_client_gone(x))) x->more = HTTP_ABORT;
    }
    set_timeout(x, x->options->stall_s);
}

static ssize_t give_piece(void *context, uint64_t position, char *to, size_t room) {
    (void)position;
    struct http_exchange *x = context;
    if (x->piece_sent == x->piece.n) fetch_piece(x);
    size_t left = x->piece.n - x->piece_sent;
    if (left == 0) return x->more == HTTP_END ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
    if (left > room) left = room;
    memcpy(to, x->piece.data + x->piece_sent, left);
    x->piece_sent += left;
    return (ssize_t)left;
}

void http_stream(struct http_exchange *x, int status, const char *content_type, const struct http_source *source) {
    if (x->response) {
        source->close(source->context);
        return;
    }
    x->streamed = true;
    x->source = *source;
    respond(x, status, content_type,
            MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, give_piece, x, NULL));
}

static void answer_refusal(struct http_exchange *x) {
    char text[160];
    const char *message = x->refusal.message;
    if (!message) {
        snprintf(text, sizeof text, "the body is longer than %zu bytes (%.4g MiB), the limit", x->options->body_max,
                 (double)x->options->body_max / (1 << 20));
        message = text;
    }
    if (x->retry_after) http_set_header(x, MHD_HTTP_HEADER_RETRY_AFTER, x->retry_after);
    if (x->options->refuse) x->options->refuse(x->options->context, x, x->refusal.status, message);
    if (!x->response) http_reply(x, x->refusal.status, "text/plain; charset=utf-8", message, strlen(message));
}

enum MHD_Result http_exchange_answer(struct http_exchange *x) {
    if (!x->refusal.status) {
        x->options->handle(x->options->context, x);
        if (!x->response) {
            log_line(x->options->log, LOG_LEVEL_ERROR, "no handler answered %s %s", x->head.method, x->path);
            x->refusal = (struct http_refusal){500, "the server did not answer this request"};
        }
    }
    if (x->refusal.status) answer_refusal(x);
    if (!x->response) return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (x->refusal.status || atomic_load(&x->stopping->refuses))
        MHD_add_response_header(x->response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (!x->abandoned) result = MHD_queue_response(x->connection, (unsigned)x->status, x->response);
    MHD_destroy_response(x->response); // the library keeps its own hold
    return result;
}

// The library's memory of the head, copied, since the rules want to change it.
static bool copy_head(struct http_exchange *x, const char *method, const char *version, struct http_raw_head *raw) {
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!size || version < method || x->target_in_place < method) return false;
    x->head_bytes = mem_string(method, size->header_size);
    *raw = (struct http_raw_head){.bytes = x->head_bytes, .n = size->header_size, .target = x->target,
                                  .target_at = (size_t)(x->target_in_place - method),
                                  .version_at = (size_t)(version - method)};
    return x->head_bytes != NULL;
}

// Whether a refused request's body is taken before the answer. A client that waits for 100 has sent none.
static bool discards_body(const struct http_exchange *x) {
    if (x->head.expects_continue) return false;
    if (x->head.chunked) return true;
    return x->head.length > 0 && x->head.length <= x->options->body_max + DISCARD_MAX;
}

enum MHD_Result http_exchange_head(struct http_exchange *x, const char *method, const char *version,
                                   const struct http_refusal *refusal) {
    struct http_raw_head raw;
    const struct clock clock = clock_system();
    x->head_read = true;
    x->body_deadline = clock_now_ns(&clock) + (uint64_t)BODY_STALLS * x->options->stall_s * 1000000000u;
    if (!copy_head(x, method, version, &raw)) return MHD_NO;
    x->refusal = http_head_read(&x->head, &raw);
    if (x->refusal.status) return http_exchange_answer(x);
    http_head_path(x->target, x->path);
    if (refusal->status) x->refusal = *refusal;
    else if (x->head.length > x->options->body_max) x->refusal = over_body_max;
    if (!x->refusal.status) return MHD_YES;
    if (!discards_body(x)) return http_exchange_answer(x);
    set_timeout(x, DISCARD_S);
    return MHD_YES;
}

enum MHD_Result http_exchange_body(struct http_exchange *x, const char *bytes, size_t n) {
    const struct clock clock = clock_system();
    x->body_seen += n;
    if (x->body_seen > x->options->body_max + DISCARD_MAX || clock_now_ns(&clock) > x->body_deadline) return MHD_NO;
    if (!x->refusal.status) buf_append(&x->body, bytes, n);
    if (x->refusal.status || x->body.failed == STATUS_OK) return MHD_YES;
    x->refusal = x->body.failed == STATUS_TOO_LARGE ? over_body_max
                                                    : (struct http_refusal){503, "no memory for the request's body"};
    buf_fini(&x->body);
    return MHD_YES;
}
