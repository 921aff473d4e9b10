// Pre-tokenizers as a chain of steps, for everything that is not one of the hand-written ones.
#ifndef TF_TEXT_SPLIT_H
#define TF_TEXT_SPLIT_H

#include "base/buf.h"
#include "text/regex.h"
#include "text/tokenizer.h"

// What becomes of the matches of a step.
enum split_behaviour {
    SPLIT_ISOLATED,
    SPLIT_REMOVED,
    SPLIT_MERGED_WITH_PREVIOUS,
    SPLIT_MERGED_WITH_NEXT,
    SPLIT_CONTIGUOUS // neighbours are one
};

enum split_kind {
    SPLIT_REGEX, // matches of the regular expression `text`
    SPLIT_TEXT,  // places where `text` stands
    SPLIT_CLASS, // each character of `classes` (text/unicode.h) by itself
    SPLIT_WORDS, // \w+|[^\w\s]+
    // From here on a step writes the pieces anew:
    SPLIT_PREFIX_SPACE, // a blank before each that has none
    SPLIT_METASPACE,    // `text` for every blank, and before pieces as `prepend` says
    SPLIT_ALPHABET      // bytes written as characters of the byte alphabet
};

enum split_prepend { SPLIT_PREPEND_NEVER, SPLIT_PREPEND_FIRST, SPLIT_PREPEND_ALWAYS };

struct split_step {
    enum split_kind kind;
    enum split_behaviour behaviour;
    bool invert; // what does not match counts as the match
    unsigned classes;
    enum split_prepend prepend; // FIRST: only where the whole input begins
    const char *text;           // borrowed
    size_t n;
};

struct split_compiled; // a step with its regular expression

struct split_chain {
    struct split_compiled *steps; // owned
    size_t n;
    bool edits;    // pieces may be no parts of the text that came
    bool alphabet; // pieces are written in the byte alphabet
};

// Copies and compiles the steps. Patterns that are not supported are refused.
enum status split_init(struct split_chain *c, const struct split_step *steps, size_t n, struct err *e) TF_MUST_CHECK;
void split_fini(struct split_chain *c);

// The hand-written pre-tokenizer that does exactly this, PRETOKENIZER_COUNT for none.
enum pretokenizer split_known(const struct split_step *steps, size_t n);

// Memory that calls reuse, one a thread. Starts zeroed.
struct split_scratch {
    struct text_span *pieces, *next; // [n_pieces] of the last step, and the list being made
    size_t n_pieces, cap, n_next, cap_next;
    struct split_part *parts; // of the piece being cut
    size_t n_parts, cap_parts;
    struct buf text, next_text; // what the pieces are parts of, once a step has written it
    struct regex_scratch regex;
    bool ready;
};
void split_scratch_fini(struct split_scratch *s);

// Cuts text[0..n) (valid UTF-8). s->pieces[0..s->n_pieces) are then spans of *cut, none empty. `at_start`: the text
// begins where the whole input begins.
enum status split_run(const struct split_chain *c, struct split_scratch *s, const char *text, size_t n, bool at_start,
                      const char **cut, struct err *e) TF_MUST_CHECK;

#endif
