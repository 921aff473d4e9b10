// Evaluating expressions.
#include "text/jinja_run.h"

static enum status eval_binary_logic(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    TRY(jinja_eval(r, n->binary.left, out));
    if (jinja_truth(*out) == (n->kind == JINJA_NODE_OR)) return STATUS_OK;
    return jinja_eval(r, n->binary.right, out);
}

static enum status eval_arithmetic(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_value left, right;
    TRY(jinja_eval(r, n->binary.left, &left));
    TRY(jinja_eval(r, n->binary.right, &right));
    return jinja_arithmetic(r, n->binary.operator, left, right, out);
}

static enum status eval_compare(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_value left, right;
    bool holds = true;
    TRY(jinja_eval(r, n->compare.first, &left));
    for (const struct jinja_comparison *c = n->compare.rest; c && holds; c = c->next) {
        TRY(jinja_eval(r, c->right, &right));
        TRY(jinja_compare(r, c->operator, left, right, &holds));
        left = right;
    }
    *out = jinja_bool(holds);
    return STATUS_OK;
}

static enum status eval_condition(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_value test;
    TRY(jinja_eval(r, n->condition.test, &test));
    if (jinja_truth(test)) return jinja_eval(r, n->condition.then, out);
    if (n->condition.otherwise) return jinja_eval(r, n->condition.otherwise, out);
    return jinja_undefined_hint(r, "the inline if-expression evaluated to false and no else section was defined.", out);
}

static enum status eval_concat(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    for (const struct jinja_node *item = n->items.first; item; item = item->next) {
        struct jinja_value v;
        TRY(jinja_eval(r, item, &v));
        TRY(jinja_print(&k, v, r->e));
    }
    return jinja_sink_end(&k, out);
}

static enum status eval_list(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_list *l;
    enum jinja_sequence kind = n->kind == JINJA_NODE_TUPLE ? JINJA_SEQUENCE_TUPLE : JINJA_SEQUENCE_LIST;
    TRY(jinja_list_new(r->arena, n->items.n, kind, &l));
    for (const struct jinja_node *item = n->items.first; item; item = item->next) {
        struct jinja_value v;
        TRY(jinja_eval(r, item, &v));
        TRY(jinja_list_push(r->arena, l, v));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status eval_mapping(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_mapping *m;
    TRY(jinja_mapping_new(r->arena, n->items.n / 2, &m));
    for (const struct jinja_node *item = n->items.first; item; item = item->next->next) {
        struct jinja_value key, value;
        TRY(jinja_eval(r, item, &key));
        TRY(jinja_eval(r, item->next, &value));
        if (!jinja_is_key(key)) return jinja_fail(r, "unhashable type: '%s'", jinja_type_name(key));
        TRY(jinja_mapping_set(r->arena, m, key, value));
    }
    *out = jinja_of_mapping(m);
    return STATUS_OK;
}

static enum status eval_item(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_value of, index;
    const struct jinja_node *at = n->item.index;
    TRY(jinja_eval(r, n->item.of, &of));
    if (at->kind != JINJA_NODE_SLICE) {
        TRY(jinja_eval(r, at, &index));
        return jinja_item(r, of, index, out);
    }
    struct jinja_value part[3];
    const struct jinja_node *nodes[3] = {at->slice.start, at->slice.stop, at->slice.step};
    for (int i = 0; i < 3; i++) {
        part[i] = jinja_none();
        if (nodes[i]) TRY(jinja_eval(r, nodes[i], &part[i]));
    }
    return jinja_slice(r, of, part, out);
}

static enum status apply_builtin(struct jinja_run *r, const struct jinja_node *n, struct jinja_value self,
                                 struct jinja_value *out) {
    struct jinja_arguments a;
    if (!n->call.builtin) {
        const struct jinja_string *name = n->call.missing;
        return jinja_fail(r, "No %s named '%.*s' found.", n->kind == JINJA_NODE_TEST ? "test" : "filter",
                          name->n > 60 ? 60 : (int)name->n, name->text);
    }
    TRY(jinja_eval_arguments(r, &n->call.arguments, &a));
    return jinja_builtin_call(r, n->call.builtin, self, &a, out);
}

enum status jinja_eval_filters(struct jinja_run *r, const struct jinja_node *n, struct jinja_value input,
                               struct jinja_value *out) {
    if (!n) {
        *out = input;
        return STATUS_OK;
    }
    struct jinja_value self;
    if (++r->depth > JINJA_EVAL_DEPTH_MAX) return jinja_fail(r, "the template is nested too deeply");
    enum status status = jinja_eval_filters(r, n->call.of, input, &self);
    r->depth--;
    if (status == STATUS_OK) status = apply_builtin(r, n, self, out);
    return status == STATUS_OK ? status : jinja_locate(r, n, status);
}

static enum status eval_applied(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_value self;
    TRY(jinja_eval(r, n->call.of, &self));
    return apply_builtin(r, n, self, out);
}

static enum status eval_attribute(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_value of;
    TRY(jinja_eval(r, n->attribute.of, &of));
    return jinja_attribute(r, of, n->attribute.name, out);
}

static enum status eval_unary(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    struct jinja_value v;
    TRY(jinja_eval(r, n->operand, &v));
    if (n->kind != JINJA_NODE_NOT) return jinja_negate(r, v, n->kind == JINJA_NODE_PLUS, out);
    *out = jinja_bool(!jinja_truth(v));
    return STATUS_OK;
}

static enum status evaluate(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    switch (n->kind) {
    case JINJA_NODE_CONSTANT: *out = n->value; return STATUS_OK;
    case JINJA_NODE_NAME: return jinja_lookup(r, n->name, out);
    case JINJA_NODE_ATTRIBUTE: return eval_attribute(r, n, out);
    case JINJA_NODE_ITEM: return eval_item(r, n, out);
    case JINJA_NODE_CALL: return jinja_eval_call(r, n, (struct jinja_value){.type = JINJA_ABSENT}, out);
    case JINJA_NODE_FILTER:
    case JINJA_NODE_TEST: return eval_applied(r, n, out);
    case JINJA_NODE_NOT:
    case JINJA_NODE_NEGATE:
    case JINJA_NODE_PLUS: return eval_unary(r, n, out);
    case JINJA_NODE_AND:
    case JINJA_NODE_OR: return eval_binary_logic(r, n, out);
    case JINJA_NODE_ARITHMETIC: return eval_arithmetic(r, n, out);
    case JINJA_NODE_COMPARE: return eval_compare(r, n, out);
    case JINJA_NODE_CONDITION: return eval_condition(r, n, out);
    case JINJA_NODE_CONCAT: return eval_concat(r, n, out);
    case JINJA_NODE_LIST:
    case JINJA_NODE_TUPLE: return eval_list(r, n, out);
    case JINJA_NODE_MAPPING: return eval_mapping(r, n, out);
    default: return err_set(r->e, STATUS_INTERNAL, "a node of kind %d is no expression", (int)n->kind);
    }
}

enum status jinja_eval(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) {
    enum status status = jinja_steps(r, 1);
    if (++r->depth > JINJA_EVAL_DEPTH_MAX) status = jinja_fail(r, "the template is nested too deeply");
    if (status == STATUS_OK) status = evaluate(r, n, out);
    r->depth--;
    return status == STATUS_OK ? status : jinja_locate(r, n, status);
}
