// JSON documents as values of the template language.
#include "text/jinja_json.h"

#include "base/json.h"

static enum status convert(struct arena *a, yyjson_val *node, bool marked, unsigned depth, struct jinja_value *out);

static enum status convert_array(struct arena *a, yyjson_val *node, bool marked, unsigned depth,
                                 struct jinja_value *out) {
    struct jinja_list *l;
    TRY(jinja_list_new(a, yyjson_arr_size(node), JINJA_SEQUENCE_LIST, &l));
    yyjson_arr_iter it = yyjson_arr_iter_with(node);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&it));) {
        struct jinja_value v;
        TRY(convert(a, item, marked, depth + 1, &v));
        TRY(jinja_list_push(a, l, v));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status convert_object(struct arena *a, yyjson_val *node, bool marked, unsigned depth,
                                  struct jinja_value *out) {
    struct jinja_mapping *m;
    TRY(jinja_mapping_new(a, yyjson_obj_size(node), &m));
    yyjson_obj_iter it = yyjson_obj_iter_with(node);
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&it));) {
        struct jinja_value key, value;
        TRY(jinja_string_copy(a, yyjson_get_str(name), yyjson_get_len(name), marked, &key));
        TRY(convert(a, yyjson_obj_iter_get_val(name), marked, depth + 1, &value));
        TRY(jinja_mapping_set(a, m, key, value));
    }
    *out = jinja_of_mapping(m);
    return STATUS_OK;
}

static enum status convert(struct arena *a, yyjson_val *node, bool marked, unsigned depth, struct jinja_value *out) {
    if (depth > JSON_DEPTH_MAX) return STATUS_INVALID;
    switch (yyjson_get_type(node)) {
    case YYJSON_TYPE_BOOL: *out = jinja_bool(yyjson_get_bool(node)); return STATUS_OK;
    case YYJSON_TYPE_NUM:
        if (yyjson_is_real(node)) *out = jinja_float(yyjson_get_real(node));
        else if (yyjson_is_sint(node)) *out = jinja_int(yyjson_get_sint(node));
        else if (yyjson_get_uint(node) <= INT64_MAX) *out = jinja_int((int64_t)yyjson_get_uint(node));
        else *out = jinja_float((double)yyjson_get_uint(node));
        return STATUS_OK;
    case YYJSON_TYPE_STR: return jinja_string_copy(a, yyjson_get_str(node), yyjson_get_len(node), marked, out);
    case YYJSON_TYPE_ARR: return convert_array(a, node, marked, depth, out);
    case YYJSON_TYPE_OBJ: return convert_object(a, node, marked, depth, out);
    default: *out = jinja_none(); return STATUS_OK;
    }
}

enum status jinja_value_from_json(struct arena *a, yyjson_val *node, bool marked, struct jinja_value *out,
                                  struct err *e) {
    enum status status = convert(a, node, marked, 0, out);
    if (status == STATUS_INVALID) return err_set(e, status, "the JSON value is nested too deeply");
    if (status != STATUS_OK) return err_set(e, status, "the JSON value needs more than %zu bytes", a->limit_bytes);
    return status;
}
