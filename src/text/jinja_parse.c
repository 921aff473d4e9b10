// The parser's small tools, and its entry.
#include "text/jinja_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/jinja_parse_statement.h"

enum status jinja_parse_fail(struct jinja_parser *p, const struct jinja_token *at, const char *format, ...) {
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return err_set(p->e, STATUS_INVALID, "line %u, column %u: %s", at->line, at->column, message);
}

enum status jinja_parse_deeper(struct jinja_parser *p) {
    if (p->depth >= JINJA_PARSE_DEPTH_MAX) return jinja_parse_fail(p, p->at, "the template is nested too deeply");
    p->depth++;
    return STATUS_OK;
}

enum status jinja_parse_node(struct jinja_parser *p, enum jinja_node_kind kind, const struct jinja_token *at,
                             struct jinja_node **out) {
    struct jinja_node *node = arena_new(p->arena, 1, sizeof *node);
    if (!node) return STATUS_TOO_LARGE;
    node->kind = kind;
    node->line = at->line;
    node->column = at->column;
    *out = node;
    return STATUS_OK;
}

void jinja_parse_append(struct jinja_nodes *list, struct jinja_node *node) {
    if (list->last) list->last->next = node;
    else list->first = node;
    list->last = node;
    list->n++;
}

enum status jinja_parse_intern(struct jinja_parser *p, const struct jinja_token *at,
                               const struct jinja_string **out) {
    const struct jinja_value *known = jinja_mapping_text(p->names, at->text, at->n);
    if (!known) {
        struct jinja_value name;
        TRY(jinja_string_borrow(p->arena, at->text, at->n, false, &name));
        TRY(jinja_mapping_set(p->arena, p->names, name, name));
        *out = name.string;
        return STATUS_OK;
    }
    *out = known->string;
    return STATUS_OK;
}

bool jinja_parse_is(const struct jinja_parser *p, enum jinja_token_kind kind) { return p->at->kind == kind; }

bool jinja_token_is_name(const struct jinja_token *at, const char *name) {
    return at->kind == JINJA_TOKEN_NAME && at->n == strlen(name) && memcmp(at->text, name, at->n) == 0;
}

bool jinja_parse_skip(struct jinja_parser *p, enum jinja_token_kind kind) {
    if (p->at->kind != kind) return false;
    p->at++;
    return true;
}

bool jinja_parse_skip_name(struct jinja_parser *p, const char *name) {
    if (!jinja_token_is_name(p->at, name)) return false;
    p->at++;
    return true;
}

static enum status expected(struct jinja_parser *p, const char *what) {
    if (p->at->kind != JINJA_TOKEN_NAME) {
        return jinja_parse_fail(p, p->at, "expected '%s', got '%s'", what, jinja_token_text(p->at->kind));
    }
    int n = p->at->n > 60 ? 60 : (int)p->at->n;
    return jinja_parse_fail(p, p->at, "expected '%s', got '%.*s'", what, n, p->at->text);
}

enum status jinja_parse_expect(struct jinja_parser *p, enum jinja_token_kind kind) {
    return jinja_parse_skip(p, kind) ? STATUS_OK : expected(p, jinja_token_text(kind));
}

enum status jinja_parse_expect_name(struct jinja_parser *p, const char *name) {
    return jinja_parse_skip_name(p, name) ? STATUS_OK : expected(p, name);
}

enum status jinja_parse(struct arena *a, const char *text, size_t n, struct jinja_nodes *out, struct err *e) {
    struct jinja_tokens tokens;
    TRY(jinja_lex(a, text, n, &tokens, e));
    struct jinja_parser p = {.arena = a, .at = tokens.at, .e = e};
    enum status status = jinja_mapping_new(a, 0, &p.names);
    if (status == STATUS_OK) status = jinja_parse_template(&p, out);
    return status == STATUS_OK ? status : err_set(e, status, "the template needs too much memory");
}
