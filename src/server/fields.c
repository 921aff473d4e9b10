// Typed getters of request fields.
#include "server/fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

yyjson_val *fields_value(const struct fields *f, const char *key) {
    yyjson_val *v = yyjson_obj_get(f->object, key);
    return yyjson_is_null(v) ? NULL : v;
}

const char *fields_kind(yyjson_val *v) {
    switch (yyjson_get_type(v)) {
    case YYJSON_TYPE_NULL:
        return "null";
    case YYJSON_TYPE_BOOL:
        return "a boolean";
    case YYJSON_TYPE_NUM:
        return "a number";
    case YYJSON_TYPE_STR:
        return "a string";
    case YYJSON_TYPE_ARR:
        return "a list";
    default:
        return "an object";
    }
}

enum status fields_refuse(const struct fields *f, const char *code, const char *key, const char *format, ...) {
    char name[sizeof f->error->param], what[512];
    snprintf(name, sizeof name, "%s%s", f->prefix, key);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return api_error_refuse(f->error, code, name, "%s: %s", name, what);
}

static enum status refuse_kind(const struct fields *f, const char *key, const char *expected, yyjson_val *got) {
    return fields_refuse(f, FIELDS_INVALID_TYPE, key, "expected %s, got %s", expected, fields_kind(got));
}

enum status fields_bool(const struct fields *f, const char *key, bool *out) {
    yyjson_val *v = fields_value(f, key);
    if (!v) return STATUS_OK;
    if (!yyjson_is_bool(v)) return refuse_kind(f, key, "true or false", v);
    *out = yyjson_get_bool(v);
    return STATUS_OK;
}

enum status fields_text(const struct fields *f, const char *key, const char **out, size_t *n) {
    yyjson_val *v = fields_value(f, key);
    if (!v) return STATUS_OK;
    if (!yyjson_is_str(v)) return refuse_kind(f, key, "a string", v);
    *out = yyjson_get_str(v);
    *n = yyjson_get_len(v);
    return STATUS_OK;
}

enum status fields_object(const struct fields *f, const char *key, yyjson_val **out) {
    yyjson_val *v = fields_value(f, key);
    if (!v) return STATUS_OK;
    if (!yyjson_is_obj(v)) return refuse_kind(f, key, "an object", v);
    *out = v;
    return STATUS_OK;
}

// The number a value is or spells, in JSON's own grammar; `room` holds one that was spelled. NULL when it is none.
static yyjson_val *as_numeral(yyjson_val *v, yyjson_val *room) {
    if (yyjson_is_num(v)) return v;
    if (!yyjson_is_str(v)) return NULL;
    const char *text = yyjson_get_str(v);
    const char *end = yyjson_read_number(text, room, YYJSON_READ_NOFLAG, NULL, NULL);
    return end && end == text + yyjson_get_len(v) ? room : NULL;
}

bool fields_as_number(yyjson_val *v, double *out) {
    yyjson_val room = {0};
    v = as_numeral(v, &room);
    if (!v) return false;
    *out = yyjson_get_num(v);
    return true;
}

bool fields_as_whole(yyjson_val *v, struct whole_number *out) {
    yyjson_val room = {0};
    v = as_numeral(v, &room);
    if (!v) return false;
    if (yyjson_is_uint(v)) {
        *out = (struct whole_number){.given = true, .size = yyjson_get_uint(v)};
    } else if (yyjson_is_sint(v)) {
        int64_t i = yyjson_get_sint(v);
        *out = (struct whole_number){.given = true, .negative = i < 0, .size = i < 0 ? 0 - (uint64_t)i : (uint64_t)i};
    } else {
        double x = yyjson_get_real(v);
        if (x != floor(x) || fabs(x) > 0x1p53) return false; // above, it may not be the number that was written
        *out = (struct whole_number){.given = true, .negative = x < 0, .size = (uint64_t)fabs(x)};
    }
    return true;
}

enum status fields_number(const struct fields *f, const char *key, double least, double most, double *out) {
    yyjson_val *v = fields_value(f, key);
    double x;
    if (!v) return STATUS_OK;
    if (!fields_as_number(v, &x)) return refuse_kind(f, key, "a number", v);
    if (!(x >= least && x <= most)) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, key, "%.15g is not between %.15g and %.15g", x, least, most);
    }
    *out = x;
    return STATUS_OK;
}

enum status fields_whole(const struct fields *f, const char *key, struct whole_number *out) {
    yyjson_val *v = fields_value(f, key);
    if (!v) return STATUS_OK;
    double x;
    if (fields_as_whole(v, out)) return STATUS_OK;
    if (!fields_as_number(v, &x)) return refuse_kind(f, key, "a whole number", v);
    return fields_refuse(f, FIELDS_INVALID_VALUE, key, "%.15g is not a whole number of at most 64 bits", x);
}

enum status fields_count(const struct fields *f, const char *key, uint64_t *out, bool *given) {
    struct whole_number w = {0};
    TRY(fields_whole(f, key, &w));
    if (!w.given) return STATUS_OK;
    if (w.negative && w.size) return fields_refuse(f, FIELDS_INVALID_VALUE, key, "it may not be negative");
    *out = w.size;
    *given = true;
    return STATUS_OK;
}
