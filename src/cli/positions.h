// The list of positions that `logits` writes.
#ifndef TF_CLI_POSITIONS_H
#define TF_CLI_POSITIONS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct positions {
    uint32_t *at; // in the order they were asked for; one may come twice
    size_t n;
};

// Parses "0,5,299"; every position lies below n_prompt. Free with positions_fini.
enum status positions_parse(const char *list, size_t n_prompt, struct positions *out, struct err *e) TF_MUST_CHECK;
void positions_fini(struct positions *p);

#endif
