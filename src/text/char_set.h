// Sets of code points as sorted ranges: what a character class of a regular expression stands for.
#ifndef TF_TEXT_CHAR_SET_H
#define TF_TEXT_CHAR_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct char_range {
    uint32_t first, last; // both belong to it
};

// Starts zeroed (the empty set); free with char_set_fini. Every change gives false when there is no memory.
struct char_set {
    struct char_range *ranges; // owned; rising, apart from each other by at least one code point
    size_t n, cap;
};

void char_set_fini(struct char_set *s);

bool char_set_add(struct char_set *s, uint32_t first, uint32_t last);
bool char_set_unite(struct char_set *s, const struct char_set *other);
bool char_set_intersect(struct char_set *s, const struct char_set *other);
bool char_set_invert(struct char_set *s); // among all code points but surrogates

// Adds every code point whose class (text/unicode.h) has one of the bits.
bool char_set_add_class(struct char_set *s, unsigned classes);

// Adds what \p{name} stands for: a general category ("Lu"), a group of them ("L", "LC"), "Any", or a script that the
// tables know ("Han"). *known is false, and nothing is added, when the name is none of those.
bool char_set_add_property(struct char_set *s, const char *name, size_t n, bool *known);

#endif
