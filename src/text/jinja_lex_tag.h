// What the two halves of the lexer share: text between tags, and expressions inside them.
#ifndef TF_TEXT_JINJA_LEX_TAG_H
#define TF_TEXT_JINJA_LEX_TAG_H

#include "text/jinja_lex.h"

#include <stdbool.h>

struct jinja_lexer {
    struct arena *arena;
    const char *source; // line ends normalised
    size_t n, at;
    bool line_starting; // the last tag ended with a line feed
    size_t counted, line_begin;
    uint32_t line; // of `counted`
    struct jinja_tokens *tokens;
    struct err *e;
};

enum status jinja_lex_fail(struct jinja_lexer *x, size_t offset, const char *message, const char *detail);
// Adds the token of source bytes [begin, end); `out` may be NULL.
enum status jinja_lex_push(struct jinja_lexer *x, enum jinja_token_kind kind, size_t begin, size_t end,
                           struct jinja_token **out) TF_MUST_CHECK;
bool jinja_lex_at(const struct jinja_lexer *x, size_t at, const char *text);
// Where lexing goes on after the closing sign at `at`, or 0 when there is none.
size_t jinja_lex_close(const struct jinja_lexer *x, size_t at, const char *close, bool block);

// Reads tokens up to and with the closing "}}" or "%}".
enum status jinja_lex_expression(struct jinja_lexer *x, bool block) TF_MUST_CHECK;

#endif
