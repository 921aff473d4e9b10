// Messages and tools in the forms that templates want, and what is refused by name.
#include "text/chat_normalise.h"
#include "tests/support/test.h"
#include "text/jinja_print.h"

#include <stdio.h>
#include <string.h>

// A template that takes everything as OpenAI's clients send it.
static const struct chat_facts able = {.system = true, .late_system = true, .two_users = true, .content_text = true,
                                       .tools = true, .tool_calls = true, .tool_results = true};

static void print(struct arena *a, struct jinja_value v, char *out, size_t cap) {
    const struct jinja_json_style style = {.between = ", ", .after_key = ": "};
    struct jinja_sink k;
    struct jinja_value text;
    struct err e = {0};
    jinja_sink_init(&k, a, cap);
    if (jinja_print_json(&k, v, &style, &e) != STATUS_OK || jinja_sink_end(&k, &text) != STATUS_OK) {
        snprintf(out, cap, "! %s", e.message);
    } else {
        snprintf(out, cap, "%.*s", (int)text.string->n, text.string->text);
    }
}

// The messages as JSON, or "! " and the error. Single quotes stand for double ones. With `tools` those are printed.
static const char *normalised(const struct chat_facts *facts, const char *messages, const char *tools) {
    static char out[4096];
    const char *texts[] = {messages, tools};
    yyjson_doc *docs[2] = {0};
    struct jinja_value m, t;
    struct arena a;
    struct err e = {0};
    for (int i = 0; i < 2; i++) {
        char json[2048];
        size_t n = 0;
        for (const char *c = texts[i]; c && *c && n + 1 < sizeof json; c++) json[n++] = *c == '\'' ? '"' : *c;
        bool ok = !texts[i] || json_parse("test", json, n, &docs[i], &e) == STATUS_OK;
        if (!ok) test_fail(__FILE__, __LINE__, "%s", e.message);
    }
    arena_init(&a, 1 << 20);
    enum status s = chat_normalise(facts, yyjson_doc_get_root(docs[0]), yyjson_doc_get_root(docs[1]), &a, &m, &t, &e);
    if (s == STATUS_OK) print(&a, tools ? t : m, out, sizeof out);
    else snprintf(out, sizeof out, "! %s", e.message);
    for (char *c = out; *c; c++) {
        if (*c == '"') *c = '\'';
    }
    arena_fini(&a);
    for (int i = 0; i < 2; i++) yyjson_doc_free(docs[i]);
    return out;
}

#define USER "{'role': 'user', 'content': 'u'}"
#define ANSWER "{'role': 'assistant', 'content': 'a'}"
#define CALLS(arguments)                                                                           \
    "'tool_calls': [{'id': '1', 'type': 'function', 'function': {'name': 'f', 'arguments': " arguments "}}]"
#define CALL(arguments) "{'role': 'assistant', 'content': '', " CALLS(arguments) "}"
#define WHERE "messages[1].tool_calls[0].function.arguments: "

static void leaves_alone_what_the_template_takes(void) {
    const char *same = "[{'role': 'system', 'content': 's'}, " USER ", " CALL("{'x': 1.0}")
                       ", {'role': 'tool', 'content': 'r', 'tool_call_id': '1'}, {'role': 'user', 'content': 'u', "
                       "'name': 'ann', 'odd': [1, {'k': null}]}]";
    CHECK_TEXT(same, normalised(&able, same, NULL));
}

static void knows_roles_in_any_case(void) {
    CHECK_TEXT("[{'role': 'system', 'content': 's'}, " USER "]",
               normalised(&able, "[{'role': 'System', 'content': 's'}, {'role': 'USER', 'content': 'u'}]", NULL));
    CHECK_TEXT("! messages[1].role: 'narrator' is unknown; it is system, developer, user, assistant or tool",
               normalised(&able, "[" USER ", {'role': 'narrator', 'content': 'x'}]", NULL));
    CHECK_TEXT("! messages[0].role: missing where a string is expected", normalised(&able, "[{'content': 'x'}]", NULL));
    CHECK_TEXT("! messages[0].role: a number where a string is expected", normalised(&able, "[{'role': 1}]", NULL));
    CHECK_TEXT("! messages[0]: a string where an object is expected", normalised(&able, "['x']", NULL));
    CHECK_TEXT("! messages: empty where a list of messages is expected", normalised(&able, "[]", NULL));
    CHECK_TEXT("! messages: an object where a list of messages is expected", normalised(&able, "{}", NULL));
}

static void joins_leading_instructions(void) {
    const char *three = "[{'role': 'system', 'content': 'a'}, {'role': 'developer', 'content': 'b'}, "
                        "{'role': 'system', 'content': [{'type': 'text', 'text': 'c'}, {'type': 'text', 'text': 'd'}], "
                        "'name': 'n'}, " USER "]";
    CHECK_TEXT("[{'role': 'system', 'content': 'a\\n\\nb\\n\\ncd', 'name': 'n'}, " USER "]",
               normalised(&able, three, NULL));
    CHECK_TEXT("[{'role': 'system', 'content': 'b'}, " USER "]",
               normalised(&able, "[{'role': 'system', 'content': ''}, {'role': 'system', 'content': 'b'}, " USER "]",
                          NULL));
}

static void gives_developers_a_role_that_the_template_knows(void) {
    struct chat_facts f = able;
    const char *developer = "[{'role': 'developer', 'content': 'd'}, " USER "]";
    CHECK_TEXT("[{'role': 'system', 'content': 'd'}, " USER "]", normalised(&f, developer, NULL));
    f.developer = true;
    CHECK_TEXT(developer, normalised(&f, developer, NULL));
    f.developer = f.system = false;
    CHECK_TEXT("[{'role': 'user', 'content': 'd'}, " USER "]", normalised(&f, developer, NULL));
    f.two_users = false;
    CHECK_TEXT("[{'role': 'user', 'content': 'd\\n\\nu'}]", normalised(&f, developer, NULL));
    CHECK_TEXT("[{'role': 'user', 'content': 'd'}, " ANSWER "]",
               normalised(&f, "[{'role': 'developer', 'content': 'd'}, " ANSWER "]", NULL));
}

static void places_late_instructions(void) {
    struct chat_facts f = able;
    const char *late = "[" USER ", " ANSWER ", {'role': 'system', 'content': 's'}, " USER "]";
    CHECK_TEXT(late, normalised(&f, late, NULL));
    f.late_system = false;
    CHECK_TEXT("[" USER ", " ANSWER ", {'role': 'user', 'content': 's'}, " USER "]", normalised(&f, late, NULL));
    f.two_users = false;
    CHECK_TEXT("[" USER ", " ANSWER ", {'role': 'user', 'content': 's\\n\\nu'}]", normalised(&f, late, NULL));
    CHECK_TEXT("[{'role': 'user', 'content': 'u\\n\\ns'}, " ANSWER "]",
               normalised(&f, "[" USER ", {'role': 'system', 'content': 's'}, " ANSWER "]", NULL));
    CHECK_TEXT("[{'role': 'user', 'content': 'u\\n\\ns\\n\\nt'}]",
               normalised(&f, "[" USER ", {'role': 'system', 'content': 's'}, {'role': 'developer', 'content': 't'}]",
                          NULL));
}

static void turns_content_into_the_form_wanted(void) {
    struct chat_facts f = able;
    const char *parts = "[{'role': 'user', 'content': [{'type': 'text', 'text': 'a '}, {'type': 'text', 'text': "
                        "'b'}]}]";
    CHECK_TEXT("[{'role': 'user', 'content': 'a b'}]", normalised(&f, parts, NULL));
    CHECK_TEXT("[{'role': 'user', 'content': ''}]", normalised(&f, "[{'role': 'user', 'content': []}]", NULL));
    f.content_parts = true;
    CHECK_TEXT(parts, normalised(&f, parts, NULL));
    CHECK_TEXT("[" USER "]", normalised(&f, "[" USER "]", NULL));
    CHECK_TEXT("[{'role': 'tool', 'content': 'r'}]",
               normalised(&f, "[{'role': 'tool', 'content': [{'type': 'text', 'text': 'r'}]}]", NULL));
    f.content_text = false;
    CHECK_TEXT("[{'role': 'user', 'content': [{'type': 'text', 'text': 'u'}]}]", normalised(&f, "[" USER "]", NULL));
}

static void refuses_other_parts_by_name(void) {
    CHECK_TEXT("! messages[1].content[0].type: 'image_url' is not supported, only 'text' is",
               normalised(&able, "[" USER ", {'role': 'user', 'content': [{'type': 'image_url', 'image_url': {}}]}]",
                          NULL));
    CHECK_TEXT("! messages[0].content[1].type: missing where 'text' is expected",
               normalised(&able, "[{'role': 'user', 'content': [{'type': 'text', 'text': ''}, {'text': 'x'}]}]", NULL));
    CHECK_TEXT("! messages[0].content[0].type: missing where 'text' is expected",
               normalised(&able, "[{'role': 'user', 'content': ['x']}]", NULL));
    CHECK_TEXT("! messages[0].content[0].text: null where a string is expected",
               normalised(&able, "[{'role': 'user', 'content': [{'type': 'text', 'text': null}]}]", NULL));
    CHECK_TEXT("! messages[0].content: a number where a string or a list of parts is expected",
               normalised(&able, "[{'role': 'user', 'content': 7}]", NULL));
}

static void null_content_belongs_to_assistants(void) {
    struct chat_facts f = able;
    const char *null_call = "[" USER ", {'role': 'assistant', 'content': null, " CALLS("'{}'") "}]";
    const char *no_content = "[" USER ", {'role': 'assistant', " CALLS("'{}'") "}]";
    CHECK_TEXT("[" USER ", " CALL("'{}'") "]", normalised(&f, null_call, NULL));
    CHECK_TEXT("[" USER ", {'role': 'assistant', " CALLS("'{}'") ", 'content': ''}]", normalised(&f, no_content, NULL));
    f.null_content = true;
    CHECK_TEXT(null_call, normalised(&f, null_call, NULL));
    CHECK_TEXT("[" USER ", {'role': 'assistant', 'content': ''}]",
               normalised(&f, "[" USER ", {'role': 'assistant', 'content': null}]", NULL));
    CHECK_TEXT("! messages[1].content: missing", normalised(&f, "[" USER ", {'role': 'assistant'}]", NULL));
    CHECK_TEXT("! messages[0].content: missing", normalised(&f, "[{'role': 'user'}]", NULL));
    CHECK_TEXT("! messages[0].content: null where text is expected",
               normalised(&f, "[{'role': 'tool', 'content': null}]", NULL));
}

static void arguments_become_an_object(void) {
    static const struct {
        const char *given, *expected;
    } rows[] = {{"'{\\'b\\': 1.0, \\'a\\': [1, -2, 1e+21, 0.1, 12345678901234567]}'",
                 "{'b': 1.0, 'a': [1, -2, 1e+21, 0.1, 12345678901234567]}"},
                {"''", "{}"},
                {"'null'", "{}"},
                {"null", "{}"},
                {"' {} '", "{}"},
                {"{'b': 1.0, 'a': 2}", "{'b': 1.0, 'a': 2}"}};
    struct chat_facts f = able;
    f.arguments_object = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char given[512], expected[512];
        snprintf(given, sizeof given, "[" USER ", " CALL("%s") "]", rows[i].given);
        snprintf(expected, sizeof expected, "[" USER ", " CALL("%s") "]", rows[i].expected);
        test_check_text(__FILE__, __LINE__, given, expected, normalised(&f, given, NULL));
    }
    CHECK_TEXT("[" USER ", " CALL("{}") "]",
               normalised(&f, "[" USER ", {'role': 'assistant', 'content': '', 'tool_calls': [{'id': '1', 'type': "
                              "'function', 'function': {'name': 'f'}}]}]", NULL));
}

static void arguments_that_are_no_object_are_refused(void) {
    struct chat_facts f = able;
    f.arguments_object = true;
    CHECK_TEXT("! " WHERE "the text of a list where an object is expected",
               normalised(&f, "[" USER ", " CALL("'[1]'") "]", NULL));
    CHECK_TEXT("! " WHERE "the text of a string where an object is expected",
               normalised(&f, "[" USER ", " CALL("'\\'s\\''") "]", NULL));
    CHECK_TEXT("! " WHERE "the text of a number where an object is expected",
               normalised(&f, "[" USER ", " CALL("'7'") "]", NULL));
    CHECK_TEXT("! " WHERE "a list where an object or its JSON text is expected",
               normalised(&f, "[" USER ", " CALL("[1]") "]", NULL));
    CHECK_TEXT("! " WHERE "true or false where an object or its JSON text is expected",
               normalised(&able, "[" USER ", " CALL("true") "]", NULL));
    const char *broken = normalised(&f, "[" USER ", " CALL("'{bad'") "]", NULL);
    CHECK(strncmp(broken, "! " WHERE, sizeof "! " WHERE - 1) == 0);
}

static void arguments_become_text(void) {
    struct chat_facts f = able;
    f.arguments_text = true;
    CHECK_TEXT("[" USER ", " CALL("'{\\'b\\': 1.0, \\'a\\': [true, null]}'") "]",
               normalised(&f, "[" USER ", " CALL("{'b': 1.0, 'a': [true, null]}") "]", NULL));
    CHECK_TEXT("[" USER ", " CALL("'{bad'") "]", normalised(&f, "[" USER ", " CALL("'{bad'") "]", NULL));
    CHECK_TEXT("[" USER ", " CALL("'{}'") "]", normalised(&f, "[" USER ", " CALL("''") "]", NULL));
    CHECK_TEXT("[" USER ", " CALL("'{}'") "]", normalised(&f, "[" USER ", " CALL("null") "]", NULL));
}

static void checks_tool_calls(void) {
    CHECK_TEXT("! messages[0].tool_calls: only an assistant message has them",
               normalised(&able, "[{'role': 'user', 'content': 'u', " CALLS("''") "}]", NULL));
    CHECK_TEXT("! messages[0].tool_calls: a string where a list is expected",
               normalised(&able, "[{'role': 'assistant', 'content': 'u', 'tool_calls': 'x'}]", NULL));
    CHECK_TEXT("! messages[0].tool_calls[0].function: must be an object with name and arguments",
               normalised(&able, "[{'role': 'assistant', 'content': 'u', 'tool_calls': [7]}]", NULL));
    CHECK_TEXT("! messages[0].tool_calls[0].function.name: must be a string",
               normalised(&able, "[{'role': 'assistant', 'content': 'u', 'tool_calls': [{'function': {}}]}]", NULL));
    CHECK_TEXT("! messages[0].tool_calls[0].type: only 'function' is supported",
               normalised(&able, "[{'role': 'assistant', 'content': 'u', 'tool_calls': [{'type': 'custom'}]}]", NULL));
    CHECK_TEXT("! messages[0].function_call: is out of use; send tool_calls",
               normalised(&able, "[{'role': 'assistant', 'content': 'u', 'function_call': {'name': 'f'}}]", NULL));
    CHECK_TEXT("[" ANSWER "]",
               normalised(&able, "[{'role': 'assistant', 'content': 'a', 'tool_calls': [], 'function_call': null, "
                                 "'refusal': null, 'audio': null}]", NULL));
}

static void refuses_what_the_template_would_drop(void) {
    struct chat_facts f = able;
    f.tool_calls = f.tool_results = f.tools = false;
    CHECK_TEXT("! messages[1].tool_calls: the chat template has no form for them",
               normalised(&f, "[" USER ", " CALL("''") "]", NULL));
    CHECK_TEXT("! messages[1].role: the chat template has no form for results of tools",
               normalised(&f, "[" USER ", {'role': 'tool', 'content': 'r'}]", NULL));
    CHECK_TEXT("! tools: the chat template has no form for them; leave them out",
               normalised(&f, "[" USER "]", "[{'name': 'f'}]"));
    CHECK_TEXT("null", normalised(&f, "[" USER "]", "[]"));
}

static void calls_alone_have_no_text_beside_them(void) {
    struct chat_facts f = able;
    f.calls_alone = f.null_content = true;
    CHECK_TEXT("[" USER ", {'role': 'assistant', 'content': null, " CALLS("'{}'") "}]",
               normalised(&f, "[" USER ", " CALL("'{}'") "]", NULL));
    CHECK_TEXT("[" USER ", " ANSWER ", {'role': 'assistant', 'content': null, " CALLS("'{}'") "}]",
               normalised(&f, "[" USER ", {'role': 'assistant', 'content': 'a', " CALLS("'{}'") "}]", NULL));
}

static void reasoning_goes_under_the_name_that_is_read(void) {
    struct chat_facts f = able;
    CHECK_TEXT("[{'role': 'assistant', 'content': 'a', 'reasoning_content': 't'}]",
               normalised(&f, "[{'role': 'assistant', 'reasoning': 't', 'content': 'a'}]", NULL));
    f.reasoning_key = "thinking";
    CHECK_TEXT("[{'role': 'assistant', 'content': 'a', 'thinking': 't'}]",
               normalised(&f, "[{'role': 'assistant', 'content': 'a', 'reasoning_content': 't', 'reasoning': 't'}]",
                          NULL));
    CHECK_TEXT("[{'role': 'assistant', 'thinking': 't', 'content': ''}]",
               normalised(&f, "[{'role': 'assistant', 'reasoning_content': 't'}]", NULL));
    CHECK_TEXT("! messages[0].reasoning: a list where a string is expected",
               normalised(&f, "[{'role': 'assistant', 'content': 'a', 'reasoning': []}]", NULL));
}

static void tools_become_nested(void) {
    struct chat_facts f = able;
    const char *nested = "[{'type': 'function', 'function': {'name': 'f', 'description': 'd', 'parameters': {'a': "
                         "1.0}}}]";
    CHECK_TEXT(nested, normalised(&f, "[" USER "]", nested));
    CHECK_TEXT(nested, normalised(&f, "[" USER "]",
                                  "[{'type': 'function', 'name': 'f', 'description': 'd', 'parameters': {'a': 1.0}}]"));
    CHECK_TEXT(nested, normalised(&f, "[" USER "]",
                                  "[{'type': 'custom', 'name': 'f', 'description': 'd', 'input_schema': {'a': 1.0}}]"));
    CHECK_TEXT(nested, normalised(&f, "[" USER "]",
                                  "[{'function': {'name': 'f', 'description': 'd', 'parameters': {'a': 1.0}, 'strict': "
                                  "null}}]"));
    f.tools_whole = true;
    CHECK_TEXT("[{'type': 'function', 'function': {'name': 'f', 'description': '', 'parameters': {'type': 'object', "
               "'properties': {}}}}]", normalised(&f, "[" USER "]", "[{'name': 'f'}]"));
    f.tools_list = true;
    CHECK_TEXT("[]", normalised(&f, "[" USER "]", "[]"));
}

static void checks_tools(void) {
    CHECK_TEXT("! tools: an object where a list is expected", normalised(&able, "[" USER "]", "{}"));
    CHECK_TEXT("! tools[0]: a number where an object is expected", normalised(&able, "[" USER "]", "[1]"));
    CHECK_TEXT("! tools[0].name: missing where a name is expected", normalised(&able, "[" USER "]", "[{}]"));
    CHECK_TEXT("! tools[0].function.name: empty where a name is expected",
               normalised(&able, "[" USER "]", "[{'function': {'name': ''}}]"));
    CHECK_TEXT("! tools[0].function: a string where an object is expected",
               normalised(&able, "[" USER "]", "[{'function': 'f'}]"));
    CHECK_TEXT("! tools[0].function.parameters: a list where an object is expected",
               normalised(&able, "[" USER "]", "[{'function': {'name': 'f', 'parameters': []}}]"));
    CHECK_TEXT("! tools[0].type: only 'function' is supported",
               normalised(&able, "[" USER "]", "[{'type': 'web_search'}]"));
}

static const struct test_case cases[] = {
    {"leaves alone what the template takes", leaves_alone_what_the_template_takes},
    {"knows roles in any case", knows_roles_in_any_case},
    {"joins leading instructions", joins_leading_instructions},
    {"gives developers a role that the template knows", gives_developers_a_role_that_the_template_knows},
    {"places late instructions", places_late_instructions},
    {"turns content into the form wanted", turns_content_into_the_form_wanted},
    {"refuses other parts by name", refuses_other_parts_by_name},
    {"null content belongs to assistants", null_content_belongs_to_assistants},
    {"arguments become an object", arguments_become_an_object},
    {"arguments that are no object are refused", arguments_that_are_no_object_are_refused},
    {"arguments become text", arguments_become_text},
    {"checks tool calls", checks_tool_calls},
    {"refuses what the template would drop", refuses_what_the_template_would_drop},
    {"calls alone have no text beside them", calls_alone_have_no_text_beside_them},
    {"reasoning goes under the name that is read", reasoning_goes_under_the_name_that_is_read},
    {"tools become nested", tools_become_nested},
    {"checks tools", checks_tools},
};
TEST_MAIN("chat_normalise", cases)
