// JSON documents as values of the template language.
#ifndef TF_TEXT_JINJA_JSON_H
#define TF_TEXT_JINJA_JSON_H

#include "text/jinja_value.h"

#include <yyjson.h>

// Builds the value of a JSON node in the arena; strings are copied and marked as data when `marked`. Integers beyond
// 64 bits become floats. Key order is kept. At most JSON_DEPTH_MAX levels.
enum status jinja_value_from_json(struct arena *a, yyjson_val *node, bool marked, struct jinja_value *out,
                                  struct err *e) TF_MUST_CHECK;

#endif
