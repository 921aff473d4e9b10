// One value laid out by a format specification: sign, padding, precision, number base.
#ifndef TF_TEXT_JINJA_FORMAT_SPEC_H
#define TF_TEXT_JINJA_FORMAT_SPEC_H

#include "text/jinja_run.h"

struct jinja_format_spec {
    struct jinja_string fill; // one character; empty = a space
    char align;               // '<', '>', '^', '=' or 0
    char sign;                // '+', ' ' or 0
    bool alternate, zero;
    char group;        // ',' or '_' between thousands, or 0
    int64_t width;     // least code points
    int64_t precision; // -1 = none
    char type;         // 0 = none
};

// Reads Python's format mini-language from text[0..n).
enum status jinja_format_spec_read(struct jinja_run *r, const char *text, size_t n,
                                   struct jinja_format_spec *out) TF_MUST_CHECK;
// Digits at text[*at], stepping over them; saturates far above every bound.
int64_t jinja_format_number(const char *text, size_t n, size_t *at);

enum status jinja_format_text(struct jinja_run *r, struct jinja_sink *k, const struct jinja_string *s,
                              const struct jinja_format_spec *spec) TF_MUST_CHECK;
enum status jinja_format_integer(struct jinja_run *r, struct jinja_sink *k, int64_t i,
                                 const struct jinja_format_spec *spec) TF_MUST_CHECK;
enum status jinja_format_float(struct jinja_run *r, struct jinja_sink *k, double d,
                               const struct jinja_format_spec *spec) TF_MUST_CHECK;

#endif
