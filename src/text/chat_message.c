// Reading one message: known role, content of a known form, tool calls with arguments in the wanted form.
#include "text/chat_message.h"

#include "text/chat_normalise.h"
#include "text/jinja_json.h"
#include "text/jinja_print.h"

#include <string.h>
#include <strings.h>

static const char *const role_names[] = {"system", "developer", "user", "assistant", "tool"};

const char *chat_role_name(enum chat_role role) { return role_names[role]; }

const char *chat_kind(yyjson_val *v) {
    switch (yyjson_get_type(v)) {
    case YYJSON_TYPE_NULL: return "null";
    case YYJSON_TYPE_BOOL: return "true or false";
    case YYJSON_TYPE_NUM: return "a number";
    case YYJSON_TYPE_STR: return "a string";
    case YYJSON_TYPE_ARR: return "a list";
    case YYJSON_TYPE_OBJ: return "an object";
    default: return "missing";
    }
}

static bool is_null(yyjson_val *v) { return !v || yyjson_is_null(v); }

static enum status copy_text(struct arena *a, yyjson_val *v, struct jinja_value *out) {
    return jinja_string_copy(a, yyjson_get_str(v), yyjson_get_len(v), true, out);
}

static enum status read_role(struct chat_reader *r, yyjson_val *role, struct chat_turn *t) {
    if (!yyjson_is_str(role)) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].role: %s where a string is expected", r->at,
                       chat_kind(role));
    }
    const char *text = yyjson_get_str(role);
    for (int i = 0; i < CHAT_ROLE_COUNT; i++) {
        t->role = (enum chat_role)i;
        if (strcasecmp(text, role_names[i]) == 0) return STATUS_OK;
    }
    t->role = CHAT_ROLE_TOOL;
    if (strcasecmp(text, "function") == 0) return STATUS_OK;
    return err_set(r->e, STATUS_INVALID,
                   "messages[%zu].role: \"%.40s\" is unknown; it is system, developer, user, assistant or tool", r->at,
                   text);
}

static enum status read_part(struct chat_reader *r, size_t k, yyjson_val *part, struct jinja_value *out) {
    yyjson_val *type = yyjson_obj_get(part, "type"), *text = yyjson_obj_get(part, "text");
    if (!yyjson_is_str(type)) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].content[%zu].type: %s where \"text\" is expected", r->at, k,
                       yyjson_is_obj(part) ? chat_kind(type) : "missing");
    }
    if (!yyjson_equals_str(type, "text")) {
        return err_set(r->e, STATUS_UNSUPPORTED, "messages[%zu].content[%zu].type: \"%.40s\" is not supported, only "
                       "\"text\" is", r->at, k, yyjson_get_str(type));
    }
    if (!yyjson_is_str(text)) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].content[%zu].text: %s where a string is expected", r->at, k,
                       chat_kind(text));
    }
    return jinja_value_from_json(r->arena, part, true, out, r->e);
}

static enum status read_content(struct chat_reader *r, yyjson_val *content, struct jinja_value *out) {
    *out = jinja_none();
    if (is_null(content)) return STATUS_OK;
    if (yyjson_is_str(content)) return copy_text(r->arena, content, out);
    if (!yyjson_is_arr(content)) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].content: %s where a string or a list of parts is expected",
                       r->at, chat_kind(content));
    }
    struct jinja_list *parts;
    size_t i, n;
    yyjson_val *part;
    TRY(jinja_list_new(r->arena, yyjson_arr_size(content), JINJA_SEQUENCE_LIST, &parts));
    yyjson_arr_foreach(content, i, n, part) {
        struct jinja_value v;
        TRY(read_part(r, i, part, &v));
        TRY(jinja_list_push(r->arena, parts, v));
    }
    *out = jinja_of_list(parts);
    return STATUS_OK;
}

// The JSON text of an object, all of it data.
static enum status object_text(struct chat_reader *r, struct jinja_value object, struct jinja_value *out) {
    const struct jinja_json_style style = {.between = ", ", .after_key = ": "};
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->arena->limit_bytes);
    TRY(jinja_print_json(&k, object, &style, r->e));
    jinja_sink_mark_all(&k);
    return jinja_sink_end(&k, out);
}

static enum status read_arguments(struct chat_reader *r, size_t call, yyjson_val *v, struct jinja_value *out) {
    char where[96];
    snprintf(where, sizeof where, "messages[%zu].tool_calls[%zu].function.arguments", r->at, call);
    bool empty = is_null(v) || (yyjson_is_str(v) && yyjson_get_len(v) == 0);
    if (!empty && !yyjson_is_str(v) && !yyjson_is_obj(v)) {
        return err_set(r->e, STATUS_INVALID, "%s: %s where an object or its JSON text is expected", where,
                       chat_kind(v));
    }
    if (empty) {
        if (!r->facts->arguments_object) return jinja_string_borrow(r->arena, "{}", 2, true, out);
        return chat_arguments_object(where, "", 0, r->arena, out, r->e);
    }
    if (yyjson_is_obj(v)) {
        TRY(jinja_value_from_json(r->arena, v, true, out, r->e));
        return r->facts->arguments_text ? object_text(r, *out, out) : STATUS_OK;
    }
    if (!r->facts->arguments_object) return copy_text(r->arena, v, out);
    return chat_arguments_object(where, yyjson_get_str(v), yyjson_get_len(v), r->arena, out, r->e);
}

static enum status read_call(struct chat_reader *r, size_t k, yyjson_val *call, struct jinja_value *out) {
    yyjson_val *type = yyjson_obj_get(call, "type"), *function = yyjson_obj_get(call, "function");
    yyjson_val *name = yyjson_obj_get(function, "name");
    if (!is_null(type) && !yyjson_equals_str(type, "function")) {
        return err_set(r->e, STATUS_UNSUPPORTED, "messages[%zu].tool_calls[%zu].type: only \"function\" is supported",
                       r->at, k);
    }
    if (!yyjson_is_obj(function) || !yyjson_is_str(name)) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].tool_calls[%zu].function%s: %s", r->at, k,
                       yyjson_is_obj(function) ? ".name" : "",
                       yyjson_is_obj(function) ? "must be a string" : "must be an object with name and arguments");
    }
    struct jinja_mapping *fields, *inner;
    struct jinja_value arguments;
    TRY(chat_object_read(r->arena, call, &fields, r->e));
    TRY(chat_object_read(r->arena, function, &inner, r->e));
    TRY(read_arguments(r, k, yyjson_obj_get(function, "arguments"), &arguments));
    TRY(jinja_mapping_put(r->arena, inner, "arguments", arguments));
    TRY(jinja_mapping_put(r->arena, fields, "function", jinja_of_mapping(inner)));
    *out = jinja_of_mapping(fields);
    return STATUS_OK;
}

// Replaces the calls among the fields by checked ones; an empty list is none.
static enum status read_calls(struct chat_reader *r, yyjson_val *calls, struct chat_turn *t) {
    if (is_null(calls)) return STATUS_OK;
    if (!yyjson_is_arr(calls)) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].tool_calls: %s where a list is expected", r->at,
                       chat_kind(calls));
    }
    if (yyjson_arr_size(calls) == 0) return STATUS_OK;
    if (t->role != CHAT_ROLE_ASSISTANT) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].tool_calls: only an assistant message has them", r->at);
    }
    if (!r->facts->tool_calls) {
        return err_set(r->e, STATUS_UNSUPPORTED, "messages[%zu].tool_calls: the chat template has no form for them",
                       r->at);
    }
    struct jinja_list *list;
    size_t i, n;
    yyjson_val *call;
    TRY(jinja_list_new(r->arena, yyjson_arr_size(calls), JINJA_SEQUENCE_LIST, &list));
    yyjson_arr_foreach(calls, i, n, call) {
        struct jinja_value v;
        TRY(read_call(r, i, call, &v));
        TRY(jinja_list_push(r->arena, list, v));
    }
    t->has_calls = true;
    return jinja_mapping_put(r->arena, t->fields, "tool_calls", jinja_of_list(list));
}

// "reasoning_content" or its alias; NULL when there is none.
static enum status find_reasoning(struct chat_reader *r, yyjson_val *message, yyjson_val **out) {
    static const char *const names[] = {"reasoning_content", "reasoning"};
    *out = NULL;
    for (int i = 0; i < 2; i++) {
        yyjson_val *v = yyjson_obj_get(message, names[i]);
        if (is_null(v)) continue;
        if (!yyjson_is_str(v)) {
            return err_set(r->e, STATUS_INVALID, "messages[%zu].%s: %s where a string is expected", r->at, names[i],
                           chat_kind(v));
        }
        if (!*out || yyjson_get_len(*out) == 0) *out = v;
    }
    return STATUS_OK;
}

static bool is_ours(yyjson_val *key) {
    static const char *const names[] = {"tool_calls", "reasoning_content", "reasoning"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (yyjson_equals_str(key, names[i])) return true;
    }
    return false;
}

// All keys in their order, those that need a closer look apart.
static enum status read_fields(struct chat_reader *r, yyjson_val *message, struct chat_turn *t) {
    yyjson_val *key, *value;
    size_t i, n;
    TRY(jinja_mapping_new(r->arena, yyjson_obj_size(message) + 1, &t->fields));
    TRY(jinja_mapping_put(r->arena, t->fields, "role", jinja_none()));
    yyjson_obj_foreach(message, i, n, key, value) {
        struct jinja_value name, v = jinja_none();
        bool content = yyjson_equals_str(key, "content");
        if (is_ours(key) || (is_null(value) && !content)) continue;
        TRY(copy_text(r->arena, key, &name));
        if (!content) TRY(jinja_value_from_json(r->arena, value, true, &v, r->e));
        TRY(jinja_mapping_set(r->arena, t->fields, name, v));
    }
    return STATUS_OK;
}

static enum status check_presence(struct chat_reader *r, yyjson_val *content, const struct chat_turn *t,
                                  bool reasons) {
    bool may_lack = t->role == CHAT_ROLE_ASSISTANT && (content || t->has_calls || reasons);
    if (t->content.type == JINJA_NONE && !may_lack) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu].content: %s%s", r->at, chat_kind(content),
                       content ? " where text is expected" : "");
    }
    if (t->role == CHAT_ROLE_TOOL && !r->facts->tool_results) {
        return err_set(r->e, STATUS_UNSUPPORTED,
                       "messages[%zu].role: the chat template has no form for results of tools", r->at);
    }
    return STATUS_OK;
}

enum status chat_message_read(struct chat_reader *r, yyjson_val *message, struct chat_turn *out) {
    *out = (struct chat_turn){0};
    if (!yyjson_is_obj(message)) {
        return err_set(r->e, STATUS_INVALID, "messages[%zu]: %s where an object is expected", r->at,
                       chat_kind(message));
    }
    yyjson_val *content = yyjson_obj_get(message, "content"), *reasoning;
    TRY(read_role(r, yyjson_obj_get(message, "role"), out));
    TRY(read_content(r, content, &out->content));
    TRY(read_fields(r, message, out));
    if (!is_null(yyjson_obj_get(message, "function_call"))) {
        return err_set(r->e, STATUS_UNSUPPORTED, "messages[%zu].function_call: is out of use; send tool_calls", r->at);
    }
    TRY(read_calls(r, yyjson_obj_get(message, "tool_calls"), out));
    TRY(find_reasoning(r, message, &reasoning));
    if (reasoning) {
        struct jinja_value v;
        const char *key = r->facts->reasoning_key ? r->facts->reasoning_key : "reasoning_content";
        TRY(copy_text(r->arena, reasoning, &v));
        TRY(jinja_mapping_put(r->arena, out->fields, key, v));
    }
    return check_presence(r, content, out, reasoning != NULL);
}
