// HTTP: the rules of a head, one by one; the server's address, answers, refusals and stop, over loopback sockets.
#include "server/http.h"

#include "base/mem.h"
#include "server/http_head.h"
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

enum { ROOM = 1 << 18 };

// A head's bytes as the library leaves them: separators are zero bytes. `text` is a well-cut head with CRLF.
static struct http_refusal read_head(const char *text, struct http_head *head, char bytes[ROOM], char target[ROOM]) {
    size_t n = strlen(text), line = strcspn(text, "\r");
    memcpy(bytes, text, n + 1);
    struct http_raw_head raw = {.bytes = bytes, .n = n, .target = target};
    raw.target_at = strcspn(bytes, " ") + 1;
    raw.version_at = line - 8;
    size_t n_target = raw.version_at - 1 - raw.target_at;
    memcpy(target, bytes + raw.target_at, n_target);
    target[n_target] = '\0';
    bytes[raw.target_at - 1] = bytes[raw.version_at - 1] = '\0';
    for (char *at = bytes + line; at < bytes + n;) {
        char *end = memchr(at, '\r', (size_t)(bytes + n - at));
        char *colon = memchr(at, ':', (size_t)(end - at));
        if (colon) *colon = '\0';
        end[0] = end[1] = '\0';
        at = end + 2;
    }
    return http_head_read(head, &raw);
}

static char bytes_of[ROOM], target_of[ROOM];

static void reads_a_head(void) {
    struct http_head h;
    static const char text[] = "POST /v1/x?y=z HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nX-A:  b c \t\r\n\r\n";
    struct http_refusal r = read_head(text, &h, bytes_of, target_of);
    char path[64];
    CHECK_INT(0, r.status);
    CHECK_TEXT("POST", h.method);
    CHECK_INT(3, h.n_fields);
    CHECK_TEXT("b c", http_head_field(&h, "x-a"));
    CHECK_TEXT(NULL, http_head_field(&h, "x-b"));
    CHECK(h.has_length && !h.chunked && !h.expects_continue);
    CHECK_INT(12, h.length);
    http_head_path(target_of, path);
    CHECK_TEXT("/v1/x", path);
    http_head_path("HTTP://a:1/b?c", path);
    CHECK_TEXT("/b", path);
    http_head_path("http://a?c", path);
    CHECK_TEXT("/", path);
}

static void judges_heads(void) {
    static const struct {
        int status;
        const char *head;
    } rows[] = {
        {0, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {0, "GET / HTTP/1.0\r\n\r\n"},
        {0, "OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n"},
        {0, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"},
        {0, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n"},
        {0, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n"},
        {0, "GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~: \x80\xff\r\n\r\n"},
        {505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
        {505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"},
        {505, "GET / http/1.1\r\nHost: a\r\n\r\n"},
        {501, "get / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {501, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET a HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\n X: b\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n"},
        {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"},
        {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n"},
        {417, "POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_head h;
        struct http_refusal r = read_head(rows[i].head, &h, bytes_of, target_of);
        if (r.status != rows[i].status)
            test_fail(__FILE__, __LINE__, "%s: expected %d, got %d", rows[i].head, rows[i].status, r.status);
        CHECK((r.status == 0) == (r.message == NULL));
    }
}

static int status_with(const char *start, const char *part, size_t times) {
    static char text[ROOM];
    struct http_head h;
    size_t n = (size_t)snprintf(text, sizeof text, "%s", start), one = strlen(part);
    for (size_t i = 0; i < times; i++, n += one) memcpy(text + n, part, one);
    snprintf(text + n, sizeof text - n, "%s", *start == 'G' && start[4] == '/' ? " HTTP/1.0\r\n\r\n" : "\r\n\r\n");
    return read_head(text, &h, bytes_of, target_of).status;
}

static void bounds_lines_and_fields(void) {
    CHECK_INT(0, status_with("GET /", "a", HTTP_LINE_MAX - 14));
    CHECK_INT(414, status_with("GET /", "a", HTTP_LINE_MAX - 13));
    CHECK_INT(0, status_with("PUT / HTTP/1.0\r\nX: ", "a", HTTP_LINE_MAX - 3));
    CHECK_INT(431, status_with("PUT / HTTP/1.0\r\nX: ", "a", HTTP_LINE_MAX - 2));
    CHECK_INT(0, status_with("PUT / HTTP/1.0", "\r\nX: a", HTTP_FIELDS_MAX));
    CHECK_INT(431, status_with("PUT / HTTP/1.0", "\r\nX: a", HTTP_FIELDS_MAX + 1));
}

// What the library leaves of folded lines, bare line feeds and zero bytes: wherever a separator is missing or one too
// many, the head is refused.
static void refuses_torn_heads(void) {
    static const char head[] = "GET\0/\0HTTP/1.1\0\0Host\0 a\0\0Xy\0 b\0\0\0";
    char bytes[sizeof head + 1];
    for (size_t i = 0; i < sizeof head - 1; i++) {
        for (int how = 0; how < 3; how++) { // drop a separator, double it, end the memory there
            size_t n = sizeof head;
            struct http_head h;
            memcpy(bytes, head, n);
            if (how < 2 && bytes[i]) continue;
            if (how == 0) memmove(bytes + i, bytes + i + 1, --n - i);
            else if (how == 1) memmove(bytes + i + 1, bytes + i, n++ - i);
            else n = i;
            char *copy = mem_new(n + 1, 1); // of that size, so that a sanitizer sees a byte too far
            memcpy(copy, bytes, n);
            const struct http_raw_head raw = {.bytes = copy, .n = n, .target = "/", .target_at = 4, .version_at = 6};
            if (http_head_read(&h, &raw).status == 0)
                test_fail(__FILE__, __LINE__, "byte %zu, way %d: expected a refusal", i, how);
            mem_free(copy);
        }
    }
    char whole[sizeof head];
    struct http_head h;
    memcpy(whole, head, sizeof head);
    const struct http_raw_head raw = {.bytes = whole, .n = sizeof head, .target = "/", .target_at = 4, .version_at = 6};
    CHECK_INT(0, http_head_read(&h, &raw).status);
}

// A server whose handler is chosen by the path.
struct bench {
    struct http_server *server;
    atomic_int opened, closed; // sources
    char logged[256];
    pthread_mutex_t mutex;
};

static void keep_line(void *context, enum log_level level, const char *line) {
    (void)level;
    struct bench *b = context;
    pthread_mutex_lock(&b->mutex);
    snprintf(b->logged, sizeof b->logged, "%s", line);
    pthread_mutex_unlock(&b->mutex);
}

static void check_logged(struct bench *b, const char *line) {
    pthread_mutex_lock(&b->mutex);
    CHECK_TEXT(line, b->logged);
    pthread_mutex_unlock(&b->mutex);
}

struct source {
    struct bench *bench;
    int left;
};

static enum http_more next_piece(void *context, struct http_exchange *x, struct buf *out) {
    struct source *s = context;
    if (http_client_gone(x)) return HTTP_ABORT;
    const struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
    if (s->left == 0) return HTTP_END;
    buf_printf(out, "piece %d\n", s->left--);
    return HTTP_MORE;
}

static void close_source(void *context) {
    struct source *s = context;
    s->bench->closed++;
    mem_free(s);
}

static void handle(void *context, struct http_exchange *x) {
    const char *path = http_path(x), *body;
    size_t n;
    if (!strcmp(path, "/bad-header")) http_set_header(x, "X-A", "b\r\nX-C: d");
    if (!strcmp(path, "/many-headers"))
        for (int i = 0; i < 40; i++) http_set_header(x, "X-A", "b");
    if (!strcmp(path, "/never")) return;
    if (!strncmp(path, "/stream", 7)) {
        struct source *s = mem_new(1, sizeof *s);
        *s = (struct source){context, path[7] == '2' ? 1000000 : 3};
        s->bench->opened++;
        const struct http_source source = {.next = next_piece, .close = close_source, .context = s};
        http_stream(x, 200, "text/plain", &source);
        return;
    }
    body = http_body(x, &n);
    http_reply(x, 200, "text/plain", n ? body : "hello", n ? n : 5);
}

static void refuse(void *context, struct http_exchange *x, int status, const char *message) {
    (void)context;
    char text[128];
    int n = snprintf(text, sizeof text, "{%d: %s}", status, message);
    http_reply(x, status, "application/json", text, (size_t)n);
}

static enum status bench_open(struct bench *b, const char *host, uint16_t port, struct err *e) {
    const struct log log = {keep_line, b};
    *b = (struct bench){.mutex = PTHREAD_MUTEX_INITIALIZER};
    static struct log kept;
    kept = log;
    const struct http_options options = {.host = host, .port = port, .handle = handle, .context = b, .log = &kept,
                                         .body_max = 100, .refuse = refuse};
    return http_start(&options, &b->server, e);
}

static int dial(const struct bench *b) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(http_port(b->server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_INT(0, connect(fd, (struct sockaddr *)&to, sizeof to));
    return fd;
}

// Sends a request that asks for closing and gives all that comes back.
static const char *ask(const struct bench *b, const char *line, const char *rest, char answer[4096]) {
    static const char form[] = "%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s";
    char request[1024];
    int fd = dial(b), n = snprintf(request, sizeof request, form, line, rest);
    CHECK_INT(n, send(fd, request, (size_t)n, 0));
    size_t got = 0;
    for (ssize_t more = 1; more > 0 && got < 4095; got += more > 0 ? (size_t)more : 0)
        more = recv(fd, answer + got, 4095 - got, 0);
    close(fd);
    answer[got] = '\0';
    return answer;
}

static void check_ends(const char *answer, const char *status, const char *end) {
    size_t n = strlen(answer), n_end = strlen(end);
    if (!strstr(answer, status) || n < n_end || strcmp(answer + n - n_end, end))
        test_fail(__FILE__, __LINE__, "expected %s ... %s, got %s", status, end, answer);
}

static void answers_and_refuses(void) {
    struct bench b;
    char a[4096];
    CHECK_INT(STATUS_OK, bench_open(&b, "127.0.0.1", 0, NULL));
    check_ends(ask(&b, "GET /", "\r\n", a), "HTTP/1.1 200 ", "\r\n\r\nhello");
    check_ends(ask(&b, "POST /", "Content-Length: 3\r\n\r\nabc", a), "HTTP/1.1 200 ", "\r\n\r\nabc");
    check_ends(ask(&b, "GET /stream", "\r\n", a), "HTTP/1.1 200 ", "8\r\npiece 1\n\r\n0\r\n\r\n");
    CHECK_INT(1, b.closed);
    check_ends(ask(&b, "BREW /", "\r\n", a), "HTTP/1.1 501 ", "\r\n\r\n{501: this method is not known here}");
    check_ends(ask(&b, "POST /", "Content-Length: 101\r\n\r\n" HUNDRED "!", a), "HTTP/1.1 413 ", "limit}");
    CHECK_TEXT("", ask(&b, "POST /", "Content-Length: 101\r\n\r\n", a)); // it does not send, so it is not waited for
    check_ends(ask(&b, "POST /", "Expect: 100-continue\r\nContent-Length: 101\r\n\r\n", a), "HTTP/1.1 413 ",
               "{413: the body is longer than 100 bytes (9.537e-05 MiB), the limit}");
    check_ends(ask(&b, "GET /never", "\r\n", a), "HTTP/1.1 500 ", "{500: the server did not answer this request}");
    check_logged(&b, "no handler answered GET /never");
    CHECK_TEXT("", ask(&b, "GET /bad-header", "\r\n", a));
    check_logged(&b, "the response to GET /bad-header could not be made");
    check_ends(ask(&b, "GET /many-headers", "\r\n", a), "HTTP/1.1 200 ", "\r\n\r\nhello");
    check_logged(&b, "no room for the response header X-A");
    http_stop(b.server, 1000);
}

static void says_which_address_cannot_be_had(void) {
    struct bench b, c;
    struct err e = {0};
    char want[160];
    CHECK_INT(STATUS_OK, bench_open(&b, "127.0.0.1", 0, NULL));
    CHECK_INT(STATUS_IO, bench_open(&c, "127.0.0.1", http_port(b.server), &e));
    snprintf(want, sizeof want, "port %u of 127.0.0.1 is taken: stop the program that listens there or choose another",
             http_port(b.server));
    CHECK_TEXT(want, e.message);
    http_stop(b.server, 0);
    err_clear(&e);
    CHECK_INT(STATUS_INVALID, bench_open(&c, "300.1.1.1", 0, &e));
    CHECK(strstr(e.message, "300.1.1.1 is no address of this machine"));
    err_clear(&e);
    CHECK_INT(STATUS_IO, bench_open(&c, "192.0.2.1", 0, &e)); // reserved for documentation
    CHECK(strstr(e.message, "cannot listen on port 0 of 192.0.2.1"));
}

static void *hurry(void *context) {
    struct bench *b = context;
    char a[4096];
    for (int i = 0; i < 30; i++) {
        int fd = dial(b);
        const struct linger at_once = {1, 0};
        static const char request[] = "GET /stream2 HTTP/1.1\r\nHost: a\r\n\r\n";
        CHECK_INT(sizeof request - 1, send(fd, request, sizeof request - 1, 0));
        if (i % 3) (void)!recv(fd, a, sizeof a, 0);
        if (i % 2) setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
        check_ends(ask(b, "GET /stream", "\r\n", a), "HTTP/1.1 200 ", "0\r\n\r\n");
    }
    return NULL;
}

static void clients_that_vanish_leave_nothing(void) {
    struct bench b;
    pthread_t threads[4];
    CHECK_INT(STATUS_OK, bench_open(&b, "localhost", 0, NULL));
    for (int i = 0; i < 4; i++) CHECK_INT(0, pthread_create(&threads[i], NULL, hurry, &b));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    int last = dial(&b);
    static const char request[] = "GET /stream2 HTTP/1.1\r\nHost: a\r\n\r\n";
    char a[64];
    CHECK_INT(sizeof request - 1, send(last, request, sizeof request - 1, 0));
    CHECK(recv(last, a, sizeof a, 0) > 0);
    http_stop(b.server, 50); // a stream is still going on
    close(last);
    CHECK(b.opened > 4 * 30);
    CHECK_INT(b.opened, b.closed);
}

static const struct test_case cases[] = {
    {"reads a head", reads_a_head},
    {"judges heads by the rules of HTTP/1.1", judges_heads},
    {"bounds lines and fields", bounds_lines_and_fields},
    {"refuses a head with a separator missing, doubled or cut", refuses_torn_heads},
    {"answers, streams, refuses, and logs what no handler answered", answers_and_refuses},
    {"says which address cannot be had and what to do", says_which_address_cannot_be_had},
    {"clients that vanish leave nothing behind", clients_that_vanish_leave_nothing},
};
TEST_MAIN("http", cases)
