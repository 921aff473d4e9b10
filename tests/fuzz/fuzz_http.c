// Fuzz target: one connection's bytes, sent to the whole HTTP server.
// Every answer begins like one, and what a handler sees of a request is what src/server/http.h promises.
#include "base/mem.h"
#include "server/http.h"
#include "tests/fuzz/fuzz.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY_MAX = 5000, ANSWER_MAX = 1 << 20 };

static enum http_more next_piece(void *context, struct http_exchange *x, struct buf *out) {
    int *left = context;
    if (http_client_gone(x)) return HTTP_ABORT;
    if (*left == 0) return HTTP_END;
    buf_printf(out, "piece %d", (*left)--);
    return HTTP_MORE;
}

static void check_text(const char *text, const char *banned) {
    if (!text || text[strcspn(text, banned)]) abort();
}

static void handle(void *context, struct http_exchange *x) {
    (void)context;
    const char *path = http_path(x), *mark = http_header(x, "x-mark");
    size_t n;
    const char *body = http_body(x, &n);
    check_text(http_method(x), " \t\r\n/");
    check_text(path, " \t\r\n?#");
    if (path[0] != '/' && strcmp(path, "*")) abort();
    if (mark) check_text(mark, "\r\n\x01\x7f");
    if (n > BODY_MAX || !body) abort();
    if (mark) http_set_header(x, "X-Mark", "1");
    int *left = path[1] == 's' ? mem_new(1, sizeof *left) : NULL;
    if (!left) {
        http_reply(x, 200, "text/plain", body, n);
        return;
    }
    *left = 3;
    const struct http_source source = {.next = next_piece, .close = mem_free, .context = left};
    http_stream(x, 200, "text/plain", &source);
}

static uint16_t port(void) {
    static struct http_server *server; // one for all inputs; it ends with the process
    if (!server) {
        const struct http_options options = {
            .host = "127.0.0.1", .handle = handle, .body_max = BODY_MAX, .stall_s = 20};
        struct err e = {0};
        if (http_start(&options, &server, &e) != STATUS_OK) abort();
    }
    return http_port(server);
}

// Reads until the server closes. Whatever it says begins like an answer of HTTP/1.1.
static void read_answer(int fd) {
    static char answer[ANSWER_MAX];
    size_t n = 0;
    for (ssize_t more; n < ANSWER_MAX && (more = recv(fd, answer + n, ANSWER_MAX - n, 0)) > 0;) n += (size_t)more;
    static const char start[] = "HTTP/1.1 ";
    size_t n_start = n < sizeof start - 1 ? n : sizeof start - 1;
    if (memcmp(answer, start, n_start)) abort();
}

// The fuzzer's timer may interrupt the wait; the connection is then made all the same.
static bool dial(int fd) {
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port()),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (!connect(fd, (const struct sockaddr *)&to, sizeof to)) return true;
    if (errno != EINTR) return false;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 5000) == 1 && p.revents == POLLOUT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const struct linger at_once = {1, 0}; // no port waits after its connection
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !dial(fd)) abort();
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)!send(fd, data, n, MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    read_answer(fd);
    close(fd);
    return 0;
}
