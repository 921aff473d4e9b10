// Finding filters, and reading the arguments that builtins are given.
#include "text/jinja_run.h"

#include <string.h>

const struct jinja_builtin *jinja_filter_find(const char *name, size_t n) {
    const struct jinja_builtin_table *const tables[] = {&jinja_text_filters, &jinja_list_filters,
                                                        &jinja_select_filters, &jinja_number_filters};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const struct jinja_builtin *b = jinja_builtin_find(tables[i]->at, tables[i]->n, name, n);
        if (b) return b;
    }
    return NULL;
}

enum status jinja_argument_int(struct jinja_run *r, struct jinja_value v, int64_t fallback, int64_t *out) {
    *out = fallback;
    if (v.type == JINJA_ABSENT || v.type == JINJA_NONE) return STATUS_OK;
    if (v.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, v);
    if (v.type != JINJA_INT && v.type != JINJA_BOOL) {
        return jinja_fail(r, "'%s' object cannot be interpreted as an integer", jinja_type_name(v));
    }
    *out = v.type == JINJA_INT ? v.integer : v.truth;
    return STATUS_OK;
}

bool jinja_argument_flag(struct jinja_value v, bool fallback) {
    return v.type == JINJA_ABSENT ? fallback : jinja_truth(v);
}

enum status jinja_argument_text(struct jinja_run *r, struct jinja_value v, const struct jinja_string *fallback,
                                const struct jinja_string **out) {
    *out = fallback;
    if (v.type == JINJA_ABSENT) return STATUS_OK;
    if (v.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, v);
    if (v.type != JINJA_STRING) return jinja_fail(r, "expected a str argument, not %s", jinja_type_name(v));
    *out = v.string;
    return STATUS_OK;
}
