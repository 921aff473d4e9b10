// Reading streams into buffers.
#include "cli/lines.h"

bool lines_next(FILE *in, struct buf *line) {
    buf_reset(line);
    bool any = false;
    for (int c; (c = getc_unlocked(in)) != EOF;) {
        any = true;
        if (c == '\n') break;
        buf_byte(line, (char)c);
    }
    return any;
}

void lines_rest(FILE *in, struct buf *out) {
    char piece[65536];
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;) buf_append(out, piece, n);
}
