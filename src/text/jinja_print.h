// Values as text: Python's str and repr, and JSON as Hugging Face's tojson writes it.
#ifndef TF_TEXT_JINJA_PRINT_H
#define TF_TEXT_JINJA_PRINT_H

#include "text/jinja_text.h"

enum { JINJA_NESTING_MAX = 200 }; // values nested deeper are neither printed nor compared

enum { JINJA_FLOAT_TEXT = 32 };
// Python's repr of a float: the shortest digits that read back equal. Returns the length.
size_t jinja_float_text(double d, char out[JINJA_FLOAT_TEXT]);

// Appends str(v): what a template prints.
enum status jinja_print(struct jinja_sink *k, struct jinja_value v, struct err *e) TF_MUST_CHECK;
// Appends repr(v).
enum status jinja_print_repr(struct jinja_sink *k, struct jinja_value v, struct err *e) TF_MUST_CHECK;

struct jinja_json_style {
    const struct jinja_string *indent; // text of one level, NULL = all on one line
    const char *between, *after_key;   // separators; terminated
    bool ascii;                        // escape all other characters
    bool sort_keys;
};
// Appends json.dumps(v).
enum status jinja_print_json(struct jinja_sink *k, struct jinja_value v, const struct jinja_json_style *style,
                             struct err *e) TF_MUST_CHECK;

// jinja2's message for a use of an undefined value.
enum status jinja_print_undefined(struct jinja_sink *k, const struct jinja_undefined *u,
                                  struct err *e) TF_MUST_CHECK;

#endif
