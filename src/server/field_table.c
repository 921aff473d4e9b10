// The table of request fields.
#include "server/field_table.h"

#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

// What a field may hold. READ: a parser judges it; the others: values that change no reply.
enum {
    READ = 1 << 0,
    IS_FALSE = 1 << 1,
    IS_ZERO = 1 << 2,
    IS_ONE = 1 << 3,
    IS_EMPTY = 1 << 4,  // "", [], {}
    IS_TEXT = 1 << 5,   // any string
    IS_OBJECT = 1 << 6, // any object
    NEVER = 0,
};

enum { BOTH = API_CHAT | API_COMPLETION };

struct row {
    const char *name;
    unsigned routes, accepts;
    const char *word;    // one string more that is accepted, or NULL
    const char *instead; // what to do in place of it, or NULL
};

static const struct row rows[] = {
    {"model", BOTH, READ, NULL, NULL},
    {"messages", API_CHAT, READ, NULL, NULL},
    {"prompt", API_COMPLETION, READ, NULL, NULL},
    {"max_tokens", BOTH, READ, NULL, NULL},
    {"max_completion_tokens", API_CHAT, READ, NULL, NULL},
    {"temperature", BOTH, READ, NULL, NULL},
    {"top_p", BOTH, READ, NULL, NULL},
    {"top_k", BOTH, READ, NULL, NULL},
    {"min_p", BOTH, READ, NULL, NULL},
    {"seed", BOTH, READ, NULL, NULL},
    {"stop", BOTH, READ, NULL, NULL},
    {"stream", BOTH, READ, NULL, NULL},
    {"stream_options", BOTH, READ, NULL, NULL},
    {"ignore_eos", BOTH, READ, NULL, NULL},
    {"draft", BOTH, READ, NULL, NULL},
    {"echo", API_COMPLETION, READ, NULL, NULL},
    {"add_special_tokens", API_COMPLETION, READ, NULL, NULL},
    {"tools", API_CHAT, READ, NULL, NULL},
    {"tool_choice", API_CHAT, READ, NULL, NULL},
    {"parallel_tool_calls", API_CHAT, READ, NULL, NULL},
    {"response_format", API_CHAT, READ, NULL, NULL},
    {"modalities", API_CHAT, READ, NULL, NULL},
    {"chat_template_kwargs", API_CHAT, READ, NULL, NULL},
    {"enable_thinking", API_CHAT, READ, NULL, NULL},
    {"thinking", API_CHAT, READ, NULL, NULL},
    {"reasoning_effort", API_CHAT, READ, NULL, NULL},

    // About the caller, or about speed: the reply is the same with and without.
    {"user", BOTH, IS_TEXT, NULL, NULL},
    {"safety_identifier", API_CHAT, IS_TEXT, NULL, NULL},
    {"metadata", API_CHAT, IS_OBJECT, NULL, NULL},
    {"service_tier", API_CHAT, IS_TEXT, NULL, NULL},
    {"prompt_cache_key", API_CHAT, IS_TEXT, NULL, NULL},
    {"prompt_cache_options", API_CHAT, IS_OBJECT, NULL, NULL},
    {"prompt_cache_retention", API_CHAT, IS_TEXT, NULL, NULL},
    {"cache_salt", BOTH, IS_TEXT, NULL, NULL},
    {"prediction", API_CHAT, IS_OBJECT, NULL, NULL},

    // Not served yet: only values that ask for nothing.
    {"n", BOTH, IS_ONE, NULL, "send one request a reply"},
    {"best_of", API_COMPLETION, IS_ONE, NULL, NULL},
    {"suffix", API_COMPLETION, IS_EMPTY, NULL, NULL},
    {"logprobs", API_CHAT, IS_FALSE, NULL, NULL},
    {"logprobs", API_COMPLETION, NEVER, NULL, NULL},
    {"top_logprobs", API_CHAT, IS_ZERO, NULL, NULL},
    {"logit_bias", BOTH, IS_EMPTY, NULL, NULL},
    {"frequency_penalty", BOTH, IS_ZERO, NULL, NULL},
    {"presence_penalty", BOTH, IS_ZERO, NULL, NULL},
    {"repetition_penalty", BOTH, IS_ONE, NULL, NULL},
    {"thinking_budget", API_CHAT, IS_ZERO, NULL, "bound the whole reply with max_tokens"},
    {"verbosity", API_CHAT, NEVER, "medium", NULL},
    {"priority", BOTH, NEVER, "normal", NULL},
    {"store", API_CHAT, IS_FALSE, NULL, NULL},
    {"functions", API_CHAT, IS_EMPTY, NULL, "use tools"},
    {"function_call", API_CHAT, NEVER, "none", "use tool_choice"},
    {"audio", API_CHAT, NEVER, NULL, NULL},
    {"web_search_options", API_CHAT, NEVER, NULL, NULL},
    {"moderation", API_CHAT, NEVER, NULL, NULL},
    {"structured_outputs", BOTH, NEVER, NULL, NULL},
    {"guided_json", BOTH, NEVER, NULL, NULL},
    {"guided_regex", BOTH, NEVER, NULL, NULL},
    {"guided_choice", BOTH, NEVER, NULL, NULL},
    {"guided_grammar", BOTH, NEVER, NULL, NULL},
};

enum { N_ROWS = sizeof rows / sizeof rows[0], NAME_SHOWN = 64 };

static const struct row *find(enum api_route route, const char *name) {
    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].routes & route && strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    return NULL;
}

static bool is_accepted(const struct row *row, yyjson_val *v) {
    double x;
    if (row->accepts & READ || yyjson_is_null(v)) return true;
    if (row->word && yyjson_equals_str(v, row->word)) return true;
    if (row->accepts & IS_FALSE && yyjson_is_false(v)) return true;
    if (row->accepts & IS_EMPTY && !yyjson_is_num(v) && !yyjson_is_bool(v) && yyjson_get_len(v) == 0) return true;
    if (row->accepts & IS_TEXT && yyjson_is_str(v)) return true;
    if (row->accepts & IS_OBJECT && yyjson_is_obj(v)) return true;
    if (!(row->accepts & (IS_ZERO | IS_ONE)) || !fields_as_number(v, &x)) return false;
    return (row->accepts & IS_ZERO && x == 0) || (row->accepts & IS_ONE && x == 1);
}

static enum status refuse_value(const struct fields *f, const struct row *row, yyjson_val *v) {
    if (row->accepts & (IS_TEXT | IS_OBJECT)) {
        const char *expected = row->accepts & IS_TEXT ? "a string" : "an object";
        return fields_refuse(f, FIELDS_INVALID_TYPE, row->name, "expected %s, got %s", expected, fields_kind(v));
    }
    const char *harmless = row->accepts & IS_FALSE   ? " or send false"
                           : row->accepts & IS_ZERO  ? " or send 0"
                           : row->accepts & IS_ONE   ? " or send 1"
                           : row->accepts & IS_EMPTY ? " or send it empty"
                                                     : "";
    char word[64] = "";
    if (row->word) snprintf(word, sizeof word, " or send \"%s\"", row->word);
    return fields_refuse(f, FIELDS_UNSUPPORTED, row->name, "not served yet; leave it out%s%s%s%s", harmless, word,
                         row->instead ? "; " : "", row->instead ? row->instead : "");
}

static enum status refuse_unknown(enum api_route route, const struct fields *f, yyjson_val *key) {
    const char *names[N_ROWS];
    size_t n = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].routes & route) names[n++] = rows[i].name;
    }
    char name[NAME_SHOWN + 1];
    snprintf(name, sizeof name, "%s", yyjson_get_len(key) ? yyjson_get_str(key) : "\"\"");
    const char *near = suggest(name, names, n);
    if (near) {
        return fields_refuse(f, "unknown_parameter", name, "this route has no such field; did you mean %s?", near);
    }
    return fields_refuse(f, "unknown_parameter", name, "this route has no such field; docs/API.md lists those it has");
}

enum status field_table_check(enum api_route route, const struct fields *f) {
    yyjson_val *key, *value;
    size_t i, n;
    yyjson_obj_foreach(f->object, i, n, key, value) {
        const char *name = yyjson_get_str(key);
        const struct row *row = strlen(name) == yyjson_get_len(key) ? find(route, name) : NULL;
        if (!row) return refuse_unknown(route, f, key);
        if (!is_accepted(row, value)) return refuse_value(f, row, value);
    }
    return STATUS_OK;
}
