// Tools of a request in OpenAI's nested form, and the arguments of calls as objects.
#include "text/chat_message.h"

#include "text/chat_normalise.h"
#include "text/jinja_json.h"

static enum status put(struct arena *a, struct jinja_mapping *m, yyjson_val *key, yyjson_val *value, struct err *e) {
    struct jinja_value name, v;
    TRY(jinja_string_copy(a, yyjson_get_str(key), yyjson_get_len(key), true, &name));
    TRY(jinja_value_from_json(a, value, true, &v, e));
    return jinja_mapping_set(a, m, name, v);
}

enum status chat_object_read(struct arena *a, yyjson_val *object, struct jinja_mapping **out, struct err *e) {
    yyjson_val *key, *value;
    size_t i, n;
    TRY(jinja_mapping_new(a, yyjson_obj_size(object) + 1, out));
    yyjson_obj_foreach(object, i, n, key, value) {
        if (!yyjson_is_null(value)) TRY(put(a, *out, key, value, e));
    }
    return STATUS_OK;
}

// What a flat tool says of its function: all but the type, the schema under OpenAI's name.
static enum status flat_function(struct arena *a, yyjson_val *tool, struct jinja_mapping **out, struct err *e) {
    yyjson_val *key, *value;
    size_t i, n;
    TRY(jinja_mapping_new(a, yyjson_obj_size(tool), out));
    yyjson_obj_foreach(tool, i, n, key, value) {
        if (yyjson_is_null(value) || yyjson_equals_str(key, "type")) continue;
        if (!yyjson_equals_str(key, "input_schema")) {
            TRY(put(a, *out, key, value, e));
            continue;
        }
        struct jinja_value v;
        TRY(jinja_value_from_json(a, value, true, &v, e));
        TRY(jinja_mapping_put(a, *out, "parameters", v));
    }
    return STATUS_OK;
}

static enum status check_function(size_t at, yyjson_val *function, bool nested, struct err *e) {
    const char *inside = nested ? ".function" : "";
    yyjson_val *name = yyjson_obj_get(function, "name"), *parameters = yyjson_obj_get(function, "parameters");
    if (!yyjson_is_str(name) || yyjson_get_len(name) == 0) {
        return err_set(e, STATUS_INVALID, "tools[%zu]%s.name: %s where a name is expected", at, inside,
                       yyjson_is_str(name) ? "empty" : chat_kind(name));
    }
    if (parameters && !yyjson_is_null(parameters) && !yyjson_is_obj(parameters)) {
        return err_set(e, STATUS_INVALID, "tools[%zu]%s.parameters: %s where an object is expected", at, inside,
                       chat_kind(parameters));
    }
    return STATUS_OK;
}

// A description and parameters for a function that lacks them: none.
static enum status complete(struct arena *a, struct jinja_mapping *function) {
    struct jinja_mapping *parameters, *properties;
    struct jinja_value text;
    if (!jinja_mapping_text(function, "description", 11)) {
        TRY(jinja_string_borrow(a, "", 0, false, &text));
        TRY(jinja_mapping_put(a, function, "description", text));
    }
    if (jinja_mapping_text(function, "parameters", 10)) return STATUS_OK;
    TRY(jinja_mapping_new(a, 2, &parameters));
    TRY(jinja_mapping_new(a, 0, &properties));
    TRY(jinja_string_borrow(a, "object", 6, false, &text));
    TRY(jinja_mapping_put(a, parameters, "type", text));
    TRY(jinja_mapping_put(a, parameters, "properties", jinja_of_mapping(properties)));
    return jinja_mapping_put(a, function, "parameters", jinja_of_mapping(parameters));
}

static enum status check_tool(size_t at, yyjson_val *tool, bool *nested, struct err *e) {
    yyjson_val *type = yyjson_obj_get(tool, "type"), *function = yyjson_obj_get(tool, "function");
    *nested = function && !yyjson_is_null(function);
    if (!yyjson_is_obj(tool) || (*nested && !yyjson_is_obj(function))) {
        return err_set(e, STATUS_INVALID, "tools[%zu]%s: %s where an object is expected", at,
                       yyjson_is_obj(tool) ? ".function" : "", chat_kind(yyjson_is_obj(tool) ? function : tool));
    }
    bool custom = yyjson_obj_get(tool, "input_schema") && yyjson_equals_str(type, "custom");
    if (type && !yyjson_is_null(type) && !yyjson_equals_str(type, "function") && !custom) {
        return err_set(e, STATUS_UNSUPPORTED, "tools[%zu].type: only \"function\" is supported", at);
    }
    return check_function(at, *nested ? function : tool, *nested, e);
}

static enum status read_tool(const struct chat_facts *facts, yyjson_val *tool, bool nested, struct arena *a,
                             struct jinja_value *out, struct err *e) {
    struct jinja_mapping *fields, *inner;
    struct jinja_value kind;
    if (nested) TRY(chat_object_read(a, yyjson_obj_get(tool, "function"), &inner, e));
    else TRY(flat_function(a, tool, &inner, e));
    if (facts->tools_whole) TRY(complete(a, inner));
    TRY(jinja_string_borrow(a, "function", 8, true, &kind));
    TRY(jinja_mapping_new(a, 2, &fields));
    if (nested && yyjson_obj_get(tool, "type")) TRY(chat_object_read(a, tool, &fields, e));
    TRY(jinja_mapping_put(a, fields, "type", kind));
    TRY(jinja_mapping_put(a, fields, "function", jinja_of_mapping(inner)));
    *out = jinja_of_mapping(fields);
    return STATUS_OK;
}

static enum status no_tools(const struct chat_facts *facts, struct arena *a, struct jinja_value *out) {
    struct jinja_list *empty;
    *out = jinja_none();
    if (!facts->tools_list) return STATUS_OK;
    TRY(jinja_list_new(a, 0, JINJA_SEQUENCE_LIST, &empty));
    *out = jinja_of_list(empty);
    return STATUS_OK;
}

enum status chat_tools_read(const struct chat_facts *facts, yyjson_val *tools, struct arena *a,
                            struct jinja_value *out, struct err *e) {
    struct jinja_list *list;
    yyjson_val *tool;
    size_t i, n;
    bool none = !tools || yyjson_is_null(tools);
    if (!none && !yyjson_is_arr(tools)) {
        return err_set(e, STATUS_INVALID, "tools: %s where a list is expected", chat_kind(tools));
    }
    if (none || yyjson_arr_size(tools) == 0) return no_tools(facts, a, out);
    TRY(jinja_list_new(a, yyjson_arr_size(tools), JINJA_SEQUENCE_LIST, &list));
    yyjson_arr_foreach(tools, i, n, tool) {
        struct jinja_value v;
        bool nested;
        TRY(check_tool(i, tool, &nested, e));
        TRY(read_tool(facts, tool, nested, a, &v, e));
        TRY(jinja_list_push(a, list, v));
    }
    *out = jinja_of_list(list);
    return STATUS_OK;
}

enum status chat_arguments_object(const char *where, const char *text, size_t n, struct arena *a,
                                  struct jinja_value *out, struct err *e) {
    yyjson_doc *doc = NULL;
    if (n) TRY(json_parse(where, text, n, &doc, e));
    yyjson_val *root = yyjson_doc_get_root(doc);
    enum status s = STATUS_OK;
    if (!doc || yyjson_is_null(root)) {
        struct jinja_mapping *empty;
        s = jinja_mapping_new(a, 0, &empty);
        if (s == STATUS_OK) *out = jinja_of_mapping(empty);
    } else if (!yyjson_is_obj(root)) {
        s = err_set(e, STATUS_INVALID, "%s: the text of %s where an object is expected", where, chat_kind(root));
    } else {
        s = jinja_value_from_json(a, root, true, out, e);
    }
    yyjson_doc_free(doc);
    return s;
}
