// The nearest known word to a mistyped one.
#ifndef TF_BASE_SUGGEST_H
#define TF_BASE_SUGGEST_H

#include <stddef.h>

// The word among `words` with the smallest edit distance to `typed`, or NULL when none is near (more than a third
// of it wrong). The first wins on ties.
const char *suggest(const char *typed, const char *const *words, size_t n);

#endif
