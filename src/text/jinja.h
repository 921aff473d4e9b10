// Jinja as Hugging Face runs it (trim_blocks, lstrip_blocks, loop controls): compile once, render over a value.
#ifndef TF_TEXT_JINJA_H
#define TF_TEXT_JINJA_H

#include "base/err.h"
#include "text/jinja_value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jinja; // a compiled template; threads may render it at the same time

// A fault, an unknown filter or test, and a tag that is not supported are refused with line and column.
enum status jinja_compile(const char *text, size_t n, struct jinja **out, struct err *e) TF_MUST_CHECK;
void jinja_free(struct jinja *j);

// The wall clock that strftime_now reads.
struct jinja_clock {
    int64_t (*local_seconds)(void *context); // local time as seconds since 1970, as if it were UTC
    void *context;
};

// Bounds of one rendering; zero means the default.
struct jinja_options {
    size_t output_bytes;             // default 16 MiB
    size_t memory_bytes;             // default 256 MiB of values
    uint64_t steps;                  // default 10 million evaluated nodes
    const struct jinja_clock *clock; // NULL: strftime_now is undefined
};

// One piece of rendered text. Marked pieces are data that came out of a string the caller marked (jinja_value.h
// says what a mark survives).
struct jinja_piece {
    size_t begin, end; // bytes of the output
    bool marked;
};

struct jinja_output {
    char *text; // owned; n bytes and a zero
    size_t n;
    struct jinja_piece *pieces; // owned; cover the text in order, neighbours differ in `marked`
    size_t n_pieces;
};
void jinja_output_fini(struct jinja_output *o);

// Renders over the globals in `root` (a mapping). raise_exception's text becomes the message of a STATUS_INVALID;
// every other fault's message begins with "line L, column C: ".
enum status jinja_render(const struct jinja *j, const struct jinja_value *root, const struct jinja_options *options,
                         struct jinja_output *out, struct err *e) TF_MUST_CHECK;

#endif
