// Statements: tags, their bodies, and the text between them.
#include "text/jinja_parse_statement.h"

#include <string.h>

static enum status parse_statement(struct jinja_parser *p, struct jinja_node **out);

// The names that may end a body; unused ones are NULL.
struct ends {
    const char *names[3];
};

static bool at_end(const struct jinja_token *at, const struct ends *ends) {
    for (size_t i = 0; ends && i < 3 && ends->names[i]; i++) {
        if (jinja_token_is_name(at, ends->names[i])) return true;
    }
    return false;
}

static enum status body_is_open(struct jinja_parser *p, const struct ends *ends) {
    if (!ends) return STATUS_OK;
    return jinja_parse_fail(p, p->at, "Unexpected end of template. Jinja was looking for the tag '%s'",
                            ends->names[2] ? ends->names[2] : ends->names[1] ? ends->names[1] : ends->names[0]);
}

static enum status parse_text(struct jinja_parser *p, struct jinja_node **out) {
    TRY(jinja_parse_node(p, JINJA_NODE_TEXT, p->at, out));
    TRY(jinja_string_borrow(p->arena, p->at->text, p->at->n, false, &(*out)->value));
    p->at++;
    return STATUS_OK;
}

static enum status parse_print(struct jinja_parser *p, struct jinja_node **out) {
    static const struct jinja_tuple_style any = {0};
    TRY(jinja_parse_node(p, JINJA_NODE_PRINT, p->at, out));
    p->at++;
    TRY(jinja_parse_tuple(p, &any, &(*out)->operand));
    return jinja_parse_expect(p, JINJA_TOKEN_PRINT_END);
}

// Statements up to a tag that is among `ends` (its name is the current token then) or to the template's end.
static enum status parse_statements(struct jinja_parser *p, const struct ends *ends, struct jinja_nodes *out) {
    TRY(jinja_parse_deeper(p));
    while (!jinja_parse_is(p, JINJA_TOKEN_END)) {
        struct jinja_node *node = NULL;
        if (jinja_parse_is(p, JINJA_TOKEN_TEXT)) {
            TRY(parse_text(p, &node));
        } else if (jinja_parse_is(p, JINJA_TOKEN_PRINT_BEGIN)) {
            TRY(parse_print(p, &node));
        } else {
            p->at++; // the tag's opening: nothing else stands between tags
            if (at_end(p->at, ends)) {
                p->depth--;
                return STATUS_OK;
            }
            TRY(parse_statement(p, &node));
            TRY(jinja_parse_expect(p, JINJA_TOKEN_BLOCK_END));
        }
        jinja_parse_append(out, node);
    }
    p->depth--;
    return body_is_open(p, ends);
}

// The rest of an opening tag and the body behind it.
static enum status parse_body(struct jinja_parser *p, const struct ends *ends, struct jinja_nodes *out) {
    jinja_parse_skip(p, JINJA_TOKEN_COLON);
    TRY(jinja_parse_expect(p, JINJA_TOKEN_BLOCK_END));
    return parse_statements(p, ends, out);
}

// A body that one tag ends, that tag's name included.
static enum status parse_closed_body(struct jinja_parser *p, const char *end, struct jinja_nodes *out) {
    TRY(parse_body(p, &(struct ends){{end}}, out));
    p->at++;
    return STATUS_OK;
}

static enum status parse_if(struct jinja_parser *p, struct jinja_node *node) {
    static const struct jinja_tuple_style test = {.no_condition = true};
    static const struct ends ends = {{"elif", "else", "endif"}};
    struct jinja_branch **end = &node->choice.branches;
    bool soft = p->soft;
    p->soft = true;
    do {
        if (!(*end = arena_new(p->arena, 1, sizeof **end))) return STATUS_TOO_LARGE;
        TRY(jinja_parse_tuple(p, &test, &(*end)->test));
        TRY(parse_body(p, &ends, &(*end)->body));
        end = &(*end)->next;
    } while (jinja_parse_skip_name(p, "elif"));
    if (jinja_parse_skip_name(p, "else")) TRY(parse_closed_body(p, "endif", &node->choice.otherwise));
    else p->at++;
    p->soft = soft;
    return STATUS_OK;
}

static enum status check_target(struct jinja_parser *p, const struct jinja_token *at, const struct jinja_node *target) {
    if (target->kind == JINJA_NODE_NAME || target->kind == JINJA_NODE_NAMESPACE_TARGET) return STATUS_OK;
    if (target->kind != JINJA_NODE_TUPLE) return jinja_parse_fail(p, at, "can't assign to this expression");
    for (const struct jinja_node *item = target->items.first; item; item = item->next) TRY(check_target(p, at, item));
    return STATUS_OK;
}

static enum status parse_target(struct jinja_parser *p, bool namespaces, const char *end_name,
                                struct jinja_node **out) {
    const struct jinja_tuple_style style = {.names_only = true, .namespaces = namespaces, .end_name = end_name};
    const struct jinja_token *at = p->at;
    TRY(jinja_parse_tuple(p, &style, out));
    return check_target(p, at, *out);
}

static enum status intern_word(struct jinja_parser *p, const char *word, const struct jinja_string **out) {
    return jinja_parse_intern(p, &(struct jinja_token){.text = word, .n = strlen(word)}, out);
}

static enum status parse_for(struct jinja_parser *p, struct jinja_node *node) {
    static const struct jinja_tuple_style over = {.no_condition = true, .end_name = "recursive"};
    static const struct ends ends = {{"else", "endfor"}};
    TRY(intern_word(p, "loop", &node->loop.loop));
    TRY(parse_target(p, false, "in", &node->loop.target));
    TRY(jinja_parse_expect_name(p, "in"));
    TRY(jinja_parse_tuple(p, &over, &node->loop.over));
    if (jinja_parse_skip_name(p, "if")) TRY(jinja_parse_expression(p, &node->loop.filter));
    node->loop.recursive = jinja_parse_skip_name(p, "recursive");
    bool soft = p->soft;
    p->soft = false;
    p->loops++;
    TRY(parse_body(p, &ends, &node->loop.body));
    p->loops--;
    if (jinja_parse_skip_name(p, "else")) TRY(parse_closed_body(p, "endfor", &node->loop.otherwise));
    else p->at++;
    p->soft = soft;
    return STATUS_OK;
}

static enum status parse_set(struct jinja_parser *p, struct jinja_node *node) {
    static const struct jinja_tuple_style any = {0};
    TRY(parse_target(p, true, NULL, &node->set.target));
    if (jinja_parse_skip(p, JINJA_TOKEN_ASSIGN)) return jinja_parse_tuple(p, &any, &node->set.value);
    node->kind = JINJA_NODE_SET_BLOCK;
    TRY(jinja_parse_filters(p, false, &node->set.value));
    return parse_closed_body(p, "endset", &node->set.body);
}

static enum status parse_parameter(struct jinja_parser *p, struct jinja_macro_definition *m) {
    const struct jinja_token *at = p->at;
    struct jinja_node *name, *value;
    TRY(jinja_parse_expect(p, JINJA_TOKEN_NAME));
    TRY(jinja_parse_node(p, JINJA_NODE_NAME, at, &name));
    TRY(jinja_parse_intern(p, at, &name->name));
    for (const struct jinja_node *other = m->parameters.first; other; other = other->next) {
        if (other->name == name->name) return jinja_parse_fail(p, at, "two parameters have the same name");
    }
    jinja_parse_append(&m->parameters, name);
    if (!jinja_parse_skip(p, JINJA_TOKEN_ASSIGN)) {
        return m->defaults.n ? jinja_parse_fail(p, at, "non-default argument follows default argument") : STATUS_OK;
    }
    TRY(jinja_parse_expression(p, &value));
    jinja_parse_append(&m->defaults, value);
    return STATUS_OK;
}

static enum status parse_signature(struct jinja_parser *p, struct jinja_macro_definition *m) {
    TRY(jinja_parse_expect(p, JINJA_TOKEN_PAREN_OPEN));
    while (!jinja_parse_is(p, JINJA_TOKEN_PAREN_CLOSE)) {
        if (m->parameters.n) TRY(jinja_parse_expect(p, JINJA_TOKEN_COMMA));
        TRY(parse_parameter(p, m));
    }
    p->at++;
    return STATUS_OK;
}

static bool has_parameter(const struct jinja_macro_definition *m, const char *name) {
    for (const struct jinja_node *n = m->parameters.first; n; n = n->next) {
        if (n->name->n == strlen(name) && memcmp(n->name->text, name, n->name->n) == 0) return true;
    }
    return false;
}

// The body of a macro; it takes `caller`, `varargs` and `kwargs` where it mentions them.
static enum status parse_macro_body(struct jinja_parser *p, const char *end, struct jinja_macro_definition *m) {
    struct jinja_parser outer = *p;
    p->saw_caller = p->saw_varargs = p->saw_kwargs = p->soft = false;
    p->loops = 0;
    TRY(parse_closed_body(p, end, &m->body));
    if (p->saw_caller && !has_parameter(m, "caller")) TRY(intern_word(p, "caller", &m->caller));
    if (p->saw_varargs && !has_parameter(m, "varargs")) TRY(intern_word(p, "varargs", &m->varargs));
    if (p->saw_kwargs && !has_parameter(m, "kwargs")) TRY(intern_word(p, "kwargs", &m->kwargs));
    p->saw_caller |= outer.saw_caller;
    p->saw_varargs |= outer.saw_varargs;
    p->saw_kwargs |= outer.saw_kwargs;
    p->loops = outer.loops;
    p->soft = outer.soft;
    return STATUS_OK;
}

static enum status parse_macro(struct jinja_parser *p, struct jinja_node *node) {
    const struct jinja_token *at = p->at;
    TRY(jinja_parse_expect(p, JINJA_TOKEN_NAME));
    TRY(jinja_parse_intern(p, at, &node->macro.name));
    TRY(parse_signature(p, &node->macro));
    return parse_macro_body(p, "endmacro", &node->macro);
}

static enum status parse_call_block(struct jinja_parser *p, struct jinja_node *node) {
    struct jinja_macro_definition *m = node->call_block.macro = arena_new(p->arena, 1, sizeof *m);
    struct jinja_value name;
    if (!m) return STATUS_TOO_LARGE;
    TRY(jinja_string_borrow(p->arena, "caller", 6, false, &name));
    m->name = name.string;
    if (jinja_parse_is(p, JINJA_TOKEN_PAREN_OPEN)) TRY(parse_signature(p, m));
    const struct jinja_token *at = p->at;
    TRY(jinja_parse_expression(p, &node->call_block.call));
    if (node->call_block.call->kind != JINJA_NODE_CALL) return jinja_parse_fail(p, at, "expected call");
    return parse_macro_body(p, "endcall", m);
}

static enum status parse_filter_block(struct jinja_parser *p, struct jinja_node *node) {
    TRY(jinja_parse_filters(p, true, &node->filter_block.filter));
    return parse_closed_body(p, "endfilter", &node->filter_block.body);
}

static enum status parse_with(struct jinja_parser *p, struct jinja_node *node) {
    while (!jinja_parse_is(p, JINJA_TOKEN_BLOCK_END)) {
        struct jinja_node *target, *value;
        if (node->with.targets.n) TRY(jinja_parse_expect(p, JINJA_TOKEN_COMMA));
        const struct jinja_token *at = p->at;
        TRY(jinja_parse_expect(p, JINJA_TOKEN_NAME));
        TRY(jinja_parse_node(p, JINJA_NODE_NAME, at, &target));
        TRY(jinja_parse_intern(p, at, &target->name));
        TRY(jinja_parse_expect(p, JINJA_TOKEN_ASSIGN));
        TRY(jinja_parse_expression(p, &value));
        jinja_parse_append(&node->with.targets, target);
        jinja_parse_append(&node->with.values, value);
    }
    return parse_closed_body(p, "endwith", &node->with.body);
}

// Marks what the assistant wrote, for training; to render, it is a scope of its own.
static enum status parse_generation(struct jinja_parser *p, struct jinja_node *node) {
    unsigned loops = p->loops;
    p->loops = 0;
    TRY(parse_closed_body(p, "endgeneration", &node->body));
    p->loops = loops;
    return STATUS_OK;
}

static enum status parse_jump(struct jinja_parser *p, struct jinja_node *node) {
    if (p->loops) return STATUS_OK;
    return jinja_parse_fail(p, p->at - 1, "'%s' outside loop", node->kind == JINJA_NODE_BREAK ? "break" : "continue");
}

static enum status parse_statement(struct jinja_parser *p, struct jinja_node **out) {
    static const struct {
        const char *name;
        enum jinja_node_kind kind;
        enum status (*parse)(struct jinja_parser *p, struct jinja_node *node);
    } tags[] = {
        {"if", JINJA_NODE_IF, parse_if},
        {"for", JINJA_NODE_FOR, parse_for},
        {"set", JINJA_NODE_SET, parse_set},
        {"macro", JINJA_NODE_MACRO, parse_macro},
        {"call", JINJA_NODE_CALL_BLOCK, parse_call_block},
        {"filter", JINJA_NODE_FILTER_BLOCK, parse_filter_block},
        {"with", JINJA_NODE_WITH, parse_with},
        {"generation", JINJA_NODE_SCOPE, parse_generation},
        {"break", JINJA_NODE_BREAK, parse_jump},
        {"continue", JINJA_NODE_CONTINUE, parse_jump},
    };
    static const char *const unsupported[] = {"block", "extends", "include", "import", "from", "autoescape", "print"};
    const struct jinja_token *at = p->at;
    if (at->kind != JINJA_TOKEN_NAME) return jinja_parse_fail(p, at, "tag name expected");
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (!jinja_parse_skip_name(p, tags[i].name)) continue;
        TRY(jinja_parse_node(p, tags[i].kind, at, out));
        return tags[i].parse(p, *out);
    }
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
        if (!jinja_token_is_name(at, unsupported[i])) continue;
        return jinja_parse_fail(p, at, "the tag '%s' is not supported", unsupported[i]);
    }
    return jinja_parse_fail(p, at, "Encountered unknown tag '%.*s'.", at->n > 60 ? 60 : (int)at->n, at->text);
}

enum status jinja_parse_template(struct jinja_parser *p, struct jinja_nodes *out) {
    *out = (struct jinja_nodes){0};
    return parse_statements(p, NULL, out);
}
