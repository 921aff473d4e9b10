// The head of a request: lines, fields, and the fields that say where the body ends.
#include "server/http_head.h"

#include <string.h>
#include <strings.h>

static struct http_refusal refuse(int status, const char *message) {
    return (struct http_refusal){.status = status, .message = message};
}

#define REFUSE_IF(condition, status, message)                                                      \
    do {                                                                                           \
        if (condition) return refuse(status, message);                                             \
    } while (0)

// Letters, digits and the marks that RFC 9110 allows in a token.
static bool is_token(const char *text) {
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (const char *c = text; *c; c++) {
        bool alnum = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!alnum && !strchr(marks, *c)) return false;
    }
    return *text != '\0';
}

// Blanks, tabs, what can be seen, and bytes above ASCII.
static bool is_value(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if ((*c < 0x20 && *c != '\t') || *c == 0x7f) return false;
    return true;
}

static bool is_known_method(const char *method) {
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(method, known[i])) return true;
    return false;
}

// Length of "http://host" or "https://host" at the start of an absolute target, 0 for any other.
static size_t origin_length(const char *target) {
    size_t scheme = !strncasecmp(target, "http://", 7) ? 7 : !strncasecmp(target, "https://", 8) ? 8 : 0;
    return scheme ? scheme + strcspn(target + scheme, "/?") : 0;
}

static bool is_target(const char *target, const char *method) {
    for (const char *c = target; *c; c++)
        if (*c <= 0x20 || *c >= 0x7f || *c == '#') return false;
    if (!strcmp(target, "*")) return !strcmp(method, "OPTIONS");
    return target[0] == '/' || origin_length(target) > 0;
}

void http_head_path(const char *target, char *path) {
    const char *from = target + origin_length(target);
    size_t n = strcspn(from, "?");
    if (n) memcpy(path, from, n);
    else path[n++] = '/';
    path[n] = '\0';
}

// Whether text `at` is followed by exactly one line end before `end`; *next is what comes behind it.
static bool ends_line(char *at, const char *end, char **next) {
    size_t room = (size_t)(end - at);
    size_t n = strnlen(at, room);
    if (n + 2 > room || at[n + 1] != '\0') return false;
    *next = at + n + 2;
    return true;
}

static struct http_refusal read_request_line(struct http_head *head, const struct http_raw_head *raw, char **next) {
    const char *end = raw->bytes + raw->n;
    head->method = raw->bytes;
    size_t n_method = strnlen(raw->bytes, raw->n), n_target = strlen(raw->target);
    bool in_place = raw->target_at == n_method + 1 && raw->version_at == raw->target_at + n_target + 1 &&
                    raw->version_at < raw->n && ends_line(raw->bytes + raw->version_at, end, next);
    REFUSE_IF(!in_place || !is_token(head->method), 400, "the request line is malformed");
    const char *version = raw->bytes + raw->version_at;
    bool minor_0 = !strcmp(version, "HTTP/1.0"), minor_1 = !strcmp(version, "HTTP/1.1");
    REFUSE_IF(!minor_0 && !minor_1, 505, "this server speaks HTTP/1.1 and HTTP/1.0");
    REFUSE_IF(raw->version_at + strlen(version) > HTTP_LINE_MAX, 414, "the request line is longer than 65536 bytes");
    REFUSE_IF(!is_known_method(head->method), 501, "this method is not known here");
    REFUSE_IF(!is_target(raw->target, head->method), 400, "the request target is malformed");
    return refuse(0, NULL);
}

// Cuts blanks off both ends of the value.
static const char *trim(char *value) {
    size_t n = strlen(value);
    while (n && (value[n - 1] == ' ' || value[n - 1] == '\t')) value[--n] = '\0';
    return value + strspn(value, " \t");
}

static struct http_refusal read_field(struct http_head *head, char *line, const char *end, char **next) {
    size_t n_name = strnlen(line, (size_t)(end - line));
    char *value = line + n_name + 1;
    bool whole = value < end && ends_line(value, end, next);
    REFUSE_IF(!whole || !is_token(line) || !is_value(value), 400, "a header line is malformed");
    REFUSE_IF(*next - line - 2 > HTTP_LINE_MAX, 431, "a header line is longer than 65536 bytes");
    REFUSE_IF(head->n_fields == HTTP_FIELDS_MAX, 431, "the request has more than 100 header lines");
    head->fields[head->n_fields++] = (struct http_field){.name = line, .value = trim(value)};
    return refuse(0, NULL);
}

static struct http_refusal read_fields(struct http_head *head, const struct http_raw_head *raw, char *at) {
    const char *end = raw->bytes + raw->n;
    while (end - at > 2) {
        struct http_refusal r = read_field(head, at, end, &at);
        if (r.status) return r;
    }
    REFUSE_IF(end - at != 2 || at[0] || at[1], 400, "the header's end is malformed");
    return refuse(0, NULL);
}

const char *http_head_field(const struct http_head *head, const char *name) {
    for (size_t i = 0; i < head->n_fields; i++)
        if (!strcasecmp(head->fields[i].name, name)) return head->fields[i].value;
    return NULL;
}

static size_t count(const struct http_head *head, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < head->n_fields; i++) n += !strcasecmp(head->fields[i].name, name);
    return n;
}

static bool read_length(const char *text, uint64_t *length) {
    if (*text == '\0') return false;
    for (*length = 0; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(*length, 10, length)) return false;
        if (__builtin_add_overflow(*length, (uint64_t)(*text - '0'), length)) return false;
    }
    return true;
}

// Where the body ends must be beyond doubt (RFC 9112, 6.3).
static struct http_refusal read_framing(struct http_head *head, bool minor_1) {
    const char *length = http_head_field(head, "Content-Length");
    const char *coding = http_head_field(head, "Transfer-Encoding");
    REFUSE_IF(length && coding, 400, "Content-Length and Transfer-Encoding exclude each other");
    REFUSE_IF(count(head, "Content-Length") > 1, 400, "Content-Length is given twice");
    REFUSE_IF(length && !read_length(length, &head->length), 400, "Content-Length is not a number of bytes");
    REFUSE_IF(coding && !minor_1, 400, "Transfer-Encoding needs HTTP/1.1");
    REFUSE_IF(coding && (count(head, "Transfer-Encoding") > 1 || strcasecmp(coding, "chunked")), 501,
              "the only Transfer-Encoding known here is chunked");
    head->has_length = length != NULL;
    head->chunked = coding != NULL;
    return refuse(0, NULL);
}

struct http_refusal http_head_read(struct http_head *head, const struct http_raw_head *raw) {
    char *at = NULL;
    *head = (struct http_head){0};
    struct http_refusal r = read_request_line(head, raw, &at);
    if (!r.status) r = read_fields(head, raw, at);
    if (r.status) return r;
    bool minor_1 = !strcmp(raw->bytes + raw->version_at, "HTTP/1.1");
    size_t n_hosts = count(head, "Host");
    REFUSE_IF(n_hosts > 1 || (minor_1 && n_hosts == 0), 400, "a request names its Host once");
    r = read_framing(head, minor_1);
    if (r.status) return r;
    const char *expect = http_head_field(head, "Expect");
    REFUSE_IF(expect && strcasecmp(expect, "100-continue"), 417, "the only Expect known here is 100-continue");
    head->expects_continue = expect && minor_1;
    return refuse(0, NULL);
}
