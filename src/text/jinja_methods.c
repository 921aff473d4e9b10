// Methods of mappings and sequences, and which methods the immutable sandbox forbids.
#include "text/jinja_run.h"

#include <string.h>

static enum status unhashable(struct jinja_run *r, struct jinja_value key) {
    return jinja_fail(r, "unhashable type: '%s'", jinja_type_name(key));
}

static enum status mapping_get(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    *out = call->arg[1].type == JINJA_ABSENT ? jinja_none() : call->arg[1];
    if (call->arg[0].type == JINJA_LIST || call->arg[0].type == JINJA_MAPPING) return unhashable(r, call->arg[0]);
    if (!jinja_is_key(call->arg[0])) return STATUS_OK;
    const struct jinja_value *v = jinja_mapping_find(call->self.mapping, call->arg[0]);
    if (v) *out = *v;
    return STATUS_OK;
}

static enum status mapping_items(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    out->type = JINJA_LIST;
    return jinja_items(r, call->self.mapping, JINJA_SEQUENCE_ITEMS, &out->list);
}

static enum status mapping_view(struct jinja_run *r, const struct jinja_call *call, bool keys,
                                struct jinja_value *out) {
    const struct jinja_mapping *m = call->self.mapping;
    struct jinja_list *l;
    TRY(jinja_steps(r, m->n / 8));
    TRY(jinja_list_new(r->arena, m->n, keys ? JINJA_SEQUENCE_KEYS : JINJA_SEQUENCE_VALUES, &l));
    for (size_t i = 0; i < m->n; i++) TRY(jinja_list_push(r->arena, l, keys ? m->at[i].key : m->at[i].value));
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status mapping_keys(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return mapping_view(r, call, true, out);
}

static enum status mapping_values(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return mapping_view(r, call, false, out);
}

// Values never change, so a copy is the value itself.
static enum status copy(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    (void)r;
    *out = call->self;
    return STATUS_OK;
}

static enum status list_count(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    int64_t n = 0;
    for (size_t i = 0; i < call->self.list->n; i++) {
        bool equal;
        TRY(jinja_equal(r, call->self.list->at[i], call->arg[0], &equal));
        n += equal;
    }
    *out = jinja_int(n);
    return STATUS_OK;
}

static enum status list_index(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    for (size_t i = 0; i < call->self.list->n; i++) {
        bool equal;
        TRY(jinja_equal(r, call->self.list->at[i], call->arg[0], &equal));
        *out = jinja_int((int64_t)i);
        if (equal) return STATUS_OK;
    }
    return jinja_fail(r, "the value is not in the list");
}

static enum status float_is_integer(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    double d = call->self.real;
    (void)r;
    *out = jinja_bool(d - d == 0 && __builtin_floor(d) == d);
    return STATUS_OK;
}

const struct jinja_builtin *jinja_method_find(struct jinja_value self, const char *name, size_t n) {
    static const struct jinja_builtin mapping[] = {
        {"get", mapping_get, "key default", 1}, {"items", mapping_items, "", 0}, {"keys", mapping_keys, "", 0},
        {"values", mapping_values, "", 0},      {"copy", copy, "", 0},
    };
    static const struct jinja_builtin list[] = {
        {"count", list_count, "value", 1}, {"index", list_index, "value", 1}, {"copy", copy, "", 0}};
    static const struct jinja_builtin real[] = {{"is_integer", float_is_integer, "", 0}};
    switch (self.type) {
    case JINJA_STRING: return jinja_builtin_find(jinja_string_methods.at, jinja_string_methods.n, name, n);
    case JINJA_MAPPING: return jinja_builtin_find(mapping, sizeof mapping / sizeof mapping[0], name, n);
    case JINJA_FLOAT: return jinja_builtin_find(real, 1, name, n);
    case JINJA_LIST:
        if (self.list->kind == JINJA_SEQUENCE_LIST) return jinja_builtin_find(list, 3, name, n);
        if (self.list->kind <= JINJA_SEQUENCE_TUPLE || self.list->kind == JINJA_SEQUENCE_RANGE) {
            return jinja_builtin_find(list, 2, name, n);
        }
        return NULL;
    default: return NULL;
    }
}

bool jinja_method_is_unsafe(struct jinja_value self, const char *name, size_t n) {
    static const char *const mapping[] = {"clear", "pop", "popitem", "setdefault", "update"};
    static const char *const list[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
    bool is_list = self.type == JINJA_LIST && self.list->kind == JINJA_SEQUENCE_LIST;
    if (self.type != JINJA_MAPPING && !is_list) return false;
    const char *const *names = is_list ? list : mapping;
    size_t count = is_list ? sizeof list / sizeof list[0] : sizeof mapping / sizeof mapping[0];
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0) return true;
    }
    return false;
}
