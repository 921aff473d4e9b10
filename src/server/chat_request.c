// Chat: the conversation's fields, the spellings of thinking, and what the template is told.
#include "server/chat_request.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// Variables that the conversation itself sets.
static const char *const reserved[] = {"messages",  "tools",     "add_generation_prompt", "bos_token",
                                       "eos_token", "strftime_now", "raise_exception"};

static bool is_among(const char *name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}
#define IS_AMONG(name, names) is_among(name, names, sizeof(names) / sizeof((names)[0]))

static enum status read_messages(const struct fields *f, struct request *out) {
    yyjson_val *v = fields_value(f, "messages");
    if (!v) return fields_refuse(f, FIELDS_MISSING, "messages", "it is missing");
    if (!yyjson_is_arr(v)) {
        return fields_refuse(f, FIELDS_INVALID_TYPE, "messages", "expected a list, got %s", fields_kind(v));
    }
    if (yyjson_arr_size(v) == 0) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, "messages", "the list is empty; it needs a message");
    }
    out->messages = v;
    return STATUS_OK;
}

// *hidden: the model may not be told of the tools.
static enum status read_tool_choice(const struct fields *f, bool *hidden) {
    yyjson_val *v = fields_value(f, "tool_choice");
    yyjson_val *word = yyjson_is_obj(v) ? yyjson_obj_get(v, yyjson_obj_get(v, "mode") ? "mode" : "type") : v;
    if (v && !yyjson_is_str(word)) {
        return fields_refuse(f, FIELDS_INVALID_TYPE, "tool_choice", "expected a string or an object with a type");
    }
    bool alone = yyjson_obj_size(v) <= 1; // further members choose among the tools
    *hidden = alone && yyjson_equals_str(word, "none");
    if (!v || *hidden || (alone && yyjson_equals_str(word, "auto"))) return STATUS_OK;
    return fields_refuse(f, FIELDS_UNSUPPORTED, "tool_choice", "only \"auto\" and \"none\" are served yet");
}

static enum status read_tools(const struct fields *f, struct request *out) {
    yyjson_val *tools = fields_value(f, "tools");
    bool hidden, parallel = true;
    TRY(read_tool_choice(f, &hidden));
    TRY(fields_bool(f, "parallel_tool_calls", &parallel));
    if (tools && !yyjson_is_arr(tools)) {
        return fields_refuse(f, FIELDS_INVALID_TYPE, "tools", "expected a list, got %s", fields_kind(tools));
    }
    if (yyjson_arr_size(tools) == 0 || hidden) return STATUS_OK;
    out->tools = tools;
    if (parallel) return STATUS_OK;
    return fields_refuse(f, FIELDS_UNSUPPORTED, "parallel_tool_calls", "not served yet; leave it out or send true");
}

static enum status read_formats(const struct fields *f) {
    yyjson_val *format = NULL, *modalities = fields_value(f, "modalities"), *v;
    TRY(fields_object(f, "response_format", &format));
    if (format && !yyjson_is_str(yyjson_obj_get(format, "type"))) {
        return fields_refuse(f, FIELDS_MISSING, "response_format.type", "expected a string");
    }
    if (format && !yyjson_equals_str(yyjson_obj_get(format, "type"), "text")) {
        return fields_refuse(f, FIELDS_UNSUPPORTED, "response_format", "only {\"type\": \"text\"} is served yet");
    }
    if (modalities && !yyjson_is_arr(modalities)) {
        return fields_refuse(f, FIELDS_INVALID_TYPE, "modalities", "expected a list, got %s", fields_kind(modalities));
    }
    size_t i, n;
    yyjson_arr_foreach(modalities, i, n, v) {
        if (yyjson_equals_str(v, "text")) continue;
        return fields_refuse(f, FIELDS_UNSUPPORTED, "modalities", "only [\"text\"] is served");
    }
    return STATUS_OK;
}

static enum status refuse_members(const struct fields *f, const char *key, yyjson_val *object) {
    yyjson_val *name, *value;
    size_t i, n;
    yyjson_obj_foreach(object, i, n, name, value) {
        if (yyjson_equals_str(name, "type") || yyjson_is_null(value)) continue;
        char member[96];
        snprintf(member, sizeof member, "%s.%s", key, yyjson_get_str(name));
        return fields_refuse(f, FIELDS_UNSUPPORTED, member, "not served yet; leave it out");
    }
    return STATUS_OK;
}

// true or false, or {"type": "enabled"} and so on. Judged also where another spelling has decided.
static enum status read_thinking(const struct fields *f, const char *key, enum thinking *out) {
    yyjson_val *v = fields_value(f, key), *type = yyjson_obj_get(v, "type");
    bool on = yyjson_is_true(v) || yyjson_equals_str(type, "enabled");
    if (yyjson_is_str(type)) TRY(refuse_members(f, key, v));
    if (!v || yyjson_equals_str(type, "adaptive")) return STATUS_OK;
    if (!on && !yyjson_is_false(v) && !yyjson_equals_str(type, "disabled")) {
        return fields_refuse(f, FIELDS_INVALID_TYPE, key,
                             "expected true, false or {\"type\": \"enabled\" or \"disabled\"}");
    }
    if (*out == THINKING_UNSAID) *out = on ? THINKING_ON : THINKING_OFF;
    return STATUS_OK;
}

static enum status read_switch(const struct fields *f, enum thinking *out) {
    bool on = false;
    TRY(fields_bool(f, "enable_thinking", &on));
    if (fields_value(f, "enable_thinking") && *out == THINKING_UNSAID) *out = on ? THINKING_ON : THINKING_OFF;
    return STATUS_OK;
}

static bool is_effort(const char *name) {
    for (int i = 0; i < CHAT_EFFORT_COUNT; i++) {
        if (strcmp(name, chat_effort_name((enum chat_effort)i)) == 0) return true;
    }
    return false;
}

static enum status read_effort(const struct fields *f, const char **out) {
    const char *effort = NULL;
    size_t n;
    TRY(fields_text(f, "reasoning_effort", &effort, &n));
    if (!effort) return STATUS_OK;
    if (!is_effort(effort)) {
        return fields_refuse(f, FIELDS_INVALID_VALUE, "reasoning_effort",
                             "expected one of none, minimal, low, medium, high, xhigh, max");
    }
    if (!*out) *out = effort;
    return STATUS_OK;
}

static enum status check_variables(const struct fields *f) {
    if (!f->object) return STATUS_OK;
    yyjson_val *key, *value;
    size_t i, n;
    yyjson_obj_foreach(f->object, i, n, key, value) {
        const char *name = yyjson_get_str(key);
        if (!IS_AMONG(name, reserved)) continue;
        return fields_refuse(f, FIELDS_INVALID_VALUE, name, "the conversation itself sets this variable");
    }
    return STATUS_OK;
}

// A field at the top counts above the same one among the template's variables; switches count above the effort.
static enum status read_reasoning(const struct fields *f, struct request *out) {
    TRY(fields_object(f, "chat_template_kwargs", &out->kwargs));
    const struct fields inner = {out->kwargs, "chat_template_kwargs.", f->error};
    TRY(check_variables(&inner));
    TRY(read_switch(f, &out->thinking));
    TRY(read_switch(&inner, &out->thinking));
    TRY(read_thinking(f, "thinking", &out->thinking));
    TRY(read_thinking(&inner, "thinking", &out->thinking));
    TRY(read_effort(f, &out->effort));
    TRY(read_effort(&inner, &out->effort));
    bool none = out->effort && strcmp(out->effort, "none") == 0;
    if (none && out->thinking == THINKING_UNSAID) out->thinking = THINKING_OFF;
    if (none || out->thinking == THINKING_OFF) out->effort = NULL;
    return STATUS_OK;
}

enum status chat_request_read(const struct fields *f, struct request *out) {
    TRY(read_messages(f, out));
    TRY(read_tools(f, out));
    TRY(read_formats(f));
    TRY(fields_count(f, "max_completion_tokens", &out->max_tokens, &out->limited)); // above max_tokens
    return read_reasoning(f, out);
}

static void copy_variables(yyjson_val *from, yyjson_mut_doc *doc, yyjson_mut_val *to) {
    static const char *const decided[] = {"enable_thinking", "thinking", "reasoning_effort"};
    yyjson_val *key, *value;
    size_t i, n;
    yyjson_obj_foreach(from, i, n, key, value) {
        if (IS_AMONG(yyjson_get_str(key), decided)) continue;
        yyjson_mut_obj_add(to, yyjson_val_mut_copy(doc, key), yyjson_val_mut_copy(doc, value));
    }
}

// The template's variables in one object: those given, and what was decided of thinking and effort. Templates that read
// another spelling are given it by the text side.
static yyjson_doc *make_variables(const struct request *r) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    if (r->kwargs) copy_variables(r->kwargs, doc, object);
    bool on = r->thinking == THINKING_ON;
    if (r->thinking != THINKING_UNSAID) yyjson_mut_obj_add_bool(doc, object, "enable_thinking", on);
    if (r->effort) yyjson_mut_obj_add_str(doc, object, "reasoning_effort", r->effort);
    yyjson_doc *made = yyjson_mut_doc_imut_copy(doc, NULL);
    yyjson_mut_doc_free(doc);
    return made;
}

// The field that a message of the template side begins with ("messages[2].content: ..."). The template's own words name
// none and have no code.
static enum status refuse_conversation(const struct err *err, struct api_error *e) {
    static const char *const fields[] = {"messages[", "tools[", "tools:"};
    char param[sizeof e->param] = "messages";
    bool named = false;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strncmp(err->message, fields[i], strlen(fields[i])) == 0) named = true;
    }
    if (named) snprintf(param, sizeof param, "%.*s", (int)strcspn(err->message, ": "), err->message);
    api_error_from(e, err, status_http(err->status) < 500 ? param : NULL);
    if (named && err->status == STATUS_UNSUPPORTED) e->code = FIELDS_UNSUPPORTED;
    if (named && err->status == STATUS_INVALID) e->code = FIELDS_INVALID_VALUE;
    return err->status;
}

static void write_date(const struct serving *s, char out[16]) {
    time_t now = time(NULL);
    struct tm day;
    if (s->date) {
        snprintf(out, 16, "%s", s->date);
    } else if (!localtime_r(&now, &day) || strftime(out, 16, "%Y-%m-%d", &day) == 0) {
        out[0] = '\0';
    }
}

static enum status render(const struct serving *s, const struct request *r, yyjson_val *variables, struct prompt *out,
                          struct err *e) {
    struct chat_prompt rendered;
    char date[16];
    write_date(s, date);
    const struct chat_input input = {.messages = r->messages,
                                     .tools = r->tools,
                                     .kwargs = variables,
                                     .add_generation_prompt = true,
                                     .date = date[0] ? date : NULL};
    TRY(chat_render(s->chat, &input, &rendered, e));
    enum status status = chat_encode(&rendered, s->tokenizer, &out->ids, e);
    out->opens_reasoning = rendered.opens_reasoning;
    if (rendered.read_date) memcpy(out->date, date, sizeof out->date);
    chat_prompt_fini(&rendered);
    return status;
}

enum status chat_request_prompt(const struct serving *s, const struct request *r, struct prompt *out,
                                struct api_error *e) {
    if (!s->chat) {
        return api_error_refuse(e, FIELDS_UNSUPPORTED, "messages", "%s has no chat template; use /v1/completions",
                                s->names[0]);
    }
    struct err err = {0};
    yyjson_doc *variables = make_variables(r);
    enum status status = variables ? render(s, r, yyjson_doc_get_root(variables), out, &err)
                                   : err_set(&err, STATUS_NO_MEMORY, "no memory for the template's variables");
    yyjson_doc_free(variables);
    return status == STATUS_OK ? STATUS_OK : refuse_conversation(&err, e);
}
