// Functions that every template can call.
#include "text/jinja_run.h"

#include <string.h>
#include <time.h>

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

static enum status global_strftime_now(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *format;
    TRY(jinja_argument_text(r, call->arg[0], NULL, &format));
    time_t seconds = (time_t)r->clock->local_seconds(r->clock->context);
    struct tm parts;
    char text[512], pattern[256];
    if (format->n + 1 > sizeof pattern) return jinja_fail(r, "the format of strftime_now is too long");
    memcpy(pattern, format->text, format->n);
    pattern[format->n] = '\0';
    if (!gmtime_r(&seconds, &parts)) return jinja_fail(r, "the time of strftime_now is out of range");
    size_t n = strftime(text, sizeof text, pattern, &parts);
    return jinja_string_copy(r->arena, text, n, false, out);
}

const struct jinja_builtin *jinja_global_find(const char *name, size_t n) {
    static const struct jinja_builtin table[] = {
        {"range", global_range, "start stop step", 1},
        {"dict", global_dict, NULL, 0},
        {"namespace", global_namespace, NULL, 0},
        {"raise_exception", global_raise_exception, "message", 1},
        {"strftime_now", global_strftime_now, "format", 1},
    };
    return jinja_builtin_find(table, sizeof table / sizeof table[0], name, n);
}
