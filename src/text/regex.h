// Regular expressions of tokenizer.json files, with the meaning that Hugging Face's `tokenizers` gives them.
//
// Patterns are written for Oniguruma. They are translated to PCRE2 with every class, \s, \w, \d and \b spelled out from
// our own Unicode tables, so that what matches does not depend on the installed library. Constructs that are not
// translated are refused by name.
#ifndef TF_TEXT_REGEX_H
#define TF_TEXT_REGEX_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct regex; // immutable once made: threads may share it

// Compiles `pattern` (n bytes, valid UTF-8).
enum status regex_new(const char *pattern, size_t n, struct regex **out, struct err *e) TF_MUST_CHECK;
void regex_free(struct regex *r);

// What matching needs beside the pattern, for one thread. Starts zeroed; one serves any number of patterns.
struct regex_scratch {
    void *match, *context, *stack;
};
void regex_scratch_fini(struct regex_scratch *s);

// A walk over the matches in a text, leftmost first, none overlapping; they may be empty.
struct regex_walk {
    const struct regex *regex;
    struct regex_scratch *scratch;
    const char *text; // valid UTF-8, borrowed
    size_t n, at;
    size_t last_end; // of the match before, SIZE_MAX for none
};

void regex_begin(struct regex_walk *w, const struct regex *r, struct regex_scratch *s, const char *text, size_t n);

// The next match is text[*begin .. *end); *found is false when there is none. A pattern that takes too many steps on
// this text is an error.
enum status regex_next(struct regex_walk *w, bool *found, size_t *begin, size_t *end, struct err *e) TF_MUST_CHECK;

struct buf;
// Appends the pattern in PCRE2's syntax. `shared` spells each large class once, as a group that is called by number:
// shorter, slower.
enum status regex_translate(const char *pattern, size_t n, bool shared, struct buf *out, struct err *e) TF_MUST_CHECK;

#endif
