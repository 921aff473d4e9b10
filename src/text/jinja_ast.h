// The tree that a template compiles to. Nodes live in the template's arena and never change afterwards.
#ifndef TF_TEXT_JINJA_AST_H
#define TF_TEXT_JINJA_AST_H

#include "text/jinja_value.h"

enum jinja_node_kind {
    // expressions
    JINJA_NODE_CONSTANT,  // value
    JINJA_NODE_NAME,      // name
    JINJA_NODE_ATTRIBUTE, // of . name
    JINJA_NODE_ITEM,      // of [ index ]
    JINJA_NODE_SLICE,     // only as an index
    JINJA_NODE_CALL,
    JINJA_NODE_FILTER,
    JINJA_NODE_TEST,
    JINJA_NODE_NOT, // operand
    JINJA_NODE_NEGATE,
    JINJA_NODE_PLUS,
    JINJA_NODE_AND, // binary
    JINJA_NODE_OR,
    JINJA_NODE_ARITHMETIC,
    JINJA_NODE_COMPARE,
    JINJA_NODE_CONDITION,
    JINJA_NODE_CONCAT, // items
    JINJA_NODE_LIST,
    JINJA_NODE_TUPLE,
    JINJA_NODE_MAPPING, // items: key, value, key, value, ...
    // only as targets of an assignment
    JINJA_NODE_NAMESPACE_TARGET, // attribute
    // statements
    JINJA_NODE_TEXT,  // value
    JINJA_NODE_PRINT, // operand
    JINJA_NODE_IF,
    JINJA_NODE_FOR,
    JINJA_NODE_SET,
    JINJA_NODE_SET_BLOCK,
    JINJA_NODE_MACRO,
    JINJA_NODE_CALL_BLOCK,
    JINJA_NODE_FILTER_BLOCK,
    JINJA_NODE_WITH,
    JINJA_NODE_SCOPE, // body
    JINJA_NODE_BREAK,
    JINJA_NODE_CONTINUE
};

enum jinja_operator {
    JINJA_OPERATOR_ADD,
    JINJA_OPERATOR_SUBTRACT,
    JINJA_OPERATOR_MULTIPLY,
    JINJA_OPERATOR_DIVIDE,
    JINJA_OPERATOR_FLOOR_DIVIDE,
    JINJA_OPERATOR_MODULO,
    JINJA_OPERATOR_POWER,
    JINJA_OPERATOR_EQUAL,
    JINJA_OPERATOR_NOT_EQUAL,
    JINJA_OPERATOR_LESS,
    JINJA_OPERATOR_LESS_EQUAL,
    JINJA_OPERATOR_GREATER,
    JINJA_OPERATOR_GREATER_EQUAL,
    JINJA_OPERATOR_IN,
    JINJA_OPERATOR_NOT_IN
};

struct jinja_node;
struct jinja_builtin;

// Nodes in order, chained by `next`.
struct jinja_nodes {
    struct jinja_node *first, *last;
    size_t n;
};

struct jinja_keyword {
    const struct jinja_string *name;
    struct jinja_node *value;
    struct jinja_keyword *next;
};

struct jinja_call_arguments {
    struct jinja_nodes positional;
    struct jinja_keyword *keywords, *last_keyword;
    struct jinja_node *spread, *spread_keywords; // *args and **kwargs, or NULL
};

// A macro, or the body of a call block, which is a macro named "caller".
struct jinja_macro_definition {
    const struct jinja_string *name;
    struct jinja_nodes parameters; // NAME nodes
    struct jinja_nodes defaults;   // of the last parameters
    struct jinja_nodes body;
    // The interned names "caller", "varargs" and "kwargs" where the body mentions them, else NULL.
    const struct jinja_string *caller, *varargs, *kwargs;
};

// One `if` or `elif` with its body.
struct jinja_branch {
    struct jinja_node *test;
    struct jinja_nodes body;
    struct jinja_branch *next;
};

// One operator of a chain a < b == c.
struct jinja_comparison {
    enum jinja_operator operator;
    struct jinja_node *right;
    struct jinja_comparison *next;
};

struct jinja_node {
    enum jinja_node_kind kind;
    uint32_t line, column;
    struct jinja_node *next;
    union {
        struct jinja_value value;
        const struct jinja_string *name; // interned: equal names of one template share their address
        struct jinja_node *operand;
        struct jinja_nodes items, body;
        struct {
            struct jinja_node *of;
            const struct jinja_string *name; // NAMESPACE_TARGET: `of` is the NAME
        } attribute;
        struct {
            struct jinja_node *of, *index;
        } item;
        struct {
            struct jinja_node *start, *stop, *step; // NULL = left out
        } slice;
        struct {
            struct jinja_node *of; // FILTER of a filter block or block set: NULL = the block's text
            const struct jinja_builtin *builtin; // FILTER, TEST; NULL: there is none of the name `missing`
            const struct jinja_string *missing;
            struct jinja_call_arguments arguments;
        } call;
        struct {
            enum jinja_operator operator;
            struct jinja_node *left, *right;
        } binary;
        struct {
            struct jinja_node *first;
            struct jinja_comparison *rest;
        } compare;
        struct {
            struct jinja_node *test, *then, *otherwise; // otherwise may be NULL
        } condition;
        struct {
            struct jinja_branch *branches;
            struct jinja_nodes otherwise;
        } choice;
        struct {
            struct jinja_node *target, *over, *filter; // filter may be NULL
            const struct jinja_string *loop; // "loop", interned
            struct jinja_nodes body, otherwise;
            bool recursive;
        } loop;
        struct {
            struct jinja_node *target, *value; // SET_BLOCK: a FILTER chain or NULL
            struct jinja_nodes body;
        } set;
        struct jinja_macro_definition macro;
        struct {
            struct jinja_node *call;
            struct jinja_macro_definition *macro;
        } call_block;
        struct {
            struct jinja_node *filter;
            struct jinja_nodes body;
        } filter_block;
        struct {
            struct jinja_nodes targets, values, body;
        } with;
    };
};

#endif
