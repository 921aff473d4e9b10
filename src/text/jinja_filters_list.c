// Filters on sequences and mappings that need neither a test nor an attribute.
#include "text/jinja_run.h"

#include <string.h>

static enum status filter_length(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    int64_t n;
    TRY(jinja_length(r, call->self, &n));
    *out = jinja_int(n);
    return STATUS_OK;
}

static enum status filter_first(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *l;
    TRY(jinja_iterate(r, call->self, &l));
    if (!l->n) return jinja_undefined_hint(r, "No first item, sequence was empty.", out);
    *out = l->at[0];
    return STATUS_OK;
}

static enum status not_reversible(struct jinja_run *r, struct jinja_value v) {
    return jinja_fail(r, "'%s' object is not reversible", jinja_type_name(v));
}

static enum status filter_last(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *l;
    struct jinja_value v = call->self;
    bool generator = v.type == JINJA_LIST && v.list->kind == JINJA_SEQUENCE_GENERATOR;
    bool iterable = v.type == JINJA_LIST || v.type == JINJA_MAPPING || v.type == JINJA_STRING;
    if (generator || (!iterable && v.type != JINJA_UNDEFINED)) return not_reversible(r, v);
    TRY(jinja_iterate(r, v, &l));
    if (!l->n) return jinja_undefined_hint(r, "No last item, sequence was empty.", out);
    *out = l->at[l->n - 1];
    return STATUS_OK;
}

static enum status copy_list(struct jinja_run *r, const struct jinja_list *from, size_t begin, size_t end,
                             struct jinja_list **out) {
    TRY(jinja_steps(r, (end - begin) / 8));
    TRY(jinja_list_new(r->arena, end - begin, JINJA_SEQUENCE_LIST, out));
    (*out)->n = end - begin;
    if (end > begin) memcpy((*out)->at, from->at + begin, (end - begin) * sizeof *from->at);
    return STATUS_OK;
}

static enum status filter_list(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    struct jinja_list *l;
    TRY(jinja_iterate(r, call->self, &from));
    TRY(copy_list(r, from, 0, from->n, &l));
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status filter_reverse(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    if (call->self.type == JINJA_STRING) {
        const struct jinja_value backwards[3] = {jinja_none(), jinja_none(), jinja_int(-1)};
        return jinja_slice(r, call->self, backwards, out);
    }
    TRY(filter_list(r, call, out));
    struct jinja_list *l = out->list;
    l->kind = JINJA_SEQUENCE_GENERATOR;
    for (size_t i = 0; i < l->n / 2; i++) {
        struct jinja_value first = l->at[i];
        l->at[i] = l->at[l->n - 1 - i];
        l->at[l->n - 1 - i] = first;
    }
    return STATUS_OK;
}

static enum status filter_items(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_list *l;
    if (call->self.type != JINJA_MAPPING && call->self.type != JINJA_UNDEFINED) {
        return jinja_fail(r, "Can only get item pairs from a mapping.");
    }
    if (call->self.type == JINJA_MAPPING) TRY(jinja_items(r, call->self.mapping, JINJA_SEQUENCE_GENERATOR, &l));
    else TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_GENERATOR, &l));
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status filter_default(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    bool missing = call->self.type == JINJA_UNDEFINED;
    if (jinja_argument_flag(call->arg[1], false) && !jinja_truth(call->self)) missing = true;
    *out = missing ? call->arg[0] : call->self;
    return out->type == JINJA_ABSENT ? jinja_string_borrow(r->arena, "", 0, false, out) : STATUS_OK;
}

// Lines of `size` values, the last filled up with `fill` unless that is none.
static enum status filter_batch(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    struct jinja_list *lines, *line;
    int64_t size;
    bool fill = call->arg[1].type != JINJA_ABSENT && call->arg[1].type != JINJA_NONE;
    TRY(jinja_argument_int(r, call->arg[0], 0, &size));
    TRY(jinja_iterate(r, call->self, &from));
    TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_GENERATOR, &lines));
    if (size < 1) return jinja_fail(r, "batch needs a positive number of items");
    for (size_t at = 0; at < from->n; at += line->n) {
        size_t n = from->n - at < (uint64_t)size ? from->n - at : (size_t)size;
        TRY(copy_list(r, from, at, at + n, &line));
        TRY(jinja_list_push(r->arena, lines, jinja_of_list(line)));
        for (int64_t i = (int64_t)n; fill && i < size; i++) {
            TRY(jinja_steps(r, 1));
            TRY(jinja_list_push(r->arena, line, call->arg[1]));
        }
    }
    *out = jinja_of_list(lines);
    return STATUS_OK;
}

// `slices` columns as even as can be; the shorter ones get `fill` unless it is none.
static enum status filter_slice(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    struct jinja_list *columns, *column;
    int64_t slices;
    bool fill = call->arg[1].type != JINJA_ABSENT && call->arg[1].type != JINJA_NONE;
    TRY(jinja_argument_int(r, call->arg[0], 0, &slices));
    TRY(jinja_iterate(r, call->self, &from));
    TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_GENERATOR, &columns));
    if (slices < 1) return jinja_fail(r, "integer division or modulo by zero");
    size_t each = from->n / (size_t)slices, longer = from->n % (size_t)slices, at = 0;
    for (size_t i = 0; i < (size_t)slices; i++) {
        size_t n = each + (i < longer);
        TRY(jinja_steps(r, 1));
        TRY(copy_list(r, from, at, at + n, &column));
        if (fill && i >= longer) TRY(jinja_list_push(r->arena, column, call->arg[1]));
        TRY(jinja_list_push(r->arena, columns, jinja_of_list(column)));
        at += n;
    }
    *out = jinja_of_list(columns);
    return STATUS_OK;
}

static const struct jinja_builtin table[] = {
    {"length", filter_length, "", 0},
    {"count", filter_length, "", 0},
    {"first", filter_first, "", 0},
    {"last", filter_last, "", 0},
    {"list", filter_list, "", 0},
    {"reverse", filter_reverse, "", 0},
    {"items", filter_items, "", 0},
    {"default", filter_default, "default_value boolean", 0},
    {"d", filter_default, "default_value boolean", 0},
    {"batch", filter_batch, "linecount fill_with", 1},
    {"slice", filter_slice, "slices fill_with", 1},
};
const struct jinja_builtin_table jinja_list_filters = {table, sizeof table / sizeof table[0]};
