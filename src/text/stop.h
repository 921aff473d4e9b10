// Stop strings: text passes through, what could still become one is held back, a complete one ends the reply.
#ifndef TF_TEXT_STOP_H
#define TF_TEXT_STOP_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct stop_matcher;

enum { STOP_STRINGS_MAX = 16, STOP_BYTES_MAX = 65536 };

// A matcher for `n` strings of bytes[i] >= 1 bytes each (copied); n may be 0. Free with stop_free.
enum status stop_new(const char *const *strings, const size_t *bytes, size_t n, struct stop_matcher **out,
                     struct err *e) TF_MUST_CHECK;
void stop_free(struct stop_matcher *m);

// Takes the next text of the reply, cut anywhere, and appends to `out` what can no longer belong to a stop string.
// Returns true once a stop string is complete: the one whose last byte comes first, the longest of those that end
// there. Neither it nor anything after it is ever appended.
bool stop_push(struct stop_matcher *m, const char *text, size_t n, struct buf *out);

// The reply is over: appends what was held back, unless a stop string was completed.
void stop_end(struct stop_matcher *m, struct buf *out);

// Index of the completed stop string, or -1.
int stop_matched(const struct stop_matcher *m);

#endif
