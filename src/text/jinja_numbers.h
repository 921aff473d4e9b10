// Text to numbers as Python's int() and float() read it.
#ifndef TF_TEXT_JINJA_NUMBERS_H
#define TF_TEXT_JINJA_NUMBERS_H

#include "text/jinja_value.h"

// White space round it, a sign, digits with single underscores between. False when it is no such text;
// *fits is false where the number is over 64 bits.
bool jinja_read_integer(const struct jinja_string *s, int base, int64_t *out, bool *fits);
bool jinja_read_float(const struct jinja_string *s, double *out);

#endif
