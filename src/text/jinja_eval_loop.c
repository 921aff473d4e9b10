// `for` loops and the `loop` object.
#include "text/jinja_run.h"

#include <string.h>

// True when the item at `index` exists: takes from the source as far as needed, filter applied.
static enum status has_item(struct jinja_run *r, struct jinja_loop *l, size_t index, bool *out) {
    struct jinja_scope *present = r->scope;
    while (l->node->loop.filter && l->items->n <= index && l->taken < l->source->n) {
        struct jinja_value item = l->source->at[l->taken++], test;
        TRY(jinja_open_scope(r, l->outer));
        TRY(jinja_assign(r, l->node->loop.target, item));
        TRY(jinja_eval(r, l->node->loop.filter, &test));
        if (jinja_truth(test)) TRY(jinja_list_push(r->arena, l->items, item));
    }
    r->scope = present;
    *out = index < l->items->n;
    return STATUS_OK;
}

static enum status run_pass(struct jinja_run *r, struct jinja_loop *l) {
    TRY(jinja_steps(r, 1));
    TRY(jinja_open_scope(r, l->outer));
    struct jinja_value self = {.type = JINJA_LOOP, .loop = l};
    TRY(jinja_bind(r, l->node->loop.loop, self));
    TRY(jinja_assign(r, l->node->loop.target, l->items->at[l->index]));
    return jinja_eval_body(r, &l->node->loop.body);
}

static enum status run_loop(struct jinja_run *r, const struct jinja_node *n, struct jinja_value over, int64_t depth) {
    struct jinja_scope *outer = r->scope;
    struct jinja_loop *l = arena_new(r->arena, 1, sizeof *l);
    bool more, any = false;
    if (!l) return STATUS_TOO_LARGE;
    *l = (struct jinja_loop){.node = n, .outer = outer, .depth = depth};
    TRY(jinja_iterate(r, over, &l->source));
    l->items = (struct jinja_list *)l->source;
    if (n->loop.filter) TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_LIST, &l->items));
    for (;; l->index++) {
        TRY(has_item(r, l, l->index, &more));
        if (!more) break;
        any = true;
        TRY(run_pass(r, l));
        enum jinja_jump jump = r->jump;
        r->jump = JINJA_JUMP_NONE;
        if (jump == JINJA_JUMP_BREAK) break;
    }
    r->scope = outer;
    if (any || !n->loop.otherwise.n) return STATUS_OK;
    TRY(jinja_open_scope(r, outer));
    TRY(jinja_eval_body(r, &n->loop.otherwise));
    r->scope = outer;
    return STATUS_OK;
}

enum status jinja_eval_for(struct jinja_run *r, const struct jinja_node *n) {
    struct jinja_value over;
    TRY(jinja_eval(r, n->loop.over, &over));
    return run_loop(r, n, over, 0);
}

enum status jinja_loop_call(struct jinja_run *r, struct jinja_loop *l, const struct jinja_arguments *a,
                            struct jinja_value *out) {
    if (!l->node->loop.recursive) {
        return jinja_fail(r, "The loop must have the 'recursive' marker to be called recursively.");
    }
    if (a->n != 1 || a->n_named) return jinja_fail(r, "loop() takes one argument");
    struct jinja_scope *present = r->scope;
    struct jinja_sink inner, *outer = jinja_capture(r, &inner);
    r->scope = l->outer;
    TRY(run_loop(r, l->node, a->at[0], l->depth + 1));
    r->scope = present;
    r->sink = outer;
    return jinja_sink_end(&inner, out);
}

static enum status loop_length(struct jinja_run *r, struct jinja_loop *l, int64_t *out) {
    bool more;
    TRY(has_item(r, l, SIZE_MAX, &more));
    *out = (int64_t)l->items->n;
    return STATUS_OK;
}

static enum status previous_item(struct jinja_run *r, struct jinja_loop *l, struct jinja_value *out) {
    if (l->index == 0) return jinja_undefined_hint(r, "there is no previous item", out);
    *out = l->items->at[l->index - 1];
    return STATUS_OK;
}

static enum status next_item(struct jinja_run *r, struct jinja_loop *l, struct jinja_value *out) {
    bool more;
    TRY(has_item(r, l, l->index + 1, &more));
    if (!more) return jinja_undefined_hint(r, "there is no next item", out);
    *out = l->items->at[l->index + 1];
    return STATUS_OK;
}

static enum status cycle(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    if (!call->raw->n) return jinja_fail(r, "no items for cycling given");
    *out = call->raw->at[call->self.loop->index % call->raw->n];
    return STATUS_OK;
}

static enum status changed(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_loop *l = call->self.loop;
    struct jinja_list *now;
    bool same = false;
    TRY(jinja_list_new(r->arena, call->raw->n, JINJA_SEQUENCE_TUPLE, &now));
    for (size_t i = 0; i < call->raw->n; i++) TRY(jinja_list_push(r->arena, now, call->raw->at[i]));
    if (l->changed.type == JINJA_LIST) TRY(jinja_equal(r, l->changed, jinja_of_list(now), &same));
    l->changed = jinja_of_list(now);
    *out = jinja_bool(!same);
    return STATUS_OK;
}

static const struct jinja_builtin methods[] = {{"cycle", cycle, NULL, 0}, {"changed", changed, NULL, 0}};

enum field { INDEX, INDEX0, REVINDEX, REVINDEX0, FIRST, LAST, LENGTH, DEPTH, DEPTH0, PREVITEM, NEXTITEM, FIELDS };

static enum status loop_field(struct jinja_run *r, struct jinja_loop *l, enum field field, struct jinja_value *out) {
    int64_t length = 0, index = (int64_t)l->index;
    bool more;
    if (field == LENGTH || field == REVINDEX || field == REVINDEX0) TRY(loop_length(r, l, &length));
    switch (field) {
    case INDEX: *out = jinja_int(index + 1); break;
    case INDEX0: *out = jinja_int(index); break;
    case REVINDEX: *out = jinja_int(length - index); break;
    case REVINDEX0: *out = jinja_int(length - index - 1); break;
    case FIRST: *out = jinja_bool(index == 0); break;
    case LAST:
        TRY(has_item(r, l, l->index + 1, &more));
        *out = jinja_bool(!more);
        break;
    case LENGTH: *out = jinja_int(length); break;
    case DEPTH: *out = jinja_int(l->depth + 1); break;
    case DEPTH0: *out = jinja_int(l->depth); break;
    case PREVITEM: return previous_item(r, l, out);
    case NEXTITEM: return next_item(r, l, out);
    case FIELDS: break;
    }
    return STATUS_OK;
}

enum status jinja_loop_attribute(struct jinja_run *r, struct jinja_loop *l, const struct jinja_string *name,
                                 struct jinja_value *out) {
    static const char *const fields[] = {"index", "index0", "revindex", "revindex0", "first", "last", "length",
                                         "depth", "depth0", "previtem", "nextitem"};
    for (int i = 0; i < FIELDS; i++) {
        if (strlen(fields[i]) == name->n && memcmp(fields[i], name->text, name->n) == 0) {
            return loop_field(r, l, (enum field)i, out);
        }
    }
    const struct jinja_builtin *method = jinja_builtin_find(methods, 2, name->text, name->n);
    out->type = JINJA_ABSENT;
    if (!method) return STATUS_OK;
    struct jinja_callable *c = arena_new(r->arena, 1, sizeof *c);
    if (!c) return STATUS_TOO_LARGE;
    *c = (struct jinja_callable){.builtin = method, .self = {.type = JINJA_LOOP, .loop = l}};
    *out = (struct jinja_value){.type = JINJA_CALLABLE, .callable = c};
    return STATUS_OK;
}
