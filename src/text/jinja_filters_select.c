// Filters that look at an attribute of every item, apply a test or a filter to it, or put items in order.
#include "text/jinja_run.h"
#include "text/jinja_unicode.h"

#include <string.h>

// What is looked at in an item: the item itself where `path` is NULL, else an attribute, then one of that, ...
struct lookup {
    const struct jinja_list *path; // strings and integers
    bool ignore_case;
    struct jinja_value fallback; // instead of undefined; may be absent
};

// "a.b.0" is attribute a, of that b, of that item 0.
static enum status read_path(struct jinja_run *r, struct jinja_value attribute, const struct jinja_list **out) {
    static const struct jinja_string dot = {.text = ".", .n = 1};
    struct jinja_list *parts;
    *out = NULL;
    if (attribute.type == JINJA_ABSENT || attribute.type == JINJA_NONE) return STATUS_OK;
    if (attribute.type != JINJA_STRING) {
        TRY(jinja_list_new(r->arena, 1, JINJA_SEQUENCE_LIST, &parts));
        TRY(jinja_list_push(r->arena, parts, attribute));
    } else {
        TRY(jinja_text_split(r->arena, attribute.string, &(struct jinja_split){&dot, -1, false}, &parts));
    }
    for (size_t i = 0; i < parts->n; i++) {
        const struct jinja_string *s = parts->at[i].string;
        int64_t number = 0;
        bool digits = parts->at[i].type == JINJA_STRING && s->n > 0 && s->n < 18;
        for (size_t k = 0; digits && k < s->n; k++) {
            digits = s->text[k] >= '0' && s->text[k] <= '9';
            number = number * 10 + (s->text[k] - '0');
        }
        if (digits) parts->at[i] = jinja_int(number);
    }
    *out = parts;
    return STATUS_OK;
}

static enum status look(struct jinja_run *r, const struct lookup *l, struct jinja_value item, struct jinja_value *out) {
    TRY(jinja_steps(r, 1));
    *out = item;
    for (size_t i = 0; l->path && i < l->path->n; i++) {
        TRY(jinja_item(r, *out, l->path->at[i], out));
        if (out->type == JINJA_UNDEFINED && l->fallback.type != JINJA_ABSENT) *out = l->fallback;
    }
    if (!l->ignore_case || out->type != JINJA_STRING) return STATUS_OK;
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    jinja_text_lower(&k, out->string);
    return jinja_sink_end(&k, out);
}

// What `map`, `select` and `selectattr` apply to each item: a filter or test with the rest of the arguments.
struct applied {
    const struct jinja_builtin *builtin; // NULL: the value itself
    struct jinja_arguments rest;
};

static enum status read_applied(struct jinja_run *r, const struct jinja_arguments *a, size_t skip, bool test,
                                struct applied *out) {
    *out = (struct applied){.rest = *a};
    if (a->n <= skip) return STATUS_OK;
    const struct jinja_string *name;
    TRY(jinja_argument_text(r, a->at[skip], NULL, &name));
    out->builtin = test ? jinja_test_find(name->text, name->n) : jinja_filter_find(name->text, name->n);
    if (!out->builtin) {
        return jinja_fail(r, "No %s named '%.*s'.", test ? "test" : "filter", name->n > 60 ? 60 : (int)name->n,
                          name->text);
    }
    out->rest.at += skip + 1;
    out->rest.n -= skip + 1;
    return STATUS_OK;
}

// jinja2 looks at neither the arguments nor the type of a false value.
static enum status nothing(struct jinja_run *r, struct jinja_value *out) {
    out->type = JINJA_LIST;
    return jinja_list_new(r->arena, 0, JINJA_SEQUENCE_GENERATOR, &out->list);
}

static enum status choose(struct jinja_run *r, const struct jinja_call *call, bool by_attribute, bool keep,
                          struct jinja_value *out) {
    const struct jinja_list *from;
    struct jinja_list *l;
    struct lookup lookup = {0};
    struct applied test;
    if (!jinja_truth(call->self)) return nothing(r, out);
    if (by_attribute && !call->raw->n) return jinja_fail(r, "Missing parameter for attribute name");
    if (by_attribute) TRY(read_path(r, call->raw->at[0], &lookup.path));
    TRY(read_applied(r, call->raw, by_attribute ? 1 : 0, true, &test));
    TRY(jinja_iterate(r, call->self, &from));
    TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_GENERATOR, &l));
    for (size_t i = 0; i < from->n; i++) {
        struct jinja_value v;
        TRY(look(r, &lookup, from->at[i], &v));
        if (test.builtin) TRY(jinja_builtin_call(r, test.builtin, v, &test.rest, &v));
        if (jinja_truth(v) == keep) TRY(jinja_list_push(r->arena, l, from->at[i]));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status filter_select(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return choose(r, call, false, true, out);
}

static enum status filter_reject(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return choose(r, call, false, false, out);
}

static enum status filter_selectattr(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return choose(r, call, true, true, out);
}

static enum status filter_rejectattr(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return choose(r, call, true, false, out);
}

// map(attribute=..., default=...)
static enum status map_lookup(struct jinja_run *r, const struct jinja_arguments *a, struct lookup *out) {
    struct jinja_value attribute = {.type = JINJA_ABSENT};
    for (size_t i = 0; i < a->n_named; i++) {
        struct jinja_value name = {.type = JINJA_STRING, .string = a->named[i].name};
        if (jinja_is_text(name, "attribute", 9)) attribute = a->named[i].value;
        else if (jinja_is_text(name, "default", 7)) out->fallback = a->named[i].value;
        else return jinja_fail(r, "Unexpected keyword argument");
    }
    if (attribute.type == JINJA_ABSENT) return jinja_fail(r, "map requires a filter argument");
    return read_path(r, attribute, &out->path);
}

static enum status filter_map(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    struct jinja_list *l;
    struct lookup lookup = {0};
    struct applied filter;
    if (!jinja_truth(call->self)) return nothing(r, out);
    TRY(read_applied(r, call->raw, 0, false, &filter));
    if (!filter.builtin) TRY(map_lookup(r, call->raw, &lookup));
    TRY(jinja_iterate(r, call->self, &from));
    TRY(jinja_list_new(r->arena, from->n, JINJA_SEQUENCE_GENERATOR, &l));
    for (size_t i = 0; i < from->n; i++) {
        struct jinja_value v;
        TRY(look(r, &lookup, from->at[i], &v));
        if (filter.builtin) TRY(jinja_builtin_call(r, filter.builtin, v, &filter.rest, &v));
        TRY(jinja_list_push(r->arena, l, v));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status filter_join(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    const struct jinja_string *between = NULL;
    struct lookup lookup = {0};
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    if (call->arg[0].type != JINJA_ABSENT) TRY(jinja_to_string(r, call->arg[0], &between));
    TRY(read_path(r, call->arg[1], &lookup.path));
    TRY(jinja_iterate(r, call->self, &from));
    for (size_t i = 0; i < from->n; i++) {
        struct jinja_value v;
        TRY(look(r, &lookup, from->at[i], &v));
        if (i && between) jinja_sink_string(&k, between);
        TRY(jinja_print(&k, v, r->e));
    }
    return jinja_sink_end(&k, out);
}

static enum status filter_sum(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    struct lookup lookup = {0};
    *out = call->arg[1].type == JINJA_ABSENT ? jinja_int(0) : call->arg[1];
    TRY(read_path(r, call->arg[0], &lookup.path));
    TRY(jinja_iterate(r, call->self, &from));
    for (size_t i = 0; i < from->n; i++) {
        struct jinja_value v;
        TRY(look(r, &lookup, from->at[i], &v));
        TRY(jinja_arithmetic(r, JINJA_OPERATOR_ADD, *out, v, out));
    }
    return STATUS_OK;
}

static enum status extreme(struct jinja_run *r, const struct jinja_call *call, bool greatest, struct jinja_value *out) {
    const struct jinja_list *from;
    struct lookup lookup = {.ignore_case = !jinja_argument_flag(call->arg[0], false)};
    struct jinja_value best, v;
    TRY(read_path(r, call->arg[1], &lookup.path));
    TRY(jinja_iterate(r, call->self, &from));
    if (!from->n) return jinja_undefined_hint(r, "No aggregated item, sequence was empty.", out);
    *out = from->at[0];
    TRY(look(r, &lookup, *out, &best));
    for (size_t i = 1; i < from->n; i++) {
        bool better;
        TRY(look(r, &lookup, from->at[i], &v));
        TRY(jinja_less(r, greatest ? best : v, greatest ? v : best, &better));
        if (!better) continue;
        best = v;
        *out = from->at[i];
    }
    return STATUS_OK;
}

static enum status filter_min(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return extreme(r, call, false, out);
}

static enum status filter_max(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return extreme(r, call, true, out);
}

static enum status filter_unique(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    struct jinja_list *l;
    struct jinja_mapping *seen;
    struct lookup lookup = {.ignore_case = !jinja_argument_flag(call->arg[0], false)};
    TRY(read_path(r, call->arg[1], &lookup.path));
    TRY(jinja_iterate(r, call->self, &from));
    TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_GENERATOR, &l));
    TRY(jinja_mapping_new(r->arena, 0, &seen));
    for (size_t i = 0; i < from->n; i++) {
        struct jinja_value v;
        TRY(look(r, &lookup, from->at[i], &v));
        if (!jinja_is_key(v)) return jinja_fail(r, "unhashable type: '%s'", jinja_type_name(v));
        if (jinja_mapping_find(seen, v)) continue;
        TRY(jinja_mapping_set(r->arena, seen, v, v));
        TRY(jinja_list_push(r->arena, l, from->at[i]));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

// An item and what it is sorted by.
struct keyed {
    struct jinja_value key, item;
};

// Stable merge sort of at[0..n); `room` holds n more. Equal items keep their order, also when descending.
static enum status sort(struct jinja_run *r, struct keyed *at, struct keyed *room, size_t n, bool descending) {
    if (n < 2) return STATUS_OK;
    size_t half = n / 2, left = 0, right = half, done = 0;
    TRY(sort(r, at, room, half, descending));
    TRY(sort(r, at + half, room, n - half, descending));
    memcpy(room, at, n * sizeof *at);
    while (left < half && right < n) {
        bool swap;
        if (descending) TRY(jinja_less(r, room[left].key, room[right].key, &swap));
        else TRY(jinja_less(r, room[right].key, room[left].key, &swap));
        at[done++] = swap ? room[right++] : room[left++];
    }
    while (left < half) at[done++] = room[left++];
    while (right < n) at[done++] = room[right++];
    return STATUS_OK;
}

static enum status sorted(struct jinja_run *r, struct keyed *all, size_t n, bool descending, struct jinja_value *out) {
    struct jinja_list *l;
    struct keyed *room = arena_new(r->arena, n, sizeof *room);
    if (!room) return STATUS_TOO_LARGE;
    TRY(sort(r, all, room, n, descending));
    TRY(jinja_list_new(r->arena, n, JINJA_SEQUENCE_LIST, &l));
    for (size_t i = 0; i < n; i++) TRY(jinja_list_push(r->arena, l, all[i].item));
    *out = jinja_of_list(l);
    return STATUS_OK;
}

// The key of a sort: a list with one value for every attribute of "a,b".
static enum status sort_key(struct jinja_run *r, const struct jinja_list *attributes, struct lookup *lookup,
                            struct jinja_value item, struct jinja_value *out) {
    struct jinja_list *key;
    TRY(jinja_list_new(r->arena, attributes->n, JINJA_SEQUENCE_LIST, &key));
    for (size_t i = 0; i < attributes->n; i++) {
        struct jinja_value v;
        TRY(read_path(r, attributes->at[i], &lookup->path));
        TRY(look(r, lookup, item, &v));
        TRY(jinja_list_push(r->arena, key, v));
    }
    *out = jinja_of_list(key);
    return STATUS_OK;
}

static enum status filter_sort(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    static const struct jinja_string comma = {.text = ",", .n = 1};
    const struct jinja_list *from;
    struct jinja_list *attributes;
    struct lookup lookup = {.ignore_case = !jinja_argument_flag(call->arg[1], false)};
    TRY(jinja_iterate(r, call->self, &from));
    if (call->arg[2].type == JINJA_STRING) {
        TRY(jinja_text_split(r->arena, call->arg[2].string, &(struct jinja_split){&comma, -1, false}, &attributes));
    } else {
        TRY(jinja_list_new(r->arena, 1, JINJA_SEQUENCE_LIST, &attributes));
        TRY(jinja_list_push(r->arena, attributes, call->arg[2]));
    }
    struct keyed *all = arena_new(r->arena, from->n, sizeof *all);
    if (!all) return STATUS_TOO_LARGE;
    for (size_t i = 0; i < from->n; i++) {
        all[i].item = from->at[i];
        TRY(sort_key(r, attributes, &lookup, from->at[i], &all[i].key));
    }
    return sorted(r, all, from->n, jinja_argument_flag(call->arg[0], false), out);
}

static enum status filter_dictsort(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_list *pairs;
    struct lookup lookup = {.ignore_case = !jinja_argument_flag(call->arg[0], false)};
    struct jinja_value by = call->arg[1];
    if (call->self.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, call->self);
    if (call->self.type != JINJA_MAPPING) {
        return jinja_fail(r, "'%s' object has no attribute 'items'", jinja_type_name(call->self));
    }
    bool value = jinja_is_text(by, "value", 5);
    if (by.type != JINJA_ABSENT && !value && !jinja_is_text(by, "key", 3)) {
        return jinja_fail(r, "You can only sort by either \"key\" or \"value\"");
    }
    TRY(jinja_items(r, call->self.mapping, JINJA_SEQUENCE_LIST, &pairs));
    struct keyed *all = arena_new(r->arena, pairs->n, sizeof *all);
    if (!all) return STATUS_TOO_LARGE;
    for (size_t i = 0; i < pairs->n; i++) {
        all[i].item = pairs->at[i];
        TRY(look(r, &lookup, pairs->at[i].list->at[value], &all[i].key));
    }
    return sorted(r, all, pairs->n, jinja_argument_flag(call->arg[2], false), out);
}

// One (grouper, list) for each value of the attribute, in its order.
static enum status filter_groupby(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *from;
    struct lookup lookup = {.fallback = call->arg[1], .ignore_case = !jinja_argument_flag(call->arg[2], false)};
    struct jinja_list *groups, *group = NULL, *items = NULL;
    TRY(read_path(r, call->arg[0], &lookup.path));
    TRY(jinja_iterate(r, call->self, &from));
    struct keyed *all = arena_new(r->arena, from->n, 2 * sizeof *all);
    if (!all) return STATUS_TOO_LARGE;
    for (size_t i = 0; i < from->n; i++) {
        all[i].item = from->at[i];
        TRY(look(r, &lookup, from->at[i], &all[i].key));
    }
    TRY(sort(r, all, all + from->n, from->n, false));
    TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_LIST, &groups));
    lookup.ignore_case = false; // the grouper is written as in the group's first item
    for (size_t i = 0; i < from->n; i++) {
        bool same = false;
        if (i) TRY(jinja_equal(r, all[i].key, all[i - 1].key, &same));
        if (!same) {
            struct jinja_value key;
            TRY(look(r, &lookup, all[i].item, &key));
            TRY(jinja_list_new(r->arena, 2, JINJA_SEQUENCE_GROUP, &group));
            TRY(jinja_list_new(r->arena, 1, JINJA_SEQUENCE_LIST, &items));
            TRY(jinja_list_push(r->arena, group, key));
            TRY(jinja_list_push(r->arena, group, jinja_of_list(items)));
            TRY(jinja_list_push(r->arena, groups, jinja_of_list(group)));
        }
        TRY(jinja_list_push(r->arena, items, all[i].item));
    }
    *out = jinja_of_list(groups);
    return STATUS_OK;
}

static enum status filter_attr(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *name;
    TRY(jinja_argument_text(r, call->arg[0], NULL, &name));
    return jinja_attribute_only(r, call->self, name, out);
}

static const struct jinja_builtin table[] = {
    {"select", filter_select, NULL, 0},
    {"reject", filter_reject, NULL, 0},
    {"selectattr", filter_selectattr, NULL, 0},
    {"rejectattr", filter_rejectattr, NULL, 0},
    {"map", filter_map, NULL, 0},
    {"join", filter_join, "d attribute", 0},
    {"sum", filter_sum, "attribute start", 0},
    {"min", filter_min, "case_sensitive attribute", 0},
    {"max", filter_max, "case_sensitive attribute", 0},
    {"unique", filter_unique, "case_sensitive attribute", 0},
    {"sort", filter_sort, "reverse case_sensitive attribute", 0},
    {"groupby", filter_groupby, "attribute default case_sensitive", 1},
    {"attr", filter_attr, "name", 1},
    {"dictsort", filter_dictsort, "case_sensitive by reverse", 0},
};
const struct jinja_builtin_table jinja_select_filters = {table, sizeof table / sizeof table[0]};
