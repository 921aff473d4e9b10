// ==, <, `in` and their kin, as Python compares.
#include "text/jinja_run.h"

static enum status equal(struct jinja_run *r, struct jinja_value a, struct jinja_value b, unsigned depth, bool *out);

static enum status equal_lists(struct jinja_run *r, const struct jinja_list *a, const struct jinja_list *b,
                               unsigned depth, bool *out) {
    bool ordered = a->kind == b->kind && (a->kind != JINJA_SEQUENCE_GENERATOR || a == b);
    *out = ordered && a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++) TRY(equal(r, a->at[i], b->at[i], depth + 1, out));
    return STATUS_OK;
}

static enum status equal_mappings(struct jinja_run *r, const struct jinja_mapping *a, const struct jinja_mapping *b,
                                  unsigned depth, bool *out) {
    *out = a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++) {
        const struct jinja_value *other = jinja_mapping_find(b, a->at[i].key);
        *out = other != NULL;
        if (other) TRY(equal(r, a->at[i].value, *other, depth + 1, out));
    }
    return STATUS_OK;
}

static enum status equal(struct jinja_run *r, struct jinja_value a, struct jinja_value b, unsigned depth, bool *out) {
    if (depth > JINJA_NESTING_MAX) return jinja_fail(r, "the values are nested too deeply to be compared");
    TRY(jinja_steps(r, 1 + (a.type == JINJA_STRING ? a.string->n / 64 : 0)));
    if (jinja_is_key(a) || a.type != b.type) {
        *out = jinja_is_key(a) && jinja_key_equal(a, b);
        return STATUS_OK;
    }
    switch (a.type) {
    case JINJA_LIST: return equal_lists(r, a.list, b.list, depth, out);
    case JINJA_MAPPING: return equal_mappings(r, a.mapping, b.mapping, depth, out);
    case JINJA_NAMESPACE: *out = a.mapping == b.mapping; break;
    case JINJA_CALLABLE: *out = a.callable == b.callable; break;
    case JINJA_LOOP: *out = a.loop == b.loop; break;
    default: *out = true; break; // undefined equals undefined
    }
    return STATUS_OK;
}

enum status jinja_equal(struct jinja_run *r, struct jinja_value a, struct jinja_value b, bool *out) {
    return equal(r, a, b, 0, out);
}

static const char *sign(enum jinja_operator op) {
    return op == JINJA_OPERATOR_LESS ? "<" : op == JINJA_OPERATOR_LESS_EQUAL ? "<=" : op == JINJA_OPERATOR_GREATER ? ">"
         : ">=";
}

// -1, 0, 1, or 2 where nothing holds (NaN).
static enum status order(struct jinja_run *r, enum jinja_operator op, struct jinja_value a, struct jinja_value b,
                         unsigned depth, int *out) {
    if (depth > JINJA_NESTING_MAX) return jinja_fail(r, "the values are nested too deeply to be compared");
    if (a.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, a);
    if (b.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, b);
    if (jinja_is_number(a) && jinja_is_number(b)) {
        *out = jinja_number_compare(a, b);
        return STATUS_OK;
    }
    if (a.type == JINJA_STRING && b.type == JINJA_STRING) {
        TRY(jinja_steps(r, a.string->n / 64));
        *out = jinja_text_compare(a.string, b.string);
        return STATUS_OK;
    }
    bool lists = a.type == JINJA_LIST && b.type == JINJA_LIST && a.list->kind == b.list->kind;
    if (!lists || a.list->kind > JINJA_SEQUENCE_TUPLE) {
        return jinja_fail(r, "'%s' not supported between instances of '%s' and '%s'", sign(op), jinja_type_name(a),
                          jinja_type_name(b));
    }
    for (size_t i = 0; i < a.list->n && i < b.list->n; i++) {
        bool same;
        TRY(equal(r, a.list->at[i], b.list->at[i], depth, &same));
        if (!same) return order(r, op, a.list->at[i], b.list->at[i], depth + 1, out);
    }
    *out = a.list->n < b.list->n ? -1 : a.list->n > b.list->n;
    return STATUS_OK;
}

enum status jinja_less(struct jinja_run *r, struct jinja_value a, struct jinja_value b, bool *out) {
    int found;
    TRY(order(r, JINJA_OPERATOR_LESS, a, b, 0, &found));
    *out = found == -1;
    return STATUS_OK;
}

enum status jinja_contains(struct jinja_run *r, struct jinja_value in, struct jinja_value item, bool *out) {
    *out = false;
    if (in.type == JINJA_STRING) {
        if (item.type == JINJA_STRING) {
            TRY(jinja_steps(r, in.string->n / 64));
            *out = jinja_text_find(in.string, 0, item.string) != SIZE_MAX;
            return STATUS_OK;
        }
        return jinja_fail(r, "'in <string>' requires string as left operand, not %s", jinja_type_name(item));
    }
    if (in.type == JINJA_MAPPING) {
        if (item.type == JINJA_LIST || item.type == JINJA_MAPPING) {
            bool hashable = item.type == JINJA_LIST && item.list->kind >= JINJA_SEQUENCE_TUPLE &&
                            item.list->kind <= JINJA_SEQUENCE_RANGE;
            if (hashable) return STATUS_OK;
            return jinja_fail(r, "unhashable type: '%s'", jinja_type_name(item));
        }
        *out = jinja_is_key(item) && jinja_mapping_find(in.mapping, item);
        return STATUS_OK;
    }
    if (in.type != JINJA_LIST && in.type != JINJA_UNDEFINED) {
        return jinja_fail(r, "argument of type '%s' is not iterable", jinja_type_name(in));
    }
    const struct jinja_list *l;
    TRY(jinja_iterate(r, in, &l));
    for (size_t i = 0; i < l->n && !*out; i++) TRY(jinja_equal(r, l->at[i], item, out));
    return STATUS_OK;
}

enum status jinja_compare(struct jinja_run *r, enum jinja_operator op, struct jinja_value a, struct jinja_value b,
                          bool *out) {
    bool negated = op == JINJA_OPERATOR_NOT_EQUAL || op == JINJA_OPERATOR_NOT_IN;
    if (op == JINJA_OPERATOR_EQUAL || op == JINJA_OPERATOR_NOT_EQUAL) TRY(jinja_equal(r, a, b, out));
    else if (op == JINJA_OPERATOR_IN || op == JINJA_OPERATOR_NOT_IN) TRY(jinja_contains(r, b, a, out));
    else {
        int found;
        TRY(order(r, op, a, b, 0, &found));
        switch (op) {
        case JINJA_OPERATOR_LESS: *out = found == -1; break;
        case JINJA_OPERATOR_LESS_EQUAL: *out = found == -1 || found == 0; break;
        case JINJA_OPERATOR_GREATER: *out = found == 1; break;
        default: *out = found == 1 || found == 0; break;
        }
    }
    if (negated) *out = !*out;
    return STATUS_OK;
}
