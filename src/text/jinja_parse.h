// Tokens to a tree. The parser's two halves, expressions and statements, share this header.
#ifndef TF_TEXT_JINJA_PARSE_H
#define TF_TEXT_JINJA_PARSE_H

#include "text/jinja_ast.h"
#include "text/jinja_lex.h"

enum { JINJA_PARSE_DEPTH_MAX = 200 }; // expressions in expressions, blocks in blocks

struct jinja_parser {
    struct arena *arena;
    const struct jinja_token *at; // the current token
    struct jinja_mapping *names;  // interned, name -> its string
    unsigned depth;
    unsigned loops; // `for` bodies round the current token, within the same macro
    bool soft; // inside an `if`: a filter or test that does not exist fails only when it is reached
    bool saw_caller, saw_varargs, saw_kwargs;
    struct err *e;
};

// Parses a whole template into a list of statements. Messages begin with "line L, column C: ".
enum status jinja_parse(struct arena *a, const char *text, size_t n, struct jinja_nodes *out,
                        struct err *e) TF_MUST_CHECK;

// What follows is shared by jinja_parse_*.c alone.

enum status jinja_parse_fail(struct jinja_parser *p, const struct jinja_token *at, const char *format, ...)
    TF_PRINTF(3, 4);
enum status jinja_parse_deeper(struct jinja_parser *p) TF_MUST_CHECK; // the caller lowers p->depth again
enum status jinja_parse_node(struct jinja_parser *p, enum jinja_node_kind kind, const struct jinja_token *at,
                             struct jinja_node **out) TF_MUST_CHECK;
void jinja_parse_append(struct jinja_nodes *list, struct jinja_node *node);

// The name that a NAME token spells, interned.
enum status jinja_parse_intern(struct jinja_parser *p, const struct jinja_token *at,
                               const struct jinja_string **out) TF_MUST_CHECK;

bool jinja_parse_is(const struct jinja_parser *p, enum jinja_token_kind kind);
bool jinja_token_is_name(const struct jinja_token *at, const char *name);
bool jinja_parse_skip(struct jinja_parser *p, enum jinja_token_kind kind); // steps over it when it is there
bool jinja_parse_skip_name(struct jinja_parser *p, const char *name);
enum status jinja_parse_expect(struct jinja_parser *p, enum jinja_token_kind kind) TF_MUST_CHECK;
enum status jinja_parse_expect_name(struct jinja_parser *p, const char *name) TF_MUST_CHECK;

// How a list of expressions with commas is read.
struct jinja_tuple_style {
    bool names_only;      // targets: names and literals
    bool no_condition;    // `a if b` is not part of an expression here
    bool parenthesised;   // an empty one is allowed
    bool namespaces;      // `ns.name` is a target
    const char *end_name; // a name that ends it ("in", "recursive"), or NULL
};
enum status jinja_parse_tuple(struct jinja_parser *p, const struct jinja_tuple_style *style,
                              struct jinja_node **out) TF_MUST_CHECK;
enum status jinja_parse_expression(struct jinja_parser *p, struct jinja_node **out) TF_MUST_CHECK;
// One or more filters, each behind a `|`; `first` says that the first stands without one. *node is what they apply to.
enum status jinja_parse_filters(struct jinja_parser *p, bool first, struct jinja_node **node) TF_MUST_CHECK;

#endif
