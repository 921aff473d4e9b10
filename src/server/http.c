// The server: its listening socket, the library's threads and callbacks, connection limits, the graceful stop.
#include "base/clock.h"
#include "base/mem.h"
#include "server/http_exchange.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// BACKLOG: hundreds of clients may connect at once, and the usual 128 makes them wait for seconds. SPARE: connections
// over the limit that are open for as long as a 503 takes. HEAD_BYTES: room for a whole head and the response's.
// STACK_BYTES: the deepest template that may be rendered takes less than 512 KiB, sanitizers some times that.
enum {
    BACKLOG = 4096,
    SPARE = 32,
    HEAD_BYTES = 160 << 10,
    STACK_BYTES = 2 << 20,
    CONNECTIONS_MAX = 512,
    BODY_MAX = 32 << 20,
    IDLE_S = 900,
    STALL_S = 120,
    REFUSED_S = 5,
};

struct http_server {
    struct http_options options;
    struct MHD_Daemon *daemon;
    int fd;
    uint16_t port;
    struct http_stopping stopping;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t connections, exchanges; // open, in progress
};

static uint32_t add(struct http_server *s, uint32_t *counter, int32_t n) {
    pthread_mutex_lock(&s->mutex);
    uint32_t now = *counter += (uint32_t)n;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    return now;
}

static void set_timeout(struct MHD_Connection *connection, uint32_t seconds) {
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)seconds);
}

static enum MHD_Result on_accept(void *context, const struct sockaddr *address, socklen_t n) {
    (void)address, (void)n;
    struct http_server *s = context;
    return add(s, &s->connections, 0) < s->options.connections_max + SPARE ? MHD_YES : MHD_NO;
}

// *over is not NULL for a connection over the limit.
static void on_connection(void *context, struct MHD_Connection *connection, void **over,
                          enum MHD_ConnectionNotificationCode code) {
    struct http_server *s = context;
    bool starts = code == MHD_CONNECTION_NOTIFY_STARTED;
    uint32_t n = add(s, &s->connections, starts ? 1 : -1);
    if (!starts || n <= s->options.connections_max) return;
    *over = s;
    set_timeout(connection, REFUSED_S);
}

// The first sign of a request. Its return value is the exchange that the later calls are handed.
static void *on_request_line(void *context, const char *target, struct MHD_Connection *connection) {
    struct http_server *s = context;
    struct http_exchange *x = http_exchange_new(&s->options, &s->stopping, connection, target);
    if (!x) return NULL;
    set_timeout(connection, s->options.stall_s);
    add(s, &s->exchanges, 1);
    return x;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **exchange,
                         enum MHD_RequestTerminationCode code) {
    (void)code;
    struct http_server *s = context;
    if (!*exchange) return;
    http_exchange_free(*exchange);
    *exchange = NULL;
    set_timeout(connection, s->options.idle_s);
    add(s, &s->exchanges, -1);
}

static enum MHD_Result on_head(struct http_server *s, struct http_exchange *x, const char *method,
                               const char *version) {
    struct http_refusal refusal = {0};
    const union MHD_ConnectionInfo *over =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (over && over->socket_context) refusal = (struct http_refusal){503, "too many connections; try again shortly"};
    if (atomic_load(&s->stopping.refuses)) refusal = (struct http_refusal){503, "the server is stopping"};
    if (refusal.status) x->retry_after = "1";
    return http_exchange_head(x, method, version, &refusal);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *bytes, size_t *n,
                                  void **exchange) {
    (void)connection, (void)url;
    struct http_server *s = context;
    struct http_exchange *x = *exchange;
    if (!x) return MHD_NO;
    if (!x->head_read) return on_head(s, x, method, version);
    if (*n == 0) return http_exchange_answer(x);
    size_t given = *n;
    *n = 0;
    return http_exchange_body(x, bytes, given);
}

// The path stays as it was sent.
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    return strlen(text);
}

static enum status start_daemon(struct http_server *s, struct err *e) {
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC;
    s->daemon = MHD_start_daemon(
        flags, 0, on_accept, s, on_request, s, MHD_OPTION_LISTEN_SOCKET, s->fd, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, s, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(s->options.connections_max + 2 * SPARE),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)s->options.stall_s, MHD_OPTION_END);
    if (s->daemon) return STATUS_OK;
    return err_set(e, STATUS_INTERNAL, "the HTTP server could not start: %s", strerror(errno));
}

static enum status refuse_address(const struct http_options *o, int error, struct err *e) {
    if (error == EADDRINUSE) {
        return err_set(e, STATUS_IO, "port %u of %s is taken: stop the program that listens there or choose another",
                       o->port, o->host);
    }
    if (error == EACCES) {
        return err_set(e, STATUS_IO, "port %u of %s needs privileges: choose a port from 1024 on", o->port, o->host);
    }
    return err_set(e, STATUS_IO, "cannot listen on port %u of %s: %s", o->port, o->host, strerror(error));
}

static int try_address(const struct addrinfo *a) {
    int on = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, BACKLOG)) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static enum status open_socket(struct http_server *s, struct err *e) {
    const struct http_options *o = &s->options;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", o->port);
    int error = getaddrinfo(o->host, port, &hints, &list);
    if (error) {
        return err_set(e, STATUS_INVALID, "%s is no address of this machine (%s): give one such as 127.0.0.1", o->host,
                       gai_strerror(error));
    }
    errno = EADDRNOTAVAIL;
    for (const struct addrinfo *a = list; a && s->fd < 0; a = a->ai_next) s->fd = try_address(a);
    error = errno;
    freeaddrinfo(list);
    if (s->fd < 0) return refuse_address(o, error, e);
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at;
    char service[8];
    if (getsockname(s->fd, (struct sockaddr *)&at, &n) ||
        getnameinfo((struct sockaddr *)&at, n, NULL, 0, service, sizeof service, NI_NUMERICSERV))
        return refuse_address(o, errno, e);
    for (const char *c = service; *c; c++) s->port = (uint16_t)(s->port * 10 + (*c - '0'));
    return STATUS_OK;
}

static void fill_defaults(struct http_options *o) {
    if (!o->connections_max) o->connections_max = CONNECTIONS_MAX;
    if (!o->body_max) o->body_max = BODY_MAX;
    if (!o->idle_s) o->idle_s = IDLE_S;
    if (!o->stall_s) o->stall_s = STALL_S;
}

static void server_free(struct http_server *s) {
    if (s->fd >= 0) close(s->fd);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    mem_free(s);
}

enum status http_start(const struct http_options *options, struct http_server **out, struct err *e) {
    struct http_server *s = mem_new(1, sizeof *s);
    if (!s) return err_set(e, STATUS_NO_MEMORY, "no memory for the HTTP server");
    s->options = *options;
    s->fd = -1;
    fill_defaults(&s->options);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&s->mutex, NULL);
    enum status status = open_socket(s, e);
    if (status == STATUS_OK) status = start_daemon(s, e);
    if (status == STATUS_OK) *out = s;
    else server_free(s);
    return status;
}

uint16_t http_port(const struct http_server *s) { return s->port; }

static void wait_for_exchanges(struct http_server *s, uint32_t grace_ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)grace_ms * 1000000u;
    until.tv_sec += (time_t)(ns / 1000000000u);
    until.tv_nsec = (long)(ns % 1000000000u);
    pthread_mutex_lock(&s->mutex);
    while (s->exchanges && pthread_cond_timedwait(&s->changed, &s->mutex, &until) != ETIMEDOUT) continue;
    pthread_mutex_unlock(&s->mutex);
}

void http_stop(struct http_server *s, uint32_t grace_ms) {
    (void)MHD_quiesce_daemon(s->daemon);
    (void)shutdown(s->fd, SHUT_RDWR);
    atomic_store(&s->stopping.refuses, true);
    wait_for_exchanges(s, grace_ms);
    atomic_store(&s->stopping.gone, true);
    MHD_stop_daemon(s->daemon); // shuts every socket and waits for every thread
    server_free(s);
}
