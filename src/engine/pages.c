// A stack of free cache pages.
#include "engine/pages.h"

#include "base/mem.h"

#include <assert.h>

enum status pages_init(struct pages *p, uint32_t n, struct err *e) {
    *p = (struct pages){.n = n, .n_free = n};
    p->free = mem_new(n, sizeof *p->free);
    if (!p->free) return err_set(e, STATUS_NO_MEMORY, "no memory for a list of %u cache pages", n);
    for (uint32_t i = 0; i < n; i++) p->free[i] = (int32_t)(n - 1 - i);
    return STATUS_OK;
}

void pages_fini(struct pages *p) {
    mem_free(p->free);
    *p = (struct pages){0};
}

bool pages_take(struct pages *p, uint32_t n, int32_t *out) {
    if (n > p->n_free) return false;
    for (uint32_t i = 0; i < n; i++) out[i] = p->free[--p->n_free];
    return true;
}

void pages_give(struct pages *p, const int32_t *ids, uint32_t n) {
    assert(n <= p->n - p->n_free);
    // Backwards, so that the next taker gets them in the order they were taken.
    for (uint32_t i = n; i > 0; i--) p->free[p->n_free++] = ids[i - 1];
}
