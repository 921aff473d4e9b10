// Looking into values: attributes, items, slices, iteration, length.
#include "text/jinja_run.h"

#include <string.h>

// What jinja2's messages call the type.
static const char *owner_name(struct jinja_value v) {
    switch (v.type) {
    case JINJA_NAMESPACE: return "jinja2.utils.Namespace";
    case JINJA_LOOP: return "jinja2.runtime.LoopContext";
    case JINJA_CALLABLE: return v.callable->macro ? "jinja2.runtime.Macro" : "function";
    case JINJA_STRING: return v.string->safe ? "markupsafe.Markup" : "str";
    default: return jinja_type_name(v);
    }
}

static enum status undefined(struct jinja_run *r, struct jinja_undefined why, struct jinja_value *out) {
    struct jinja_undefined *u = arena_new(r->arena, 1, sizeof *u);
    if (!u) return STATUS_TOO_LARGE;
    *u = why;
    *out = (struct jinja_value){.type = JINJA_UNDEFINED, .undefined = u};
    return STATUS_OK;
}

enum status jinja_undefined_hint(struct jinja_run *r, const char *hint, struct jinja_value *out) {
    return undefined(r, (struct jinja_undefined){.hint = hint}, out);
}

static struct jinja_value text_value(const struct jinja_string *s) {
    return (struct jinja_value){.type = JINJA_STRING, .string = s};
}

static enum status bound_method(struct jinja_run *r, const struct jinja_builtin *b, struct jinja_value self,
                                struct jinja_value *out) {
    struct jinja_callable *c = arena_new(r->arena, 1, sizeof *c);
    if (!c) return STATUS_TOO_LARGE;
    *c = (struct jinja_callable){.builtin = b, .self = self};
    *out = (struct jinja_value){.type = JINJA_CALLABLE, .callable = c};
    return STATUS_OK;
}

// What can be asked about a macro.
static enum status macro_attribute(struct jinja_run *r, const struct jinja_macro_definition *d,
                                   const struct jinja_string *name, struct jinja_value *out) {
    struct jinja_value key = text_value(name);
    if (jinja_is_text(key, "name", 4)) *out = text_value(d->name);
    else if (jinja_is_text(key, "caller", 6)) *out = jinja_bool(d->caller != NULL);
    else if (jinja_is_text(key, "catch_varargs", 13)) *out = jinja_bool(d->varargs != NULL);
    else if (jinja_is_text(key, "catch_kwargs", 12)) *out = jinja_bool(d->kwargs != NULL);
    if (!jinja_is_text(key, "arguments", 9)) return STATUS_OK;
    struct jinja_list *names;
    TRY(jinja_list_new(r->arena, d->parameters.n, JINJA_SEQUENCE_TUPLE, &names));
    for (const struct jinja_node *n = d->parameters.first; n; n = n->next) {
        TRY(jinja_list_push(r->arena, names, text_value(n->name)));
    }
    *out = jinja_of_list(names);
    return STATUS_OK;
}

static void group_attribute(const struct jinja_list *group, const struct jinja_string *name, struct jinja_value *out) {
    if (jinja_is_text(text_value(name), "grouper", 7)) *out = group->at[0];
    if (jinja_is_text(text_value(name), "list", 4)) *out = group->at[1];
}

// Python's getattr in the sandbox: ABSENT where the object has no such attribute.
static enum status object_attribute(struct jinja_run *r, struct jinja_value of, const struct jinja_string *name,
                                    struct jinja_value *out) {
    out->type = JINJA_ABSENT;
    if (of.type == JINJA_LOOP) return jinja_loop_attribute(r, of.loop, name, out);
    if (of.type == JINJA_CALLABLE && of.callable->macro) {
        TRY(macro_attribute(r, of.callable->macro->definition, name, out));
    } else if (of.type == JINJA_LIST && of.list->kind == JINJA_SEQUENCE_GROUP) {
        group_attribute(of.list, name, out);
    }
    if (out->type != JINJA_ABSENT) return STATUS_OK;
    if (of.type == JINJA_NAMESPACE) {
        const struct jinja_value *v = jinja_mapping_find(of.mapping, text_value(name));
        if (v) *out = *v;
        return STATUS_OK;
    }
    const struct jinja_builtin *method = jinja_method_find(of, name->text, name->n);
    if (method) return bound_method(r, method, of, out);
    bool dunder = name->n > 4 && memcmp(name->text, "__", 2) == 0 && memcmp(name->text + name->n - 2, "__", 2) == 0;
    if (!dunder && !jinja_method_is_unsafe(of, name->text, name->n)) return STATUS_OK;
    return undefined(r, (struct jinja_undefined){.owner = jinja_type_name(of), .key = text_value(name), .unsafe = true},
                     out);
}

// Python's object[index]: ABSENT where there is none.
static enum status object_item(struct jinja_run *r, struct jinja_value of, struct jinja_value index,
                               struct jinja_value *out) {
    out->type = JINJA_ABSENT;
    if (of.type == JINJA_MAPPING && jinja_is_key(index)) {
        const struct jinja_value *v = jinja_mapping_find(of.mapping, index);
        if (v) *out = *v;
        return STATUS_OK;
    }
    if (index.type != JINJA_INT && index.type != JINJA_BOOL) return STATUS_OK;
    int64_t i = index.type == JINJA_INT ? index.integer : index.truth, n = 0;
    if (of.type == JINJA_LIST && of.list->kind <= JINJA_SEQUENCE_RANGE && of.list->kind != JINJA_SEQUENCE_GENERATOR) {
        n = (int64_t)of.list->n;
        if (i < 0) i += n;
        if (i >= 0 && i < n) *out = of.list->at[i];
    } else if (of.type == JINJA_STRING) {
        TRY(jinja_steps(r, of.string->n / 64));
        n = (int64_t)jinja_text_length(of.string);
        if (i < 0) i += n;
        if (i < 0 || i >= n) return STATUS_OK;
        size_t begin = jinja_text_offset(of.string, 0, (size_t)i);
        return jinja_text_cut(r->arena, of.string, begin, jinja_text_offset(of.string, begin, 1), out);
    }
    return STATUS_OK;
}

enum status jinja_attribute(struct jinja_run *r, struct jinja_value of, const struct jinja_string *name,
                            struct jinja_value *out) {
    if (of.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, of);
    TRY(object_attribute(r, of, name, out));
    if (out->type == JINJA_ABSENT) TRY(object_item(r, of, text_value(name), out));
    if (out->type != JINJA_ABSENT) return STATUS_OK;
    return undefined(r, (struct jinja_undefined){.owner = owner_name(of), .key = text_value(name)}, out);
}

enum status jinja_attribute_only(struct jinja_run *r, struct jinja_value of, const struct jinja_string *name,
                                 struct jinja_value *out) {
    if (of.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, of);
    TRY(object_attribute(r, of, name, out));
    if (out->type != JINJA_ABSENT) return STATUS_OK;
    return undefined(r, (struct jinja_undefined){.owner = owner_name(of), .key = text_value(name)}, out);
}

enum status jinja_item(struct jinja_run *r, struct jinja_value of, struct jinja_value index, struct jinja_value *out) {
    if (of.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, of);
    TRY(object_item(r, of, index, out));
    if (out->type == JINJA_ABSENT && index.type == JINJA_STRING) TRY(object_attribute(r, of, index.string, out));
    if (out->type != JINJA_ABSENT) return STATUS_OK;
    return undefined(r, (struct jinja_undefined){.owner = owner_name(of), .key = index}, out);
}

// Python's slice.indices: the first index, the step and how many there are.
static enum status slice_bounds(struct jinja_run *r, const struct jinja_value part[3], int64_t n, int64_t *start,
                                int64_t *step, int64_t *count) {
    int64_t bound[3] = {0, 0, 1};
    for (int i = 0; i < 3; i++) {
        if (part[i].type == JINJA_NONE) continue;
        if (part[i].type != JINJA_INT && part[i].type != JINJA_BOOL) {
            return jinja_fail(r, "slice indices must be integers or None or have an __index__ method");
        }
        bound[i] = part[i].type == JINJA_INT ? part[i].integer : part[i].truth;
    }
    if (bound[2] == 0) return jinja_fail(r, "slice step cannot be zero");
    if (bound[2] < -INT64_MAX) bound[2] = -INT64_MAX;
    bool down = bound[2] < 0;
    int64_t low = down ? -1 : 0, high = down ? n - 1 : n;
    for (int i = 0; i < 2; i++) {
        if (part[i].type == JINJA_NONE) {
            bound[i] = (i == 0) == down ? high : low;
            continue;
        }
        if (bound[i] < 0) bound[i] += n;
        if (bound[i] < low) bound[i] = low;
        if (bound[i] > high) bound[i] = high;
    }
    *start = bound[0];
    *step = bound[2];
    *count = 0;
    if (down && bound[1] < bound[0]) *count = (bound[0] - bound[1] - 1) / -bound[2] + 1;
    if (!down && bound[0] < bound[1]) *count = (bound[1] - bound[0] - 1) / bound[2] + 1;
    return STATUS_OK;
}

static enum status slice_string(struct jinja_run *r, const struct jinja_string *s, const struct jinja_value part[3],
                                struct jinja_value *out) {
    int64_t start, step, count, n = (int64_t)jinja_text_length(s);
    TRY(jinja_steps(r, s->n / 64));
    TRY(slice_bounds(r, part, n, &start, &step, &count));
    if (step == 1 || count < 2) {
        size_t begin = count ? jinja_text_offset(s, 0, (size_t)start) : 0;
        return jinja_text_cut(r->arena, s, begin, jinja_text_offset(s, begin, (size_t)count), out);
    }
    const struct jinja_list *points;
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    TRY(jinja_iterate(r, text_value(s), &points));
    for (int64_t i = 0; i < count; i++) jinja_sink_string(&k, points->at[start + i * step].string);
    return jinja_sink_end(&k, out);
}

enum status jinja_slice(struct jinja_run *r, struct jinja_value of, const struct jinja_value part[3],
                        struct jinja_value *out) {
    if (of.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, of);
    if (of.type == JINJA_STRING) return slice_string(r, of.string, part, out);
    if (of.type == JINJA_MAPPING) return jinja_fail(r, "unhashable type: 'slice'");
    if (of.type != JINJA_LIST || of.list->kind > JINJA_SEQUENCE_RANGE || of.list->kind == JINJA_SEQUENCE_GENERATOR) {
        return jinja_fail(r, "'%s' object is not subscriptable", jinja_type_name(of));
    }
    int64_t start, step, count;
    struct jinja_list *l;
    TRY(slice_bounds(r, part, (int64_t)of.list->n, &start, &step, &count));
    TRY(jinja_steps(r, (size_t)count / 8));
    TRY(jinja_list_new(r->arena, (size_t)count, of.list->kind, &l));
    for (int64_t i = 0; i < count; i++) TRY(jinja_list_push(r->arena, l, of.list->at[start + i * step]));
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status code_points(struct jinja_run *r, const struct jinja_string *from, struct jinja_list *l) {
    struct jinja_string plain = *from, *s = &plain;
    s->safe = false; // Python iterates over a Markup as over a str
    TRY(jinja_steps(r, s->n / 8));
    for (size_t at = 0; at < s->n;) {
        size_t next = jinja_text_offset(s, at, 1);
        struct jinja_value v;
        TRY(jinja_text_cut(r->arena, s, at, next, &v));
        TRY(jinja_list_push(r->arena, l, v));
        at = next;
    }
    return STATUS_OK;
}

enum status jinja_iterate(struct jinja_run *r, struct jinja_value v, const struct jinja_list **out) {
    struct jinja_list *l;
    if (v.type == JINJA_LIST) {
        *out = v.list;
        if (v.list->kind != JINJA_SEQUENCE_GENERATOR) return STATUS_OK;
    }
    TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_LIST, &l));
    *out = l;
    switch (v.type) {
    case JINJA_LIST: // a generator gives its items only once
        l->at = v.list->at;
        l->n = l->cap = v.list->n;
        v.list->n = 0;
        return STATUS_OK;
    case JINJA_MAPPING:
        TRY(jinja_steps(r, v.mapping->n / 8));
        for (size_t i = 0; i < v.mapping->n; i++) TRY(jinja_list_push(r->arena, l, v.mapping->at[i].key));
        return STATUS_OK;
    case JINJA_STRING: return code_points(r, v.string, l);
    case JINJA_ABSENT:
    case JINJA_UNDEFINED: return STATUS_OK;
    default: return jinja_fail(r, "'%s' object is not iterable", jinja_type_name(v));
    }
}

enum status jinja_items(struct jinja_run *r, const struct jinja_mapping *m, enum jinja_sequence kind,
                        struct jinja_list **out) {
    TRY(jinja_steps(r, m->n));
    TRY(jinja_list_new(r->arena, m->n, kind, out));
    for (size_t i = 0; i < m->n; i++) {
        struct jinja_list *pair;
        TRY(jinja_list_new(r->arena, 2, JINJA_SEQUENCE_TUPLE, &pair));
        TRY(jinja_list_push(r->arena, pair, m->at[i].key));
        TRY(jinja_list_push(r->arena, pair, m->at[i].value));
        TRY(jinja_list_push(r->arena, *out, jinja_of_list(pair)));
    }
    return STATUS_OK;
}

enum status jinja_length(struct jinja_run *r, struct jinja_value v, int64_t *out) {
    switch (v.type) {
    case JINJA_STRING:
        TRY(jinja_steps(r, v.string->n / 64));
        *out = (int64_t)jinja_text_length(v.string);
        return STATUS_OK;
    case JINJA_MAPPING: *out = (int64_t)v.mapping->n; return STATUS_OK;
    case JINJA_UNDEFINED: *out = 0; return STATUS_OK;
    case JINJA_LIST:
        *out = (int64_t)v.list->n;
        if (v.list->kind != JINJA_SEQUENCE_GENERATOR) return STATUS_OK;
        break;
    default: break;
    }
    return jinja_fail(r, "object of type '%s' has no len()", jinja_type_name(v));
}
