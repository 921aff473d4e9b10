// A bump allocator over blocks that double in size.
#include "base/arena.h"

#include "base/checked.h"
#include "base/mem.h"

#include <stdint.h>
#include <string.h>

enum { ALIGN = 16, FIRST_BLOCK = 4096 };

struct arena_block {
    struct arena_block *before;
    size_t used, size;
    _Alignas(ALIGN) uint8_t bytes[];
};

void arena_init(struct arena *a, size_t limit_bytes) { *a = (struct arena){.limit_bytes = limit_bytes}; }

void arena_fini(struct arena *a) {
    while (a->last) {
        struct arena_block *b = a->last;
        a->last = b->before;
        mem_free(b);
    }
    a->used_bytes = 0;
}

static struct arena_block *add_block(struct arena *a, size_t need) {
    size_t size = a->last ? a->last->size * 2 : FIRST_BLOCK;
    if (size > ((size_t)1 << 24)) size = (size_t)1 << 24;
    if (size < need) size = need;
    size_t bytes;
    if (!checked_add(size, sizeof(struct arena_block), &bytes)) return NULL;
    struct arena_block *b = mem_new(bytes, 1);
    if (!b) return NULL;
    *b = (struct arena_block){.before = a->last, .size = size};
    a->last = b;
    return b;
}

void *arena_new(struct arena *a, size_t n, size_t size) {
    size_t bytes, total;
    if (!checked_mul(n, size, &bytes) || !checked_round_up(bytes ? bytes : 1, ALIGN, &bytes)) return NULL;
    if (!checked_add(a->used_bytes, bytes, &total) || total > a->limit_bytes) return NULL;
    struct arena_block *b = a->last;
    if (!b || b->size - b->used < bytes) b = add_block(a, bytes);
    if (!b) return NULL;
    void *p = b->bytes + b->used;
    b->used += bytes;
    a->used_bytes = total;
    return p;
}

char *arena_string(struct arena *a, const char *text, size_t n) {
    size_t bytes;
    if (!checked_add(n, 1, &bytes)) return NULL;
    char *copy = arena_new(a, bytes, 1);
    if (copy && n) memcpy(copy, text, n);
    return copy;
}
