// Functions that every template can call.
#include "text/jinja_run.h"

enum { RANGE_MAX = 100000 }; // the sandbox's own bound

static enum status global_range(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    int64_t start = 0, stop, step;
    struct jinja_list *l;
    for (int i = 0; i < 3; i++) {
        bool given = call->arg[i].type != JINJA_ABSENT;
        if (given && call->arg[i].type == JINJA_NONE) {
            return jinja_fail(r, "'NoneType' object cannot be interpreted as an integer");
        }
    }
    TRY(jinja_argument_int(r, call->arg[0], 0, &stop));
    if (call->arg[1].type != JINJA_ABSENT) {
        start = stop;
        TRY(jinja_argument_int(r, call->arg[1], 0, &stop));
    }
    TRY(jinja_argument_int(r, call->arg[2], 1, &step));
    if (step == 0) return jinja_fail(r, "range() arg 3 must not be zero");
    uint64_t span = 0, by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    if (step > 0 && stop > start) span = (uint64_t)stop - (uint64_t)start;
    if (step < 0 && stop < start) span = (uint64_t)start - (uint64_t)stop;
    uint64_t count = span ? (span - 1) / by + 1 : 0;
    if (count > RANGE_MAX) {
        return jinja_fail(r, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", RANGE_MAX);
    }
    TRY(jinja_steps(r, count / 8));
    TRY(jinja_list_new(r->arena, count, JINJA_SEQUENCE_RANGE, &l));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = step > 0 ? (uint64_t)start + i * by : (uint64_t)start - i * by;
        TRY(jinja_list_push(r->arena, l, jinja_int((int64_t)value)));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

// Python's dict(mapping or pairs, name=value, ...).
static enum status build_mapping(struct jinja_run *r, const struct jinja_arguments *a, struct jinja_mapping **out) {
    TRY(jinja_mapping_new(r->arena, a->n_named, out));
    if (a->n > 1) return jinja_fail(r, "dict expected at most 1 argument, got %zu", a->n);
    struct jinja_value from = a->n ? a->at[0] : (struct jinja_value){.type = JINJA_UNDEFINED};
    bool mapping = from.type == JINJA_MAPPING || from.type == JINJA_NAMESPACE;
    for (size_t i = 0; mapping && i < from.mapping->n; i++) {
        TRY(jinja_mapping_set(r->arena, *out, from.mapping->at[i].key, from.mapping->at[i].value));
    }
    const struct jinja_list *pairs, *pair;
    if (!mapping) {
        TRY(jinja_iterate(r, from, &pairs));
        for (size_t i = 0; i < pairs->n; i++) {
            TRY(jinja_iterate(r, pairs->at[i], &pair));
            if (pair->n != 2 || !jinja_is_key(pair->at[0])) return jinja_fail(r, "dict needs (key, value) pairs");
            TRY(jinja_mapping_set(r->arena, *out, pair->at[0], pair->at[1]));
        }
    }
    for (size_t i = 0; i < a->n_named; i++) {
        struct jinja_value name = {.type = JINJA_STRING, .string = a->named[i].name};
        TRY(jinja_mapping_set(r->arena, *out, name, a->named[i].value));
    }
    return STATUS_OK;
}

static enum status global_dict(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    out->type = JINJA_MAPPING;
    return build_mapping(r, call->raw, &out->mapping);
}

static enum status global_namespace(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    out->type = JINJA_NAMESPACE;
    return build_mapping(r, call->raw, &out->mapping);
}

static enum status global_raise_exception(struct jinja_run *r, const struct jinja_call *call,
                                          struct jinja_value *out) {
    const struct jinja_string *s;
    (void)out;
    TRY(jinja_to_string(r, call->arg[0], &s));
    r->located = true; // the message stands alone
    return jinja_fail(r, "%.*s", s->n > 500 ? 500 : (int)s->n, s->text);
}

static enum status put_value(struct jinja_run *r, struct jinja_value object, const char *name, struct jinja_value v) {
    return jinja_mapping_put(r->arena, object.mapping, name, v);
}

// An object with changing attributes, and a function that is called with it as `self`.
static enum status new_object(struct jinja_run *r, struct jinja_value *out) {
    out->type = JINJA_NAMESPACE;
    return jinja_mapping_new(r->arena, 4, &out->mapping);
}

static enum status bound(struct jinja_run *r, const struct jinja_builtin *b, struct jinja_value self,
                         struct jinja_value *out) {
    struct jinja_callable *c = arena_new(r->arena, 1, sizeof *c);
    if (!c) return STATUS_TOO_LARGE;
    *c = (struct jinja_callable){.builtin = b, .self = self};
    *out = (struct jinja_value){.type = JINJA_CALLABLE, .callable = c};
    return STATUS_OK;
}

// The first call of a joiner gives nothing, later ones the separator.
static enum status joiner_call(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_value *used = jinja_mapping_text(call->self.mapping, "used", 4);
    if (!jinja_truth(*used)) TRY(jinja_string_borrow(r->arena, "", 0, false, out));
    else *out = *jinja_mapping_text(call->self.mapping, "sep", 3);
    return put_value(r, call->self, "used", jinja_bool(true));
}

static enum status global_joiner(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    static const struct jinja_builtin method = {"joiner", joiner_call, "", 0};
    struct jinja_value state, separator = call->arg[0];
    TRY(new_object(r, &state));
    if (separator.type == JINJA_ABSENT) TRY(jinja_string_borrow(r->arena, ", ", 2, false, &separator));
    TRY(put_value(r, state, "sep", separator));
    TRY(put_value(r, state, "used", jinja_bool(false)));
    return bound(r, &method, state, out);
}

// A cycler's state lies where the template cannot reach it: the items, the place among them, and the object it shows.
static enum status set_cycler(struct jinja_run *r, struct jinja_value state, const struct jinja_list *items,
                              size_t at) {
    TRY(put_value(r, state, "at", jinja_int((int64_t)at)));
    return put_value(r, *jinja_mapping_text(state.mapping, "shown", 5), "current", items->at[at]);
}

static enum status cycler_next(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *items = jinja_mapping_text(call->self.mapping, "items", 5)->list;
    size_t at = (size_t)jinja_mapping_text(call->self.mapping, "at", 2)->integer;
    *out = items->at[at];
    return set_cycler(r, call->self, items, (at + 1) % items->n);
}

static enum status cycler_reset(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    *out = jinja_none();
    return set_cycler(r, call->self, jinja_mapping_text(call->self.mapping, "items", 5)->list, 0);
}

static enum status global_cycler(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    static const struct jinja_builtin next = {"next", cycler_next, "", 0}, reset = {"reset", cycler_reset, "", 0};
    struct jinja_list *items;
    struct jinja_value method, state;
    if (call->raw->n_named) return jinja_fail(r, "cycler() takes no keyword arguments");
    if (!call->raw->n) return jinja_fail(r, "at least one item has to be provided");
    TRY(jinja_list_new(r->arena, call->raw->n, JINJA_SEQUENCE_TUPLE, &items));
    for (size_t i = 0; i < call->raw->n; i++) TRY(jinja_list_push(r->arena, items, call->raw->at[i]));
    TRY(new_object(r, &state));
    TRY(new_object(r, out));
    TRY(put_value(r, state, "items", jinja_of_list(items)));
    TRY(put_value(r, state, "shown", *out));
    TRY(bound(r, &next, state, &method));
    TRY(put_value(r, *out, "next", method));
    TRY(bound(r, &reset, state, &method));
    TRY(put_value(r, *out, "reset", method));
    return set_cycler(r, state, items, 0);
}

static enum status global_strftime_now(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *format;
    TRY(jinja_argument_text(r, call->arg[0], NULL, &format));
    return jinja_strftime(r, format, r->clock->local_seconds(r->clock->context), out);
}

const struct jinja_builtin *jinja_global_find(const char *name, size_t n) {
    static const struct jinja_builtin table[] = {
        {"range", global_range, "start stop step", 1},
        {"dict", global_dict, NULL, 0},
        {"namespace", global_namespace, NULL, 0},
        {"joiner", global_joiner, "sep", 0},
        {"cycler", global_cycler, NULL, 0},
        {"raise_exception", global_raise_exception, "message", 1},
        {"strftime_now", global_strftime_now, "format", 1},
    };
    return jinja_builtin_find(table, sizeof table / sizeof table[0], name, n);
}
