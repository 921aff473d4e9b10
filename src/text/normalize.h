// Normalizers: what is done to a text before it is cut into pieces.
#ifndef TF_TEXT_NORMALIZE_H
#define TF_TEXT_NORMALIZE_H

#include "base/buf.h"
#include "text/regex.h"

enum normalize_kind {
    NORMALIZE_NFC, // these four in the order of enum normal_form
    NORMALIZE_NFD,
    NORMALIZE_NFKC,
    NORMALIZE_NFKD,
    NORMALIZE_LOWERCASE,
    NORMALIZE_STRIP_ACCENTS,
    NORMALIZE_STRIP,         // white space at the ends, as `left` and `right` say
    NORMALIZE_REPLACE,       // `text` by `with`
    NORMALIZE_REPLACE_REGEX, // matches of the regular expression `text` by `with`
    NORMALIZE_PREPEND,       // `with` before a text that is not empty
    NORMALIZE_BERT_CLEAN,    // control characters go, white space becomes blanks
    NORMALIZE_BERT_CHINESE,  // blanks round Chinese characters
    NORMALIZE_BERT_ACCENTS,  // marks without width go
    NORMALIZE_PRECOMPILED    // `text` is a character map of SentencePiece
};

struct normalize_step {
    enum normalize_kind kind;
    bool left, right;
    const char *text, *with; // borrowed
    size_t n, n_with;
};

struct normalize_compiled; // a step with what it needs

struct normalizer_chain {
    struct normalize_compiled *steps; // owned
    size_t n;
};

// Copies and compiles the steps. What cannot be done is refused.
enum status normalize_init(struct normalizer_chain *c, const struct normalize_step *steps, size_t n,
                           struct err *e) TF_MUST_CHECK;
void normalize_fini(struct normalizer_chain *c);

// Memory that calls reuse, one a thread. Starts zeroed.
struct normalize_scratch {
    struct buf text, next;
    struct regex_scratch regex;
    bool ready;
};
void normalize_scratch_fini(struct normalize_scratch *s);

// Normalizes text[0..n) (valid UTF-8). *out is the text itself where nothing changes, else the scratch's.
enum status normalize_run(const struct normalizer_chain *c, struct normalize_scratch *s, const char *text, size_t n,
                          const char **out, size_t *n_out, struct err *e) TF_MUST_CHECK;

#endif
