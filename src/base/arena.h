// A bump allocator: many small pieces with one lifetime, under a byte limit set at the start.
#ifndef TF_BASE_ARENA_H
#define TF_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *last; // newest block; blocks are chained backwards
    size_t used_bytes;        // handed out, padding included
    size_t limit_bytes;       // fixed; an allocation beyond it returns NULL
};

// Takes nothing yet. `limit_bytes` bounds everything the arena will ever hand out.
void arena_init(struct arena *a, size_t limit_bytes);
void arena_fini(struct arena *a);

// n * size zeroed bytes aligned to 16; NULL when the limit or the memory ends.
void *arena_new(struct arena *a, size_t n, size_t size);

// A terminated copy of n bytes.
char *arena_string(struct arena *a, const char *text, size_t n);

#endif
