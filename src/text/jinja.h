// Jinja as Hugging Face runs it (trim_blocks, lstrip_blocks, loop controls): compile once, render over a value.
#ifndef TF_TEXT_JINJA_H
#define TF_TEXT_JINJA_H

#include "base/err.h"
#include "text/jinja_value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jinja; // a compiled template

enum status jinja_compile(const char *text, size_t n, struct jinja **out, struct err *e) TF_MUST_CHECK;
void jinja_free(struct jinja *j);

// Bounds of one rendering; zero means the default.
struct jinja_limits {
    size_t output_bytes; // default 16 MiB
    size_t memory_bytes; // default 256 MiB of values
    uint64_t steps;      // default 10 million evaluated nodes
};

// One piece of rendered text. Marked pieces are data that came out of a string the caller marked, unchanged.
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

// Renders over the globals in `root` (a mapping). raise_exception's text becomes the message of a STATUS_INVALID.
enum status jinja_render(const struct jinja *j, const struct jinja_value *root, const struct jinja_limits *limits,
                         struct jinja_output *out, struct err *e) TF_MUST_CHECK;

#endif
