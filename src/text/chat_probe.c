// Probes: each renders a conversation whose words occur nowhere else, and looks for them in what comes out.
#include "text/chat_probe.h"

#include "base/mem.h"
#include "text/chat_switches.h"
#include "text/jinja_json.h"

#include <stdio.h>
#include <string.h>

enum { PROBE_BYTES = 16 << 20, PROBE_STEPS = 1000 * 1000, PROBE_JSON_BYTES = 4096 };

#define USER_A "{\"role\":\"user\",\"content\":\"zqaa\"}"
#define USER_B "{\"role\":\"user\",\"content\":\"zqbb\"}"
#define SYSTEM "{\"role\":\"system\",\"content\":\"zqss\"}"
#define LATE "{\"role\":\"system\",\"content\":\"zqll\"}"
#define ANSWER "{\"role\":\"assistant\",\"content\":\"zqrr\"}"
#define PARTS "[{\"type\":\"text\",\"text\":\"zqpp\"},{\"type\":\"text\",\"text\":\"zqqq\"}]"
#define CALLS(arguments)                                                                           \
    "\"tool_calls\":[{\"id\":\"zqcall001\",\"type\":\"function\",\"function\":{\"name\":\"zqname\","         \
    "\"arguments\":" arguments "}}]"
#define CALL(content, arguments) "{\"role\":\"assistant\",\"content\":" content "," CALLS(arguments) "}"
#define OBJECT "{\"zqkey\":\"zqvalue\"}"
#define TEXT "\"{\\\"zqkey\\\": \\\"zqvalue\\\"}\""
#define RESULT "{\"role\":\"tool\",\"name\":\"zqname\",\"tool_call_id\":\"zqcall001\",\"content\":\"zqtt\"}"
#define TOOLS                                                                                      \
    "[{\"type\":\"function\",\"function\":{\"name\":\"zqname\",\"description\":\"zqdd\",\"parameters\":{"     \
    "\"type\":\"object\",\"properties\":{\"zqkey\":{\"type\":\"string\",\"description\":\"zqkk\"}},"          \
    "\"required\":[\"zqkey\"]}}}]"
#define BARE_TOOL "[{\"type\":\"function\",\"function\":{\"name\":\"zqname\"}}]"

struct prober {
    const struct chat_context *context;
    bool wrap;                // content is given as parts
    bool tools_list;          // no tools are an empty list
    struct jinja_output text; // of the last probe; no text when it was refused
    enum status failed;       // what is no finding: memory
};

struct probe {
    const char *messages, *tools, *kwargs; // JSON; tools and kwargs may be NULL
    bool no_prompt;                        // without the generation prompt
};

static enum status wrap_contents(struct arena *a, struct jinja_list *messages) {
    for (size_t i = 0; i < messages->n; i++) {
        struct jinja_mapping *m = messages->at[i].mapping, *part;
        const struct jinja_value *content = jinja_mapping_text(m, "content", 7);
        struct jinja_value kind;
        struct jinja_list *parts;
        if (!content || content->type != JINJA_STRING) continue;
        TRY(jinja_mapping_new(a, 2, &part));
        TRY(jinja_list_new(a, 1, JINJA_SEQUENCE_LIST, &parts));
        TRY(jinja_string_borrow(a, "text", 4, false, &kind));
        TRY(jinja_mapping_put(a, part, "type", kind));
        TRY(jinja_mapping_put(a, part, "text", *content));
        TRY(jinja_list_push(a, parts, jinja_of_mapping(part)));
        TRY(jinja_mapping_put(a, m, "content", jinja_of_list(parts)));
    }
    return STATUS_OK;
}

static enum status render(struct prober *p, struct arena *a, const struct probe *what, yyjson_doc *const docs[3]) {
    const struct jinja_options limits = {PROBE_BYTES, PROBE_BYTES, PROBE_STEPS, NULL};
    struct chat_values v = {.tools = jinja_none(), .add_generation_prompt = !what->no_prompt, .date = "2026-01-01",
                            .kwargs = yyjson_doc_get_root(docs[2])};
    bool read_date;
    TRY(jinja_value_from_json(a, yyjson_doc_get_root(docs[0]), false, &v.messages, NULL));
    if (docs[1]) TRY(jinja_value_from_json(a, yyjson_doc_get_root(docs[1]), false, &v.tools, NULL));
    if (p->wrap) TRY(wrap_contents(a, v.messages.list));
    return chat_context_render(p->context, a, &v, &limits, &p->text, &read_date, NULL);
}

// Renders a conversation; true unless the template refused it.
static bool probe(struct prober *p, const struct probe *what) {
    const char *texts[] = {what->messages, what->tools ? what->tools : p->tools_list ? "[]" : NULL, what->kwargs};
    yyjson_doc *docs[3] = {0};
    enum status s = STATUS_OK;
    struct arena arena;
    jinja_output_fini(&p->text);
    for (int i = 0; i < 3 && s == STATUS_OK; i++) {
        if (texts[i]) s = json_parse("probe", texts[i], strlen(texts[i]), &docs[i], NULL);
    }
    arena_init(&arena, PROBE_BYTES);
    if (s == STATUS_OK) s = render(p, &arena, what, docs);
    arena_fini(&arena);
    for (int i = 0; i < 3; i++) yyjson_doc_free(docs[i]);
    if (s == STATUS_NO_MEMORY) p->failed = s;
    return s == STATUS_OK;
}

static bool has(const struct prober *p, const char *word) { return p->text.text && strstr(p->text.text, word); }

// Renders messages and tells whether both words come out.
static bool shows(struct prober *p, const char *messages, const char *one, const char *two) {
    return probe(p, &(struct probe){.messages = messages}) && has(p, one) && has(p, two);
}

// Whether two renderings differ; one that was refused differs from every text, and two refusals are equal.
static bool differ(struct prober *p, const struct probe *a, const struct probe *b) {
    probe(p, a);
    struct jinja_output first = p->text;
    p->text = (struct jinja_output){0};
    probe(p, b);
    bool same = !first.text || !p->text.text ? first.text == p->text.text
                                             : strcmp(first.text, p->text.text) == 0;
    jinja_output_fini(&first);
    return !same;
}

// Parts as the content of one message: their texts come out, and not as they are written in a list.
static bool shows_parts(struct prober *p, const char *messages) {
    return shows(p, messages, "zqpp", "zqqq") && !has(p, "'zqpp'") && !has(p, "\"zqpp\"");
}

static void probe_content(struct prober *p, struct chat_facts *f) {
    f->content_text = shows(p, "[" USER_A "]", "zqaa", "") || shows(p, "[" SYSTEM "," USER_A "]", "zqaa", "");
    f->content_parts = shows_parts(p, "[{\"role\":\"user\",\"content\":" PARTS "}]") &&
                       shows_parts(p, "[" USER_A ",{\"role\":\"assistant\",\"content\":" PARTS "}," USER_B "]");
    if (f->content_parts && shows(p, "[" SYSTEM "," USER_A "]", "zqss", "zqaa")) {
        f->content_parts = shows_parts(p, "[{\"role\":\"system\",\"content\":" PARTS "}," USER_A "]");
    }
    if (f->content_text) return;
    p->wrap = true;
    f->content_parts = shows(p, "[" USER_A "]", "zqaa", "");
    p->wrap = f->content_parts;
}

// Nothing can be learnt from a template that refuses every chat without tools.
static void probe_no_tools(struct prober *p, struct chat_facts *f) {
    if (probe(p, &(struct probe){.messages = "[" USER_A "]"})) return;
    p->tools_list = probe(p, &(struct probe){.messages = "[" USER_A "]", .tools = "[]"});
    f->tools_list = p->tools_list;
}

static void probe_roles(struct prober *p, struct chat_facts *f) {
    static const struct probe developer = {.messages = "[{\"role\":\"developer\",\"content\":\"zqdd\"}," USER_A "]"};
    static const struct probe unknown = {.messages = "[{\"role\":\"zqrole\",\"content\":\"zqdd\"}," USER_A "]"};
    f->system = shows(p, "[" SYSTEM "," USER_A "]", "zqss", "zqaa");
    f->late_system = shows(p, "[" USER_A "," ANSWER "," LATE "," USER_B "]", "zqll", "zqbb") && has(p, "zqaa") &&
                     shows(p, "[" USER_A "," LATE "]", "zqll", "zqaa");
    if (f->late_system && f->system) {
        f->late_system = shows(p, "[" SYSTEM "," USER_A "," LATE "]", "zqll", "zqaa") && has(p, "zqss");
    }
    f->two_users = shows(p, "[" USER_A "," USER_B "]", "zqaa", "zqbb");
    // A template that prints whatever role it is given knows none.
    bool rendered = probe(p, &developer) && has(p, "zqdd") && has(p, "zqaa");
    f->developer = rendered && (!probe(p, &unknown) || (!has(p, "zqrole") && differ(p, &developer, &unknown)));
}

// Whether the call comes out, without tools or with the tool that it is of.
static bool shows_call(struct prober *p, const char *messages) {
    if (probe(p, &(struct probe){.messages = messages}) && has(p, "zqvalue")) return true;
    return probe(p, &(struct probe){.messages = messages, .tools = TOOLS}) && has(p, "zqvalue");
}

static void probe_tools(struct prober *p, struct chat_facts *f) {
    const char *const bare[] = {"[" USER_A "]", "[" SYSTEM "," USER_A "]"};
    const char *with = bare[0];
    for (int i = 0; i < 2 && !f->tools; i++) {
        with = bare[i];
        f->tools = probe(p, &(struct probe){.messages = with, .tools = TOOLS}) && has(p, "zqname");
    }
    f->tools_whole = f->tools && !probe(p, &(struct probe){.messages = with, .tools = BARE_TOOL});
}

// Text that comes out escaped, or an object as Python prints one, is not what the template was made for.
static void probe_calls(struct prober *p, struct chat_facts *f) {
    bool text = shows_call(p, "[" USER_A "," CALL("\"\"", TEXT) "," RESULT "]") && !has(p, "\\\"zqkey");
    bool object = shows_call(p, "[" USER_A "," CALL("\"\"", OBJECT) "," RESULT "]") && !has(p, "'zqkey'");
    bool text_null = shows_call(p, "[" USER_A "," CALL("null", TEXT) "," RESULT "]") && !has(p, "\\\"zqkey") &&
                     !has(p, "None");
    bool object_null = shows_call(p, "[" USER_A "," CALL("null", OBJECT) "," RESULT "]") && !has(p, "'zqkey'") &&
                       !has(p, "None");
    f->calls_alone = !text && !object && (text_null || object_null);
    if (f->calls_alone) {
        text = text_null;
        object = object_null;
    }
    f->tool_calls = text || object;
    f->null_content = f->tool_calls && (!text || text_null) && (!object || object_null);
    f->arguments_object = object && !text;
    f->arguments_text = text && !object;
    f->tool_results = shows(p, "[" USER_A "," CALL("\"\"", OBJECT) "," RESULT "]", "zqtt", "") ||
                      shows(p, "[" USER_A "," CALL("\"\"", TEXT) "," RESULT "]", "zqtt", "") ||
                      shows(p, "[" USER_A "," CALL("null", TEXT) "," RESULT "]", "zqtt", "") ||
                      shows(p, "[" USER_A "," ANSWER "," RESULT "]", "zqtt", "");
}

static void probe_switches(struct prober *p, struct chat_facts *f) {
    static const char *const forms[] = {
        "[" USER_A "]",
        "[" USER_A ",{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"zqhh\",\"reasoning\":\"zqhh\","
        "\"thinking\":\"zqhh\"," CALLS(OBJECT) "}," RESULT "]",
        "[" USER_A ",{\"role\":\"assistant\",\"content\":\"zqrr\",\"reasoning_content\":\"zqhh\"}," USER_B "]"};
    char on[128], off[128];
    for (unsigned i = 0; i < CHAT_SWITCHES; i++) {
        const struct chat_switch *s = &chat_switches[i];
        snprintf(on, sizeof on, s->on ? "{\"%s\":%s}" : "{}", s->name, s->on);
        snprintf(off, sizeof off, "{\"%s\":%s}", s->name, s->off);
        bool reads = false;
        for (size_t k = 0; k < sizeof forms / sizeof forms[0] && !reads; k++) {
            reads = differ(p, &(struct probe){.messages = forms[k], .kwargs = on},
                           &(struct probe){.messages = forms[k], .kwargs = off});
        }
        if (reads) f->switches |= chat_switch_bit(i);
    }
    f->thinking_switch = f->switches != 0;
}

static void probe_efforts(struct prober *p, struct chat_facts *f) {
    const struct probe bare = {.messages = "[" USER_A "]"};
    char kwargs[128];
    for (unsigned i = 0; i < CHAT_EFFORT_NAMES; i++) {
        uint32_t taken = 0;
        bool reacts = false;
        for (int level = 0; level < CHAT_EFFORT_COUNT; level++) {
            snprintf(kwargs, sizeof kwargs, "{\"%s\":\"%s\"}", chat_effort_names[i],
                     chat_effort_name((enum chat_effort)level));
            const struct probe set = {.messages = bare.messages, .kwargs = kwargs};
            reacts = differ(p, &bare, &set) || reacts;
            if (p->text.text) taken |= 1u << level;
        }
        if (!reacts) continue;
        f->reasoning_effort = true;
        f->switches |= chat_effort_bit(i);
        f->efforts |= taken;
    }
    if (!f->reasoning_effort) f->efforts = (1u << CHAT_EFFORT_COUNT) - 1;
}

// Every switch that the template reads, on.
static void switches_on(const struct chat_facts *f, char *out, size_t cap) {
    size_t at = (size_t)snprintf(out, cap, "{");
    for (unsigned i = 0; i < CHAT_SWITCHES; i++) {
        if (!(f->switches & chat_switch_bit(i)) || !chat_switches[i].on) continue;
        at += (size_t)snprintf(out + at, cap - at, "%s\"%s\":%s", at > 1 ? "," : "", chat_switches[i].name,
                               chat_switches[i].on);
    }
    snprintf(out + at, cap - at, "}");
}

static bool shows_reasoning(struct prober *p, const char *messages) {
    return probe(p, &(struct probe){.messages = messages}) && has(p, "zqhh");
}

// Some templates drop the reasoning of turns before the last user message and keep it inside a round of tool calls,
// some keep it only where thinking is on.
static void probe_history(struct prober *p, struct chat_facts *f) {
    static const char *const keys[] = {"reasoning_content", "reasoning", "thinking"};
    char turn[PROBE_JSON_BYTES], round[PROBE_JSON_BYTES], on[PROBE_JSON_BYTES];
    switches_on(f, on, sizeof on);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !f->reasoning_key; i++) {
        snprintf(turn, sizeof turn,
                 "[" USER_A ",{\"role\":\"assistant\",\"content\":\"zqrr\",\"%s\":\"zqhh\"}," USER_B "]", keys[i]);
        snprintf(round, sizeof round,
                 "[" USER_A ",{\"role\":\"assistant\",\"content\":\"\",\"%s\":\"zqhh\",%s}," RESULT "]", keys[i],
                 f->arguments_text ? CALLS(TEXT) : CALLS(OBJECT));
        bool shown = shows_reasoning(p, turn) || shows_reasoning(p, round);
        if (!shown) shown = probe(p, &(struct probe){.messages = round, .kwargs = on}) && has(p, "zqhh");
        if (shown) f->reasoning_key = keys[i];
    }
    f->history_reasoning = f->reasoning_key != NULL;
}

// Marks that templates put round reasoning; the first pair that the template spells is its own.
static void find_marks(const char *source, size_t n, struct chat_facts *f) {
    static const char *const pairs[][2] = {
        {"<think>", "</think>"},
        {"<seed:think>", "</seed:think>"},
        {"<mm:think>", "</mm:think>"},
        {"[THINK]", "[/THINK]"},
        {"<|START_THINKING|>", "<|END_THINKING|>"},
        {"<|begin_of_thought|>", "<|end_of_thought|>"},
        {"<|inner_prefix|>", "<|inner_suffix|>"},
        {"<|channel>thought", "<channel|>"},
        {"<thinking>", "</thinking>"},
        {"<thought>", "</thought>"},
        {"<reasoning>", "</reasoning>"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *open = pairs[i][0], *close = pairs[i][1];
        if (!memmem(source, n, close, strlen(close)) || !memmem(source, n, open, strlen(open))) continue;
        f->think_open = open;
        f->think_close = close;
        return;
    }
}

enum status chat_probe(const struct chat_context *c, const char *source, size_t n, struct chat_facts *out,
                       struct err *e) {
    struct prober p = {.context = c};
    *out = (struct chat_facts){0};
    probe_no_tools(&p, out);
    probe_content(&p, out);
    probe_roles(&p, out);
    probe_tools(&p, out);
    probe_calls(&p, out);
    probe_switches(&p, out);
    probe_efforts(&p, out);
    probe_history(&p, out);
    find_marks(source, n, out);
    jinja_output_fini(&p.text);
    return p.failed == STATUS_OK ? STATUS_OK : err_set(e, p.failed, "no memory to probe a chat template");
}
