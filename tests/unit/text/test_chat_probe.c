// What probing finds out about templates.
#include "tests/support/test.h"
#include "text/chat.h"

#include <stdio.h>
#include <string.h>

#define EACH(body) "{% for m in messages %}" body "{% endfor %}"
#define CHATML EACH("<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n")
// A template with a form for calls: `arguments` is an expression.
#define CALLS(arguments)                                                                           \
    EACH("[{{ m.role }}] {{ m.content or '' }}{% for c in m.tool_calls or [] %}({{ c.function.name }} "          \
         "{{ " arguments " }}){% endfor %}")

// Names of the facts that hold, with blanks between; lasts until the next call.
static const char *facts_of(const char *source) {
    static char out[512];
    struct chat_template *t = NULL;
    struct err e = {0};
    out[0] = '\0';
    if (chat_template_new(source, strlen(source), "<s>", "", &t, &e) != STATUS_OK) {
        snprintf(out, sizeof out, "! %.500s", e.message);
        return out;
    }
    const struct chat_facts *f = chat_template_facts(t);
    const struct {
        const char *name;
        bool holds;
    } rows[] = {{"system", f->system},
                {"late_system", f->late_system},
                {"developer", f->developer},
                {"two_users", f->two_users},
                {"text", f->content_text},
                {"parts", f->content_parts},
                {"null", f->null_content},
                {"tools", f->tools},
                {"tools_list", f->tools_list},
                {"tools_whole", f->tools_whole},
                {"calls", f->tool_calls},
                {"alone", f->calls_alone},
                {"results", f->tool_results},
                {"object", f->arguments_object},
                {"json", f->arguments_text},
                {"thinks", f->thinking_switch},
                {"effort", f->reasoning_effort},
                {"history", f->history_reasoning}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t at = strlen(out);
        if (rows[i].holds) snprintf(out + at, sizeof out - at, "%s%s", at ? " " : "", rows[i].name);
    }
    chat_template_free(t);
    return out;
}

static void knows_what_a_plain_template_does(void) {
    CHECK_TEXT("system late_system two_users text results", facts_of(CHATML));
    CHECK_TEXT("", facts_of("no messages at all"));
    CHECK_TEXT("", facts_of("{{ raise_exception('never') }}"));
    CHECK_TEXT("", facts_of("{{ undefined_thing.x }}"));
}

static void finds_roles_that_are_refused_or_dropped(void) {
    CHECK_TEXT("two_users text", facts_of(EACH("{% if m.role in ['user', 'assistant'] %}{{ m.content }}{% endif %}")));
    CHECK_TEXT("system text results",
               facts_of(EACH("{% if m.role == 'system' and not loop.first %}{{ raise_exception('late') }}{% endif %}{% "
                             "if not loop.first and m.role == 'user' and loop.previtem.role == 'user' %}{{ "
                             "raise_exception('twice') }}{% endif %}{{ m.role }} {{ m.content }}")));
    // The last system message in place of the first one is no rendering of a late one.
    CHECK_TEXT("system two_users text",
               facts_of("{% set ns = namespace(s='') %}" EACH("{% if m.role == 'system' %}{% set ns.s = m.content %}{% "
                        "endif %}") "{{ ns.s }}" EACH("{% if m.role == 'user' or m.role == 'assistant' %}{{ m.content "
                        "}}{% endif %}")));
}

static void tells_a_known_developer_from_any_role(void) {
    CHECK_TEXT("system late_system developer two_users text",
               facts_of(EACH("{% if m.role == 'developer' %}<dev>{{ m.content }}{% elif m.role in ['system', 'user', "
                             "'assistant'] %}{{ m.role }} {{ m.content }}{% endif %}")));
    CHECK_TEXT("system late_system developer two_users text results",
               facts_of(EACH("{% if m.role not in ['system', 'developer', 'user', 'assistant', 'tool'] %}{{ "
                             "raise_exception('role') }}{% endif %}{{ m.role }} {{ m.content }}")));
}

static void finds_forms_of_content(void) {
    CHECK_TEXT("system late_system two_users parts results",
               facts_of(EACH("{{ m.role }}{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% endif %}{% "
                             "endfor %}")));
    CHECK_TEXT("system late_system two_users text parts results",
               facts_of(EACH("{{ m.role }} {% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content "
                             "%}{{ p.text }}{% endfor %}{% endif %}")));
}

static void finds_forms_of_calls(void) {
    CHECK_TEXT("system late_system two_users text null calls results", facts_of(CALLS(
               "c.function.arguments if c.function.arguments is string else c.function.arguments | tojson")));
    CHECK_TEXT("system late_system two_users text null calls results object",
               facts_of(CALLS("c.function.arguments | tojson")));
    CHECK_TEXT("system late_system two_users text null calls results json", facts_of(CALLS("c.function.arguments")));
    CHECK_TEXT("system late_system two_users text calls results object",
               facts_of(EACH("{{ m.role + m.content }}{% for c in m.tool_calls or [] %}{% for k, v in "
                             "c.function.arguments.items() %}{{ k }}={{ v }}{% endfor %}{% endfor %}")));
    CHECK_TEXT("system late_system two_users text null calls alone results json",
               facts_of(EACH("{{ m.role }} {% if m.content is not none %}{{ m.content }}{% else %}{% for c in "
                             "m.tool_calls %}{{ c.function.arguments + '' }}{% endfor %}{% endif %}")));
}

static void finds_forms_of_tools(void) {
    CHECK_TEXT("system late_system two_users text tools results",
               facts_of("{% if tools %}{{ tools | tojson }}{% endif %}" CHATML));
    CHECK_TEXT("system late_system two_users text tools tools_list tools_whole results",
               facts_of("{% for t in tools %}{{ t.function.name + t.function.description }}{% endfor %}" CHATML));
}

static void finds_switches(void) {
    struct chat_template *t = NULL;
    const char *source = CHATML "{% if thinking is defined and not thinking %}<off>{% endif %}{{ thinking_budget }}"
                                "{% if thinking_effort not in ['low', 'high'] and thinking_effort is defined %}"
                                "{{ raise_exception('effort') }}{% endif %}{{ thinking_effort }}";
    CHECK_TEXT("system late_system two_users text results thinks effort", facts_of(source));
    CHECK_INT(STATUS_OK, chat_template_new(source, strlen(source), "", "", &t, NULL));
    CHECK_INT(1u << CHAT_EFFORT_LOW | 1u << CHAT_EFFORT_HIGH, chat_template_facts(t)->efforts);
    chat_template_free(t);
}

static void finds_reasoning_of_earlier_turns(void) {
    static const char *const keys[] = {"reasoning_content", "reasoning", "thinking"};
    for (size_t i = 0; i < 3; i++) {
        struct chat_template *t = NULL;
        char source[512];
        snprintf(source, sizeof source, "%s%s%s", "{% for m in messages %}{{ m.role }} {{ m.", keys[i],
                 " }}</think>{{ m.content }}{% endfor %}<think>");
        CHECK_INT(STATUS_OK, chat_template_new(source, strlen(source), "", "", &t, NULL));
        if (!t) continue;
        CHECK_TEXT(keys[i], chat_template_facts(t)->reasoning_key);
        CHECK_TEXT("<think>", chat_template_facts(t)->think_open);
        CHECK_TEXT("</think>", chat_template_facts(t)->think_close);
        chat_template_free(t);
    }
    CHECK_TEXT("system late_system two_users text results thinks history",
               facts_of(CHATML EACH("{{ m.reasoning_content if enable_thinking }}")));
}

static void a_template_without_an_end_is_bounded(void) {
    CHECK_TEXT("", facts_of("{% for a in range(99999) %}{% for b in range(99999) %}{{ b }}{% endfor %}{% endfor %}"));
    CHECK_TEXT("", facts_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"));
}

static const struct test_case cases[] = {
    {"knows what a plain template does", knows_what_a_plain_template_does},
    {"finds roles that are refused or dropped", finds_roles_that_are_refused_or_dropped},
    {"tells a known developer from any role", tells_a_known_developer_from_any_role},
    {"finds forms of content", finds_forms_of_content},
    {"finds forms of calls", finds_forms_of_calls},
    {"finds forms of tools", finds_forms_of_tools},
    {"finds switches", finds_switches},
    {"finds reasoning of earlier turns", finds_reasoning_of_earlier_turns},
    {"a template without an end is bounded", a_template_without_an_end_is_bounded},
};
TEST_MAIN("chat_probe", cases)
