// A growable byte buffer with a limit set at the start; a failed append is remembered until it is asked for.
#ifndef TF_BASE_BUF_H
#define TF_BASE_BUF_H

#include "base/err.h"

#include <stddef.h>

struct buf {
    char *data; // n bytes, then always one zero byte once something was appended; owned
    size_t n, cap;
    size_t limit;       // fixed: most bytes it will hold
    enum status failed; // STATUS_OK, STATUS_TOO_LARGE or STATUS_NO_MEMORY; later appends do nothing
};

void buf_init(struct buf *b, size_t limit);
void buf_fini(struct buf *b);
void buf_reset(struct buf *b); // empties, keeps the memory, forgets a failure

void buf_append(struct buf *b, const void *bytes, size_t n);
void buf_text(struct buf *b, const char *text); // terminated string
void buf_byte(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) TF_PRINTF(2, 3);

// Room for n more bytes to be written at data + n by the caller, who then adds to n. NULL when it failed.
char *buf_reserve(struct buf *b, size_t n);

#endif
