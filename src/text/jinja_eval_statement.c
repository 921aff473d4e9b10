// Running statements.
#include "text/jinja_run.h"

// Runs a body in a scope of its own that sees the present one.
static enum status eval_scoped_body(struct jinja_run *r, const struct jinja_nodes *body) {
    struct jinja_scope *outer = r->scope;
    TRY(jinja_open_scope(r, outer));
    TRY(jinja_eval_body(r, body));
    r->scope = outer;
    return STATUS_OK;
}

// The text that a body prints.
static enum status capture_body(struct jinja_run *r, const struct jinja_nodes *body, struct jinja_value *out) {
    struct jinja_sink inner, *outer = jinja_capture(r, &inner);
    TRY(eval_scoped_body(r, body));
    r->sink = outer;
    return jinja_sink_end(&inner, out);
}

static enum status eval_if(struct jinja_run *r, const struct jinja_node *n) {
    for (const struct jinja_branch *b = n->choice.branches; b; b = b->next) {
        struct jinja_value test;
        TRY(jinja_eval(r, b->test, &test));
        if (jinja_truth(test)) return jinja_eval_body(r, &b->body);
    }
    return jinja_eval_body(r, &n->choice.otherwise);
}

static enum status assign_attribute(struct jinja_run *r, const struct jinja_node *target, struct jinja_value v) {
    struct jinja_value owner, key = {.type = JINJA_STRING, .string = target->attribute.name};
    TRY(jinja_eval(r, target->attribute.of, &owner));
    if (owner.type == JINJA_NAMESPACE) return jinja_mapping_set(r->arena, owner.mapping, key, v);
    return jinja_fail(r, "cannot assign attribute on non-namespace object");
}

enum status jinja_assign(struct jinja_run *r, const struct jinja_node *target, struct jinja_value v) {
    if (target->kind == JINJA_NODE_NAME) return jinja_bind(r, target->name, v);
    if (target->kind == JINJA_NODE_NAMESPACE_TARGET) return assign_attribute(r, target, v);
    const struct jinja_list *l;
    if (v.type != JINJA_UNDEFINED && v.type != JINJA_LIST && v.type != JINJA_MAPPING && v.type != JINJA_STRING) {
        return jinja_fail(r, "cannot unpack non-iterable %s object", jinja_type_name(v));
    }
    TRY(jinja_iterate(r, v, &l));
    if (l->n > target->items.n) return jinja_fail(r, "too many values to unpack (expected %zu)", target->items.n);
    if (l->n < target->items.n) {
        return jinja_fail(r, "not enough values to unpack (expected %zu, got %zu)", target->items.n, l->n);
    }
    const struct jinja_node *item = target->items.first;
    for (size_t i = 0; i < l->n; i++, item = item->next) TRY(jinja_assign(r, item, l->at[i]));
    return STATUS_OK;
}

static enum status eval_set(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_value v;
    TRY(jinja_eval(r, n->set.value, &v));
    return jinja_assign(r, n->set.target, v);
}

static enum status eval_set_block(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_value text, v;
    TRY(capture_body(r, &n->set.body, &text));
    if (r->jump != JINJA_JUMP_NONE) return STATUS_OK;
    TRY(jinja_eval_filters(r, n->set.value, text, &v));
    return jinja_assign(r, n->set.target, v);
}

static enum status eval_filter_block(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_value text, v;
    TRY(capture_body(r, &n->filter_block.body, &text));
    if (r->jump != JINJA_JUMP_NONE) return STATUS_OK;
    TRY(jinja_eval_filters(r, n->filter_block.filter, text, &v));
    return jinja_print(r->sink, v, r->e);
}

static enum status eval_macro(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_value macro;
    TRY(jinja_macro_new(r, &n->macro, &macro));
    return jinja_bind(r, n->macro.name, macro);
}

static enum status eval_call_block(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_value caller, v;
    TRY(jinja_macro_new(r, n->call_block.macro, &caller));
    TRY(jinja_eval_call(r, n->call_block.call, caller, &v));
    return jinja_print(r->sink, v, r->e);
}

static enum status eval_with(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_scope *outer = r->scope, *inner;
    TRY(jinja_open_scope(r, outer));
    inner = r->scope;
    const struct jinja_node *value = n->with.values.first;
    for (const struct jinja_node *target = n->with.targets.first; target; target = target->next, value = value->next) {
        struct jinja_value v;
        r->scope = outer; // values do not see each other's targets
        TRY(jinja_eval(r, value, &v));
        r->scope = inner;
        TRY(jinja_bind(r, target->name, v));
    }
    r->scope = inner;
    TRY(jinja_eval_body(r, &n->with.body));
    r->scope = outer;
    return STATUS_OK;
}

static enum status eval_print(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_value v;
    TRY(jinja_eval(r, n->operand, &v));
    return jinja_print(r->sink, v, r->e);
}

static enum status run_statement(struct jinja_run *r, const struct jinja_node *n) {
    switch (n->kind) {
    case JINJA_NODE_TEXT: jinja_sink_string(r->sink, n->value.string); return r->sink->failed;
    case JINJA_NODE_PRINT: return eval_print(r, n);
    case JINJA_NODE_IF: return eval_if(r, n);
    case JINJA_NODE_FOR: return jinja_eval_for(r, n);
    case JINJA_NODE_SET: return eval_set(r, n);
    case JINJA_NODE_SET_BLOCK: return eval_set_block(r, n);
    case JINJA_NODE_MACRO: return eval_macro(r, n);
    case JINJA_NODE_CALL_BLOCK: return eval_call_block(r, n);
    case JINJA_NODE_FILTER_BLOCK: return eval_filter_block(r, n);
    case JINJA_NODE_WITH: return eval_with(r, n);
    case JINJA_NODE_SCOPE: return eval_scoped_body(r, &n->body);
    case JINJA_NODE_BREAK: r->jump = JINJA_JUMP_BREAK; return STATUS_OK;
    case JINJA_NODE_CONTINUE: r->jump = JINJA_JUMP_CONTINUE; return STATUS_OK;
    default: return err_set(r->e, STATUS_INTERNAL, "a node of kind %d is no statement", (int)n->kind);
    }
}

enum status jinja_eval_body(struct jinja_run *r, const struct jinja_nodes *body) {
    for (const struct jinja_node *n = body->first; n && r->jump == JINJA_JUMP_NONE; n = n->next) {
        enum status status = jinja_steps(r, 1);
        if (++r->depth > JINJA_EVAL_DEPTH_MAX) status = jinja_fail(r, "the template is nested too deeply");
        if (status == STATUS_OK) status = run_statement(r, n);
        r->depth--;
        if (status != STATUS_OK) return jinja_locate(r, n, status);
    }
    return STATUS_OK;
}
