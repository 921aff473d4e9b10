// JSON documents behind yyjson: strict parsing with bounds on size and depth, and typed getters that name the key.
#ifndef TF_BASE_JSON_H
#define TF_BASE_JSON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yyjson.h>

enum { JSON_DEPTH_MAX = 128, JSON_VALUES_MAX = 1 << 22 }; // keys count as values; the largest tokenizers have half

// Parses one document (strict RFC 8259, UTF-8, nothing after it, duplicate keys in an object refused, nesting at most
// JSON_DEPTH_MAX, at most JSON_VALUES_MAX values). `name` is what messages call it ("config.json"). The document owns
// copies of its strings; free with yyjson_doc_free. `text` is not changed.
enum status json_parse(const char *name, const char *text, size_t n, yyjson_doc **out, struct err *e) TF_MUST_CHECK;

// json_parse of a whole file of at most `limit` bytes; messages carry the path.
enum status json_read(const char *path, size_t limit, yyjson_doc **out, struct err *e) TF_MUST_CHECK;

// Appends `text` (n bytes, valid UTF-8) as a JSON string with its quotes; non-ASCII characters stay as they are.
struct buf;
void json_quote(struct buf *out, const char *text, size_t n);

#endif
