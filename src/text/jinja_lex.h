// A template's text as tokens, white space control already applied.
#ifndef TF_TEXT_JINJA_LEX_H
#define TF_TEXT_JINJA_LEX_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

// X(name, text): what messages call it.
#define JINJA_TOKEN_LIST(X)                                                                        \
    X(END, "end of template")                                                                      \
    X(TEXT, "template text")                                                                       \
    X(PRINT_BEGIN, "{{")                                                                           \
    X(PRINT_END, "}}")                                                                             \
    X(BLOCK_BEGIN, "{%")                                                                           \
    X(BLOCK_END, "%}")                                                                             \
    X(NAME, "name")                                                                                \
    X(STRING, "string")                                                                            \
    X(INTEGER, "integer")                                                                          \
    X(FLOAT, "float")                                                                              \
    X(FLOOR_DIVIDE, "//")                                                                          \
    X(POWER, "**")                                                                                 \
    X(EQUAL, "==")                                                                                 \
    X(NOT_EQUAL, "!=")                                                                             \
    X(GREATER_EQUAL, ">=")                                                                         \
    X(LESS_EQUAL, "<=")                                                                            \
    X(GREATER, ">")                                                                                \
    X(LESS, "<")                                                                                   \
    X(ASSIGN, "=")                                                                                 \
    X(ADD, "+")                                                                                    \
    X(SUBTRACT, "-")                                                                               \
    X(DIVIDE, "/")                                                                                 \
    X(MULTIPLY, "*")                                                                               \
    X(MODULO, "%")                                                                                 \
    X(TILDE, "~")                                                                                  \
    X(BRACKET_OPEN, "[")                                                                           \
    X(BRACKET_CLOSE, "]")                                                                          \
    X(PAREN_OPEN, "(")                                                                             \
    X(PAREN_CLOSE, ")")                                                                            \
    X(BRACE_OPEN, "{")                                                                             \
    X(BRACE_CLOSE, "}")                                                                            \
    X(DOT, ".")                                                                                    \
    X(COLON, ":")                                                                                  \
    X(PIPE, "|")                                                                                   \
    X(COMMA, ",")                                                                                  \
    X(SEMICOLON, ";")

enum jinja_token_kind {
#define X(name, text) JINJA_TOKEN_##name,
    JINJA_TOKEN_LIST(X)
#undef X
        JINJA_TOKEN_COUNT
};

struct jinja_token {
    enum jinja_token_kind kind;
    uint32_t line, column; // from 1, columns in bytes
    const char *text;      // TEXT: after white space control; STRING: unescaped; else as written
    size_t n;
    int64_t integer; // INTEGER
    double real;     // FLOAT
};

struct jinja_tokens {
    struct jinja_token *at; // the last is END
    size_t n, cap;
};

enum { JINJA_SOURCE_MAX = 4 << 20, JINJA_BRACKETS_MAX = 200 };

const char *jinja_token_text(enum jinja_token_kind kind);

// All memory comes from the arena. Messages begin with "line L, column C: ".
enum status jinja_lex(struct arena *a, const char *text, size_t n, struct jinja_tokens *out,
                      struct err *e) TF_MUST_CHECK;

// The value of a quoted string's inside, Python's escapes resolved. NULL return = a fault, worded in *fault.
char *jinja_unescape(struct arena *a, const char *text, size_t n, size_t *out_n, const char **fault);

#endif
