// A growable byte buffer with a limit.
#include "base/buf.h"

#include "base/checked.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void buf_init(struct buf *b, size_t limit) { *b = (struct buf){.limit = limit}; }

void buf_fini(struct buf *b) {
    mem_free(b->data);
    b->data = NULL;
    b->n = b->cap = 0;
}

void buf_reset(struct buf *b) {
    b->n = 0;
    b->failed = STATUS_OK;
    if (b->data) b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t n) {
    size_t need;
    if (b->failed != STATUS_OK) return NULL;
    if (!checked_add(b->n, n, &need) || need > b->limit) {
        b->failed = STATUS_TOO_LARGE;
        return NULL;
    }
    if (need + 1 > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need + 1) cap *= 2;
        char *data = mem_resize(b->data, cap, 1);
        if (!data) {
            b->failed = STATUS_NO_MEMORY;
            return NULL;
        }
        b->data = data;
        b->cap = cap;
    }
    return b->data + b->n;
}

void buf_append(struct buf *b, const void *bytes, size_t n) {
    char *to = buf_reserve(b, n);
    if (!to) return;
    if (n) memcpy(to, bytes, n);
    b->n += n;
    b->data[b->n] = '\0';
}

void buf_text(struct buf *b, const char *text) { buf_append(b, text, strlen(text)); }

void buf_byte(struct buf *b, char c) { buf_append(b, &c, 1); }

void buf_printf(struct buf *b, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *to = n < 0 ? NULL : buf_reserve(b, (size_t)n);
    if (to) {
        vsnprintf(to, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
}
