// Lines of any length from a stream.
#ifndef TF_CLI_LINES_H
#define TF_CLI_LINES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>

// Replaces `line` by the next line without its newline; false at the end. A line over the buffer's limit is read to
// its end and leaves line->failed set.
bool lines_next(FILE *in, struct buf *line);

// Appends everything that is left.
void lines_rest(FILE *in, struct buf *out);

#endif
