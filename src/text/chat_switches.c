// Spellings met in published templates, and setting them along with the one that a request uses.
#include "text/chat_switches.h"

#include "text/jinja_json.h"

#include <string.h>

const struct chat_switch chat_switches[CHAT_SWITCHES] = {
    {"enable_thinking", "true", "false"},
    {"thinking", "true", "false"},
    {"reasoning", "true", "false"},
    {"thinking_mode", "\"enabled\"", "\"disabled\""},
    {"thinking_option", "\"on\"", "\"off\""},
    {"thinking_budget", NULL, "0"},
};

const char *const chat_effort_names[CHAT_EFFORT_NAMES] = {"reasoning_effort", "thinking_effort", "reasoning_strength"};

static enum status put_text(const char *name, const char *json, struct arena *a, struct jinja_mapping *root) {
    yyjson_doc *doc;
    struct jinja_value v;
    TRY(json_parse(name, json, strlen(json), &doc, NULL));
    enum status s = jinja_value_from_json(a, yyjson_doc_get_root(doc), false, &v, NULL);
    yyjson_doc_free(doc);
    TRY(s);
    return jinja_mapping_put(a, root, name, v);
}

enum status chat_switches_put(uint32_t spellings, yyjson_val *kwargs, struct arena *a, struct jinja_mapping *root) {
    yyjson_val *thinks = yyjson_obj_get(kwargs, chat_switches[0].name);
    yyjson_val *effort = yyjson_obj_get(kwargs, chat_effort_names[0]);
    for (unsigned i = 1; yyjson_is_bool(thinks) && i < CHAT_SWITCHES; i++) {
        const struct chat_switch *s = &chat_switches[i];
        const char *value = yyjson_get_bool(thinks) ? s->on : s->off;
        bool wanted = (spellings & chat_switch_bit(i)) && value && !yyjson_obj_get(kwargs, s->name);
        if (wanted) TRY(put_text(s->name, value, a, root));
    }
    for (unsigned i = 1; yyjson_is_str(effort) && i < CHAT_EFFORT_NAMES; i++) {
        struct jinja_value v;
        if (!(spellings & chat_effort_bit(i)) || yyjson_obj_get(kwargs, chat_effort_names[i])) continue;
        TRY(jinja_value_from_json(a, effort, true, &v, NULL));
        TRY(jinja_mapping_put(a, root, chat_effort_names[i], v));
    }
    return STATUS_OK;
}
