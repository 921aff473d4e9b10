// A small server for check_transport.py: each path is one behaviour of a handler. Prints its port, ends on SIGTERM.
//
//   echo_server [connections_max [body_max [idle_s [stall_s [grace_ms]]]]]
#include "base/clock.h"
#include "base/mem.h"
#include "server/http.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_MS = 20000, FLOOD_BYTES = 65536 };

static struct {
    atomic_int handled, gone, sources;
} counts;

static void sleep_ms(long ms) {
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static uint64_t now_ms(void) {
    const struct clock c = clock_system();
    return clock_now_ns(&c) / 1000000;
}

static void reply_text(struct http_exchange *x, int status, const char *text) {
    http_reply(x, status, "text/plain", text, strlen(text));
}

static void reply_stats(struct http_exchange *x) {
    char text[160];
    snprintf(text, sizeof text, "{\"handled\":%d,\"gone\":%d,\"sources\":%d}", counts.handled, counts.gone,
             counts.sources);
    http_reply(x, 200, "application/json", text, strlen(text));
}

// Method, path, some headers and the body, as they arrived.
static void reply_echo(struct http_exchange *x) {
    size_t n;
    const char *body = http_body(x, &n), *mark = http_header(x, "x-mark");
    char length[24];
    snprintf(length, sizeof length, "%zu", n);
    http_set_header(x, "X-Method", http_method(x));
    http_set_header(x, "X-Path", http_path(x));
    http_set_header(x, "X-Length", length);
    if (mark) http_set_header(x, "X-Mark", mark);
    http_reply(x, 200, "application/octet-stream", body, n);
}

// A handler that waits for something that never comes, and asks for its client meanwhile.
static void wait_for_client(struct http_exchange *x) {
    uint64_t end = now_ms() + WAIT_MS;
    while (now_ms() < end) {
        if (http_client_gone(x)) {
            counts.gone++;
            break;
        }
        sleep_ms(20);
    }
    reply_text(x, 200, "waited");
}

struct source {
    long left;       // pieces to come
    long pause_ms;   // before each
    size_t size;     // bytes of each
    bool aborts;     // instead of an end
    bool silent;     // gives nothing, ever
    bool asks;       // for its client, when silent
};

static enum http_more next_piece(void *context, struct http_exchange *x, struct buf *out) {
    struct source *s = context;
    if (s->pause_ms) sleep_ms(s->pause_ms);
    if (s->silent) return s->asks && http_client_gone(x) ? HTTP_ABORT : HTTP_MORE;
    if (s->left == 0) return s->aborts ? HTTP_ABORT : HTTP_END;
    char *to = buf_reserve(out, s->size);
    if (!to) return HTTP_ABORT;
    memset(to, 'a' + (int)(s->left % 26), s->size);
    out->n += s->size;
    s->left--;
    return HTTP_MORE;
}

static void close_source(void *context) {
    counts.sources--;
    counts.gone += ((struct source *)context)->silent;
    mem_free(context);
}

static void stream(struct http_exchange *x, struct source source) {
    struct source *s = mem_new(1, sizeof *s);
    if (!s) return;
    *s = source;
    counts.sources++;
    const struct http_source pull = {.next = next_piece, .close = close_source, .context = s};
    http_stream(x, 200, "text/event-stream", &pull);
}

// The number behind `prefix` in a path, or -1.
static long number_after(const char *path, const char *prefix) {
    size_t n = strlen(prefix);
    return strncmp(path, prefix, n) ? -1 : strtol(path + n, NULL, 10);
}

static void reply_big(struct http_exchange *x, size_t n) {
    char *bytes = mem_new(n, 1);
    if (!bytes) return;
    memset(bytes, 'b', n);
    http_reply(x, 200, "application/octet-stream", bytes, n);
    mem_free(bytes);
}

static void handle(void *context, struct http_exchange *x) {
    (void)context;
    const char *path = http_path(x);
    long n;
    counts.handled++;
    if (!strcmp(path, "/health")) reply_text(x, 200, "ok");
    else if (!strcmp(path, "/stats")) reply_stats(x);
    else if (!strcmp(path, "/wait")) wait_for_client(x);
    else if (!strcmp(path, "/never")) return;
    else if (!strcmp(path, "/flood")) stream(x, (struct source){.left = 1L << 40, .size = FLOOD_BYTES});
    else if (!strcmp(path, "/quiet")) stream(x, (struct source){.silent = true, .asks = true, .pause_ms = 50});
    else if (!strcmp(path, "/mute")) stream(x, (struct source){.silent = true, .pause_ms = 50});
    else if (!strcmp(path, "/abort")) stream(x, (struct source){.left = 3, .size = 10, .aborts = true});
    else if ((n = number_after(path, "/stream/")) >= 0)
        stream(x, (struct source){.left = n, .pause_ms = 20, .size = 10});
    else if ((n = number_after(path, "/late/")) >= 0) stream(x, (struct source){.left = 1, .pause_ms = n, .size = 10});
    else if ((n = number_after(path, "/slow/")) >= 0) sleep_ms(n), reply_text(x, 200, "slow");
    else if ((n = number_after(path, "/big/")) >= 0) reply_big(x, (size_t)n);
    else reply_echo(x);
}

static uint64_t argument(int argc, char **argv, int i) { return i < argc ? strtoull(argv[i], NULL, 10) : 0; }

int main(int argc, char **argv) {
    struct http_options options = {
        .host = "127.0.0.1",
        .handle = handle,
        .connections_max = (uint32_t)argument(argc, argv, 1),
        .body_max = argument(argc, argv, 2),
        .idle_s = (uint32_t)argument(argc, argv, 3),
        .stall_s = (uint32_t)argument(argc, argv, 4),
    };
    struct http_server *server;
    struct err e = {0};
    sigset_t ends;
    int signal;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    if (http_start(&options, &server, &e) != STATUS_OK) {
        fprintf(stderr, "%s\n", e.message);
        return 1;
    }
    printf("%u\n", http_port(server));
    fflush(stdout);
    sigwait(&ends, &signal);
    http_stop(server, (uint32_t)argument(argc, argv, 5));
    printf("stopped: %d sources open\n", counts.sources);
    return 0;
}
