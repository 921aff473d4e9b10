// The character classes of a regular expression: everything that stands for a set of code points.
#ifndef TF_TEXT_REGEX_CLASS_H
#define TF_TEXT_REGEX_CLASS_H

#include "base/err.h"
#include "text/char_set.h"

// A place in a pattern.
struct regex_reader {
    const char *pattern; // valid UTF-8, borrowed
    size_t n, at;
    struct err *e;
};

// The next code point without and with stepping over it; UINT32_MAX at the end.
uint32_t regex_peek(const struct regex_reader *r);
uint32_t regex_take(struct regex_reader *r);
bool regex_accept(struct regex_reader *r, const char *text); // steps over it when it comes next

// Refuses the construct that ends at the reader's place and began at `from`.
enum status regex_refuse(struct regex_reader *r, size_t from) TF_MUST_CHECK;

// Adds what \w stands for. Outside brackets Oniguruma counts the superscript digits and fractions of Latin-1 as well.
bool regex_add_word(struct char_set *set, bool in_brackets);

// A backslash was taken: \s, \d, \w, \h, their opposites and \p{..} are added to `set` (*is_set is true); any other
// escape is the one character *c.
enum status regex_escape(struct regex_reader *r, bool in_brackets, struct char_set *set, bool *is_set,
                         uint32_t *c) TF_MUST_CHECK;

// An opening bracket was taken: adds what the class holds to `set`, up to and with its closing bracket.
enum status regex_class(struct regex_reader *r, struct char_set *set, int depth) TF_MUST_CHECK;

#endif
