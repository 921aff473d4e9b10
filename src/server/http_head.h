// The head of a request and the rules it must keep before any byte of it is believed.
//
// The library that reads the socket is lax: it takes folded lines, bare line feeds, zero bytes, two lengths. It parses
// in place, so what it leaves in memory still shows all of that, and the rules are checked on those bytes. Two things
// stay beyond reach: it takes a bare line feed for the line ends between chunks, and anything in a chunk's extension
// (tests/http/check_transport.py holds that what follows stays in step); and it answers a Content-Length that is no
// number itself, with the head of its 400 or 413 sent twice.
#ifndef TF_SERVER_HTTP_HEAD_H
#define TF_SERVER_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_FIELDS_MAX = 100, HTTP_LINE_MAX = 65536 };

struct http_field {
    const char *name, *value; // terminated; the value without blanks around it
};

struct http_head {
    const char *method;
    struct http_field fields[HTTP_FIELDS_MAX];
    size_t n_fields;
    bool chunked, has_length, expects_continue;
    uint64_t length; // 0 without one
};

// A refused request: the status that answers it and one sentence. status 0 = not refused.
struct http_refusal {
    int status;
    const char *message; // a constant
};

// A head as it lies after parsing: `bytes[0..n)` from the method to the empty line's end, and each separator (the two
// blanks of the request line, the colon of each field, the CR and the LF of each line) is a zero byte. `bytes` is
// changed; `head` points into it.
struct http_raw_head {
    char *bytes;
    size_t n;
    const char *target; // as it was sent; its place in `bytes` may hold anything
    size_t target_at, version_at; // where the request target and the version begin
};

// Reads a head. Refuses what is malformed, ambiguous or over a limit: 400, 414, 417, 431, 501, 505. After a refusal
// nothing that follows on the connection may be read as a request.
struct http_refusal http_head_read(struct http_head *head, const struct http_raw_head *raw);

// The path within a target that http_head_read let pass: without the query, and without scheme and host when sent.
// sent. A terminated copy into `path`, which has room for the target.
void http_head_path(const char *target, char *path);

const char *http_head_field(const struct http_head *head, const char *name); // the first; NULL when absent

#endif
