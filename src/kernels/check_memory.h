// Memory for checks between pages that cannot be touched, full of poison, with a record of who touched what.
#ifndef TF_KERNELS_CHECK_MEMORY_H
#define TF_KERNELS_CHECK_MEMORY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A quiet NaN with a payload that no computation makes.
#define CHECK_POISON 0x7fc5a5a5u

enum { CHECK_MEMORY_PIECES = 64 };

struct check_memory {
    uint8_t *base; // reserved once, touched where pieces lie
    size_t bytes, used;
    uint32_t n_pieces;
    struct check_piece {
        uint8_t *body, *start, *end; // pages [body, end) can be touched; the piece is [start, start + bytes)
        size_t bytes;
    } piece[CHECK_MEMORY_PIECES];
};

// Reserves the address space and takes over SIGSEGV, so that touching a guard page is recorded and then allowed
// instead of ending the process. One at a time in a process; close gives the earlier handler back.
enum status check_memory_open(struct check_memory *m, struct err *e) TF_MUST_CHECK;
void check_memory_close(struct check_memory *m);

// See check_new; NULL when there is no room.
void *check_memory_new(struct check_memory *m, size_t bytes, size_t align);

// Gives all pieces back. False when one was overstepped: then `text` says which (numbered from 1) and where.
bool check_memory_reset(struct check_memory *m, char *text, size_t n);

#endif
