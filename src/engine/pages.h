// Which cache pages are free. The engine knows them as numbers only; the model owns their bytes.
#ifndef TF_ENGINE_PAGES_H
#define TF_ENGINE_PAGES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pages {
    int32_t *free; // stack of free page ids, [n_free]; the lowest id is taken first while none was given back
    uint32_t n_free, n;
};

enum status pages_init(struct pages *p, uint32_t n, struct err *e) TF_MUST_CHECK;
void pages_fini(struct pages *p);

// Moves n page ids to `out`; false and nothing moved when fewer are free.
bool pages_take(struct pages *p, uint32_t n, int32_t *out);
void pages_give(struct pages *p, const int32_t *ids, uint32_t n);

#endif
