// Expressions: jinja2's grammar, one function a level of precedence.
#include "text/jinja_parse.h"

#include "text/jinja_builtins.h"

#include <stdlib.h>
#include <string.h>

static enum status parse_unary(struct jinja_parser *p, bool with_filters, struct jinja_node **out);
static enum status parse_or(struct jinja_parser *p, struct jinja_node **out);

static enum status constant(struct jinja_parser *p, const struct jinja_token *at, struct jinja_value v,
                            struct jinja_node **out) {
    TRY(jinja_parse_node(p, JINJA_NODE_CONSTANT, at, out));
    (*out)->value = v;
    return STATUS_OK;
}

static enum status binary(struct jinja_parser *p, enum jinja_node_kind kind, const struct jinja_token *at,
                          struct jinja_node *left, struct jinja_node *right, struct jinja_node **out) {
    TRY(jinja_parse_node(p, kind, at, out));
    (*out)->binary.left = left;
    (*out)->binary.right = right;
    return STATUS_OK;
}

static enum status unary(struct jinja_parser *p, enum jinja_node_kind kind, const struct jinja_token *at,
                         struct jinja_node *operand, struct jinja_node **out) {
    TRY(jinja_parse_node(p, kind, at, out));
    (*out)->operand = operand;
    return STATUS_OK;
}

// Adjacent strings are one.
static enum status parse_string(struct jinja_parser *p, struct jinja_node **out) {
    const struct jinja_token *first = p->at;
    size_t n = 0, done = 0;
    for (const struct jinja_token *t = first; t->kind == JINJA_TOKEN_STRING; t++) n += t->n;
    char *text = arena_new(p->arena, n + 1, 1);
    if (!text) return STATUS_TOO_LARGE;
    for (; jinja_parse_is(p, JINJA_TOKEN_STRING); p->at++) {
        if (p->at->n) memcpy(text + done, p->at->text, p->at->n);
        done += p->at->n;
    }
    struct jinja_value v;
    TRY(jinja_string_borrow(p->arena, text, n, false, &v));
    return constant(p, first, v, out);
}

// What jinja2 has but this engine does not is refused where it is named.
static enum status refuse_unsupported(struct jinja_parser *p, const struct jinja_token *at) {
    static const char *const names[] = {"lipsum"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && jinja_parse_is(p, JINJA_TOKEN_PAREN_OPEN); i++) {
        if (jinja_token_is_name(at, names[i])) return jinja_parse_fail(p, at, "%s() is not supported", names[i]);
    }
    return STATUS_OK;
}

static enum status parse_name(struct jinja_parser *p, bool namespaces, struct jinja_node **out) {
    static const struct {
        const char *name;
        struct jinja_value value;
    } constants[] = {
        {"true", {.type = JINJA_BOOL, .truth = true}},   {"True", {.type = JINJA_BOOL, .truth = true}},
        {"false", {.type = JINJA_BOOL, .truth = false}}, {"False", {.type = JINJA_BOOL, .truth = false}},
        {"none", {.type = JINJA_NONE}},                  {"None", {.type = JINJA_NONE}},
    };
    const struct jinja_token *at = p->at++;
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (jinja_token_is_name(at, constants[i].name)) return constant(p, at, constants[i].value, out);
    }
    TRY(refuse_unsupported(p, at));
    p->saw_caller |= jinja_token_is_name(at, "caller");
    p->saw_varargs |= jinja_token_is_name(at, "varargs");
    p->saw_kwargs |= jinja_token_is_name(at, "kwargs");
    TRY(jinja_parse_node(p, JINJA_NODE_NAME, at, out));
    TRY(jinja_parse_intern(p, at, &(*out)->name));
    if (!namespaces || !jinja_parse_skip(p, JINJA_TOKEN_DOT)) return STATUS_OK;
    struct jinja_node *owner = *out;
    TRY(jinja_parse_node(p, JINJA_NODE_NAMESPACE_TARGET, at, out));
    (*out)->attribute.of = owner;
    at = p->at;
    TRY(jinja_parse_expect(p, JINJA_TOKEN_NAME));
    return jinja_parse_intern(p, at, &(*out)->attribute.name);
}

// Expressions with commas up to the closing token, a comma before it allowed; mappings have `key: value`.
static enum status parse_items(struct jinja_parser *p, enum jinja_node_kind kind, enum jinja_token_kind close,
                               struct jinja_node **out) {
    TRY(jinja_parse_node(p, kind, p->at, out));
    p->at++;
    while (!jinja_parse_is(p, close)) {
        struct jinja_node *item;
        if ((*out)->items.n) TRY(jinja_parse_expect(p, JINJA_TOKEN_COMMA));
        if (jinja_parse_is(p, close)) break;
        TRY(jinja_parse_expression(p, &item));
        jinja_parse_append(&(*out)->items, item);
        if (kind != JINJA_NODE_MAPPING) continue;
        TRY(jinja_parse_expect(p, JINJA_TOKEN_COLON));
        TRY(jinja_parse_expression(p, &item));
        jinja_parse_append(&(*out)->items, item);
    }
    return jinja_parse_expect(p, close);
}

static enum status parse_primary(struct jinja_parser *p, bool namespaces, struct jinja_node **out) {
    static const struct jinja_tuple_style in_parentheses = {.parenthesised = true};
    const struct jinja_token *at = p->at;
    switch (at->kind) {
    case JINJA_TOKEN_NAME: return parse_name(p, namespaces, out);
    case JINJA_TOKEN_STRING: return parse_string(p, out);
    case JINJA_TOKEN_INTEGER: p->at++; return constant(p, at, jinja_int(at->integer), out);
    case JINJA_TOKEN_FLOAT: p->at++; return constant(p, at, jinja_float(at->real), out);
    case JINJA_TOKEN_PAREN_OPEN:
        p->at++;
        TRY(jinja_parse_tuple(p, &in_parentheses, out));
        return jinja_parse_expect(p, JINJA_TOKEN_PAREN_CLOSE);
    case JINJA_TOKEN_BRACKET_OPEN: return parse_items(p, JINJA_NODE_LIST, JINJA_TOKEN_BRACKET_CLOSE, out);
    case JINJA_TOKEN_BRACE_OPEN: return parse_items(p, JINJA_NODE_MAPPING, JINJA_TOKEN_BRACE_CLOSE, out);
    default: return jinja_parse_fail(p, at, "unexpected '%s'", jinja_token_text(at->kind));
    }
}

static bool slice_part_ends(const struct jinja_parser *p) {
    return jinja_parse_is(p, JINJA_TOKEN_COLON) || jinja_parse_is(p, JINJA_TOKEN_BRACKET_CLOSE) ||
           jinja_parse_is(p, JINJA_TOKEN_COMMA);
}

// One index: an expression, or a slice where a colon follows.
static enum status parse_index(struct jinja_parser *p, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    struct jinja_node *start = NULL;
    if (!jinja_parse_is(p, JINJA_TOKEN_COLON)) {
        TRY(jinja_parse_expression(p, &start));
        *out = start;
        if (!jinja_parse_is(p, JINJA_TOKEN_COLON)) return STATUS_OK;
    }
    p->at++;
    TRY(jinja_parse_node(p, JINJA_NODE_SLICE, at, out));
    (*out)->slice.start = start;
    if (!slice_part_ends(p)) TRY(jinja_parse_expression(p, &(*out)->slice.stop));
    if (jinja_parse_skip(p, JINJA_TOKEN_COLON) && !slice_part_ends(p)) {
        TRY(jinja_parse_expression(p, &(*out)->slice.step));
    }
    return STATUS_OK;
}

static enum status parse_bracket(struct jinja_parser *p, const struct jinja_token *at, struct jinja_node **index) {
    struct jinja_nodes all = {0};
    while (!jinja_parse_is(p, JINJA_TOKEN_BRACKET_CLOSE)) {
        struct jinja_node *one;
        if (all.n) TRY(jinja_parse_expect(p, JINJA_TOKEN_COMMA));
        TRY(parse_index(p, &one));
        if (one->kind == JINJA_NODE_SLICE && (all.n || jinja_parse_is(p, JINJA_TOKEN_COMMA))) {
            return jinja_parse_fail(p, at, "a slice among several indexes is not supported");
        }
        jinja_parse_append(&all, one);
    }
    *index = all.first;
    if (all.n != 1) {
        TRY(jinja_parse_node(p, JINJA_NODE_TUPLE, at, index));
        (*index)->items = all;
    }
    return jinja_parse_expect(p, JINJA_TOKEN_BRACKET_CLOSE);
}

static enum status parse_subscript(struct jinja_parser *p, struct jinja_node **node) {
    const struct jinja_token *at = p->at++;
    struct jinja_node *of = *node;
    if (at->kind == JINJA_TOKEN_DOT && jinja_parse_is(p, JINJA_TOKEN_NAME)) {
        TRY(jinja_parse_node(p, JINJA_NODE_ATTRIBUTE, at, node));
        (*node)->attribute.of = of;
        return jinja_parse_intern(p, p->at++, &(*node)->attribute.name);
    }
    TRY(jinja_parse_node(p, JINJA_NODE_ITEM, at, node));
    (*node)->item.of = of;
    if (at->kind == JINJA_TOKEN_BRACKET_OPEN) return parse_bracket(p, at, &(*node)->item.index);
    if (!jinja_parse_is(p, JINJA_TOKEN_INTEGER)) return jinja_parse_fail(p, p->at, "expected name or number");
    TRY(constant(p, p->at, jinja_int(p->at->integer), &(*node)->item.index));
    p->at++;
    return STATUS_OK;
}

static enum status parse_keyword(struct jinja_parser *p, struct jinja_call_arguments *a) {
    struct jinja_keyword *k = arena_new(p->arena, 1, sizeof *k);
    if (!k) return STATUS_TOO_LARGE;
    TRY(jinja_parse_intern(p, p->at, &k->name));
    for (struct jinja_keyword *other = a->keywords; other; other = other->next) {
        if (other->name == k->name) return jinja_parse_fail(p, p->at, "keyword argument repeated");
    }
    p->at += 2;
    if (a->last_keyword) a->last_keyword->next = k;
    else a->keywords = k;
    a->last_keyword = k;
    return jinja_parse_expression(p, &k->value);
}

static enum status parse_argument(struct jinja_parser *p, struct jinja_call_arguments *a) {
    static const char wrong[] = "invalid syntax for function call expression";
    const struct jinja_token *at = p->at;
    if (jinja_parse_skip(p, JINJA_TOKEN_MULTIPLY)) {
        if (a->spread || a->spread_keywords) return jinja_parse_fail(p, at, "%s", wrong);
        return jinja_parse_expression(p, &a->spread);
    }
    if (jinja_parse_skip(p, JINJA_TOKEN_POWER)) {
        if (a->spread_keywords) return jinja_parse_fail(p, at, "%s", wrong);
        return jinja_parse_expression(p, &a->spread_keywords);
    }
    if (at->kind == JINJA_TOKEN_NAME && at[1].kind == JINJA_TOKEN_ASSIGN) {
        if (a->spread_keywords) return jinja_parse_fail(p, at, "%s", wrong);
        return parse_keyword(p, a);
    }
    if (a->spread || a->spread_keywords || a->keywords) return jinja_parse_fail(p, at, "%s", wrong);
    struct jinja_node *value;
    TRY(jinja_parse_expression(p, &value));
    jinja_parse_append(&a->positional, value);
    return STATUS_OK;
}

static enum status parse_arguments(struct jinja_parser *p, struct jinja_call_arguments *a) {
    TRY(jinja_parse_expect(p, JINJA_TOKEN_PAREN_OPEN));
    for (bool first = true; !jinja_parse_is(p, JINJA_TOKEN_PAREN_CLOSE); first = false) {
        if (!first) {
            TRY(jinja_parse_expect(p, JINJA_TOKEN_COMMA));
            if (jinja_parse_is(p, JINJA_TOKEN_PAREN_CLOSE)) break;
        }
        TRY(parse_argument(p, a));
    }
    return jinja_parse_expect(p, JINJA_TOKEN_PAREN_CLOSE);
}

static enum status parse_call(struct jinja_parser *p, struct jinja_node **node) {
    struct jinja_node *of = *node;
    TRY(jinja_parse_node(p, JINJA_NODE_CALL, p->at, node));
    (*node)->call.of = of;
    return parse_arguments(p, &(*node)->call.arguments);
}

static enum status parse_postfix(struct jinja_parser *p, struct jinja_node **node) {
    for (;;) {
        if (jinja_parse_is(p, JINJA_TOKEN_DOT) || jinja_parse_is(p, JINJA_TOKEN_BRACKET_OPEN)) {
            TRY(parse_subscript(p, node));
        } else if (jinja_parse_is(p, JINJA_TOKEN_PAREN_OPEN)) {
            TRY(parse_call(p, node));
        } else {
            return STATUS_OK;
        }
    }
}

// A filter or test must exist, unless jinja2 itself would notice only when it gets there.
static enum status check_builtin(struct jinja_parser *p, const struct jinja_token *at, const char *what,
                                 struct jinja_node *node) {
    static const char *const unsupported[] = {"pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr"};
    int n = at->n > 60 ? 60 : (int)at->n;
    if (node->call.builtin) return STATUS_OK;
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0] && *what == 'f'; i++) {
        if (!jinja_token_is_name(at, unsupported[i])) continue;
        return jinja_parse_fail(p, at, "the filter '%s' is not supported", unsupported[i]);
    }
    if (!p->soft) return jinja_parse_fail(p, at, "No %s named '%.*s'.", what, n, at->text);
    TRY(jinja_parse_intern(p, at, &node->call.missing));
    return STATUS_OK;
}

enum status jinja_parse_filters(struct jinja_parser *p, bool first, struct jinja_node **node) {
    while (first || jinja_parse_skip(p, JINJA_TOKEN_PIPE)) {
        const struct jinja_token *at = p->at;
        struct jinja_node *of = *node;
        first = false;
        TRY(jinja_parse_expect(p, JINJA_TOKEN_NAME));
        TRY(jinja_parse_node(p, JINJA_NODE_FILTER, at, node));
        (*node)->call.of = of;
        (*node)->call.builtin = jinja_filter_find(at->text, at->n);
        TRY(check_builtin(p, at, "filter", *node));
        if (jinja_parse_is(p, JINJA_TOKEN_PAREN_OPEN)) TRY(parse_arguments(p, &(*node)->call.arguments));
    }
    return STATUS_OK;
}

// A test may take one argument without parentheses: `x is divisibleby 3`.
static bool bare_argument_follows(const struct jinja_token *at) {
    switch (at->kind) {
    case JINJA_TOKEN_STRING:
    case JINJA_TOKEN_INTEGER:
    case JINJA_TOKEN_FLOAT:
    case JINJA_TOKEN_BRACKET_OPEN:
    case JINJA_TOKEN_BRACE_OPEN: return true;
    case JINJA_TOKEN_NAME:
        return !jinja_token_is_name(at, "else") && !jinja_token_is_name(at, "or") && !jinja_token_is_name(at, "and");
    default: return false;
    }
}

static enum status parse_test(struct jinja_parser *p, struct jinja_node **node) {
    const struct jinja_token *is = p->at++;
    struct jinja_node *of = *node;
    bool negated = jinja_parse_skip_name(p, "not");
    const struct jinja_token *at = p->at;
    TRY(jinja_parse_expect(p, JINJA_TOKEN_NAME));
    TRY(jinja_parse_node(p, JINJA_NODE_TEST, at, node));
    struct jinja_node *test = *node;
    test->call.of = of;
    test->call.builtin = jinja_test_find(at->text, at->n);
    TRY(check_builtin(p, at, "test", test));
    if (jinja_parse_is(p, JINJA_TOKEN_PAREN_OPEN)) {
        TRY(parse_arguments(p, &test->call.arguments));
    } else if (bare_argument_follows(p->at)) {
        if (jinja_token_is_name(p->at, "is")) {
            return jinja_parse_fail(p, p->at, "You cannot chain multiple tests with is");
        }
        struct jinja_node *argument;
        TRY(parse_primary(p, false, &argument));
        TRY(parse_postfix(p, &argument));
        jinja_parse_append(&test->call.arguments.positional, argument);
    }
    return negated ? unary(p, JINJA_NODE_NOT, is, test, node) : STATUS_OK;
}

static enum status parse_filters_and_tests(struct jinja_parser *p, struct jinja_node **node) {
    for (;;) {
        if (jinja_parse_is(p, JINJA_TOKEN_PIPE)) {
            TRY(jinja_parse_filters(p, false, node));
        } else if (jinja_token_is_name(p->at, "is")) {
            TRY(parse_test(p, node));
        } else if (jinja_parse_is(p, JINJA_TOKEN_PAREN_OPEN)) {
            TRY(parse_call(p, node));
        } else {
            return STATUS_OK;
        }
    }
}

static enum status parse_unary(struct jinja_parser *p, bool with_filters, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    TRY(jinja_parse_deeper(p));
    if (at->kind == JINJA_TOKEN_SUBTRACT || at->kind == JINJA_TOKEN_ADD) {
        struct jinja_node *operand;
        p->at++;
        TRY(parse_unary(p, false, &operand));
        TRY(unary(p, at->kind == JINJA_TOKEN_ADD ? JINJA_NODE_PLUS : JINJA_NODE_NEGATE, at, operand, out));
    } else {
        TRY(parse_primary(p, false, out));
    }
    TRY(parse_postfix(p, out));
    if (with_filters) TRY(parse_filters_and_tests(p, out));
    p->depth--;
    return STATUS_OK;
}

// Left-associative operators in levels, from the loosest; below the last stand unary expressions.
enum level { LEVEL_SUM, LEVEL_CONCAT, LEVEL_PRODUCT, LEVEL_POWER, LEVEL_UNARY };

static bool operator_of(enum level level, enum jinja_token_kind kind, enum jinja_operator *out) {
    static const struct {
        enum level level;
        enum jinja_token_kind kind;
        enum jinja_operator operator;
    } all[] = {
        {LEVEL_SUM, JINJA_TOKEN_ADD, JINJA_OPERATOR_ADD},
        {LEVEL_SUM, JINJA_TOKEN_SUBTRACT, JINJA_OPERATOR_SUBTRACT},
        {LEVEL_PRODUCT, JINJA_TOKEN_MULTIPLY, JINJA_OPERATOR_MULTIPLY},
        {LEVEL_PRODUCT, JINJA_TOKEN_DIVIDE, JINJA_OPERATOR_DIVIDE},
        {LEVEL_PRODUCT, JINJA_TOKEN_FLOOR_DIVIDE, JINJA_OPERATOR_FLOOR_DIVIDE},
        {LEVEL_PRODUCT, JINJA_TOKEN_MODULO, JINJA_OPERATOR_MODULO},
        {LEVEL_POWER, JINJA_TOKEN_POWER, JINJA_OPERATOR_POWER},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].level != level || all[i].kind != kind) continue;
        *out = all[i].operator;
        return true;
    }
    return false;
}

static enum status parse_level(struct jinja_parser *p, enum level level, struct jinja_node **out) {
    if (level == LEVEL_UNARY) return parse_unary(p, true, out);
    const struct jinja_token *at = p->at;
    enum jinja_operator operator;
    struct jinja_node *part;
    TRY(parse_level(p, level + 1, out));
    if (level == LEVEL_CONCAT && jinja_parse_is(p, JINJA_TOKEN_TILDE)) {
        struct jinja_node *first = *out;
        TRY(jinja_parse_node(p, JINJA_NODE_CONCAT, at, out));
        jinja_parse_append(&(*out)->items, first);
        while (jinja_parse_skip(p, JINJA_TOKEN_TILDE)) {
            TRY(parse_level(p, level + 1, &part));
            jinja_parse_append(&(*out)->items, part);
        }
    }
    while (operator_of(level, p->at->kind, &operator)) {
        at = p->at++;
        TRY(parse_level(p, level + 1, &part));
        TRY(binary(p, JINJA_NODE_ARITHMETIC, at, *out, part, out));
        (*out)->binary.operator = operator;
    }
    return STATUS_OK;
}

static bool comparison_of(struct jinja_parser *p, enum jinja_operator *out) {
    static const enum jinja_token_kind kinds[] = {JINJA_TOKEN_EQUAL, JINJA_TOKEN_NOT_EQUAL, JINJA_TOKEN_LESS,
                                                  JINJA_TOKEN_LESS_EQUAL, JINJA_TOKEN_GREATER,
                                                  JINJA_TOKEN_GREATER_EQUAL};
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!jinja_parse_skip(p, kinds[i])) continue;
        *out = (enum jinja_operator)(JINJA_OPERATOR_EQUAL + i);
        return true;
    }
    *out = JINJA_OPERATOR_IN;
    if (jinja_parse_skip_name(p, "in")) return true;
    *out = JINJA_OPERATOR_NOT_IN;
    if (!jinja_token_is_name(p->at, "not") || !jinja_token_is_name(p->at + 1, "in")) return false;
    p->at += 2;
    return true;
}

static enum status parse_compare(struct jinja_parser *p, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    TRY(parse_level(p, LEVEL_SUM, out));
    struct jinja_node *first = *out;
    struct jinja_comparison **end = NULL;
    enum jinja_operator operator;
    while (comparison_of(p, &operator)) {
        if (!end) {
            TRY(jinja_parse_node(p, JINJA_NODE_COMPARE, at, out));
            (*out)->compare.first = first;
            end = &(*out)->compare.rest;
        }
        if (!(*end = arena_new(p->arena, 1, sizeof **end))) return STATUS_TOO_LARGE;
        (*end)->operator = operator;
        TRY(parse_level(p, LEVEL_SUM, &(*end)->right));
        end = &(*end)->next;
    }
    return STATUS_OK;
}

static enum status parse_not(struct jinja_parser *p, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    if (!jinja_parse_skip_name(p, "not")) return parse_compare(p, out);
    struct jinja_node *operand;
    TRY(jinja_parse_deeper(p));
    TRY(parse_not(p, &operand));
    p->depth--;
    return unary(p, JINJA_NODE_NOT, at, operand, out);
}

static enum status parse_and(struct jinja_parser *p, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    struct jinja_node *right;
    TRY(parse_not(p, out));
    while (jinja_parse_skip_name(p, "and")) {
        TRY(parse_not(p, &right));
        TRY(binary(p, JINJA_NODE_AND, at, *out, right, out));
    }
    return STATUS_OK;
}

static enum status parse_or(struct jinja_parser *p, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    struct jinja_node *right;
    TRY(parse_and(p, out));
    while (jinja_parse_skip_name(p, "or")) {
        TRY(parse_and(p, &right));
        TRY(binary(p, JINJA_NODE_OR, at, *out, right, out));
    }
    return STATUS_OK;
}

enum status jinja_parse_expression(struct jinja_parser *p, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    TRY(jinja_parse_deeper(p));
    TRY(parse_or(p, out));
    while (jinja_parse_skip_name(p, "if")) {
        struct jinja_node *then = *out;
        TRY(jinja_parse_node(p, JINJA_NODE_CONDITION, at, out));
        (*out)->condition.then = then;
        TRY(parse_or(p, &(*out)->condition.test));
        if (jinja_parse_skip_name(p, "else")) TRY(jinja_parse_expression(p, &(*out)->condition.otherwise));
    }
    p->depth--;
    return STATUS_OK;
}

static bool tuple_ends(const struct jinja_parser *p, const struct jinja_tuple_style *style) {
    if (style->end_name && jinja_token_is_name(p->at, style->end_name)) return true;
    return jinja_parse_is(p, JINJA_TOKEN_PRINT_END) || jinja_parse_is(p, JINJA_TOKEN_BLOCK_END) ||
           jinja_parse_is(p, JINJA_TOKEN_PAREN_CLOSE);
}

enum status jinja_parse_tuple(struct jinja_parser *p, const struct jinja_tuple_style *style, struct jinja_node **out) {
    const struct jinja_token *at = p->at;
    struct jinja_nodes all = {0};
    bool commas = false;
    while (!tuple_ends(p, style)) {
        struct jinja_node *one;
        if (style->names_only) TRY(parse_primary(p, style->namespaces, &one));
        else if (style->no_condition) TRY(parse_or(p, &one));
        else TRY(jinja_parse_expression(p, &one));
        jinja_parse_append(&all, one);
        if (!jinja_parse_skip(p, JINJA_TOKEN_COMMA)) break;
        commas = true;
    }
    *out = all.first;
    if (all.n && !commas) return STATUS_OK;
    if (!all.n && !style->parenthesised) {
        return jinja_parse_fail(p, p->at, "Expected an expression, got '%s'", jinja_token_text(p->at->kind));
    }
    TRY(jinja_parse_node(p, JINJA_NODE_TUPLE, at, out));
    (*out)->items = all;
    return STATUS_OK;
}
