// Chat prompts: what a template sees, and that text from people never becomes a control token.
#include "text/chat.h"
#include "text/chat_context.h"
#include "tests/unit/text/tiny_tokenizer.h"

static const char chatml[] = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] +"
 " '<|im_end|>' + '\\n' }}"
                             "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

// A prompt of a request given as JSON, in which single quotes stand for double ones: {"messages", "tools", "kwargs"}.
static enum status prompt_of(const char *template, const char *request, const char *date, struct chat_prompt *out,
                             struct err *e) {
    struct chat_template *t = NULL;
    char json[2048];
    yyjson_doc *doc;
    size_t n = 0;
    *out = (struct chat_prompt){0};
    for (; request[n] && n + 1 < sizeof json; n++) json[n] = request[n] == '\'' ? '"' : request[n];
    TRY(json_parse("test", json, n, &doc, e));
    yyjson_val *root = yyjson_doc_get_root(doc);
    struct chat_input input = {.messages = yyjson_obj_get(root, "messages"), .tools = yyjson_obj_get(root, "tools"),
                               .kwargs = yyjson_obj_get(root, "kwargs"), .date = date, .add_generation_prompt = true};
    enum status status = chat_template_new(template, strlen(template), "<s>", "", &t, e);
    if (status == STATUS_OK) status = chat_render(t, &input, out, e);
    yyjson_doc_free(doc);
    chat_template_free(t);
    return status;
}

// The rendered text, or "! " and the error; lasts until the next call.
static const char *rendered_on(const char *template, const char *request, const char *date) {
    static char out[1024];
    struct chat_prompt p;
    struct err e = {0};
    enum status status = prompt_of(template, request, date, &p, &e);
    snprintf(out, sizeof out, status == STATUS_OK ? "%s" : "! %s", status == STATUS_OK ? p.text.data : e.message);
    chat_prompt_fini(&p);
    return out;
}

static const char *rendered(const char *template, const char *request) { return rendered_on(template, request, NULL); }

#define HI "'messages': [{'role': 'user', 'content': 'hi'}]"

static void renders_a_conversation(void) {
    CHECK_TEXT("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", rendered(chatml, "{" HI "}"));
    CHECK_TEXT("<s>None[/s]",
               rendered("{{ bos_token }}{{ tools }}{{ '[/s]' if eos_token is not defined }}", "{" HI "}"));
    CHECK_TEXT("7 None True",
               rendered("{{ x }} {{ documents }} {{ add_generation_prompt }}", "{" HI ", 'kwargs': {'x': 7}}"));
}

static void names_the_template_in_faults(void) {
    CHECK_TEXT("! chat template: No tools, please", rendered("{{ raise_exception('No tools, please') }}", "{" HI "}"));
    CHECK_TEXT("! chat template: line 1, column 6: 'zz' is undefined", rendered("{{ zz.x }}", "{" HI "}"));
    CHECK_TEXT("! line 1, column 8: expected 'name', got '}}'", rendered("{{ x | }}", "{" HI "}"));
    CHECK_TEXT("! chat_template_kwargs.tools: is given by the request itself",
               rendered(chatml, "{" HI ", 'kwargs': {'tools': []}}"));
    CHECK_TEXT("! chat_template_kwargs: must be an object", rendered(chatml, "{" HI ", 'kwargs': []}"));
    CHECK_TEXT("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
               rendered(chatml, "{" HI ", 'kwargs': null, 'tools': null}"));
    CHECK_TEXT("! messages: missing where a list of messages is expected", rendered(chatml, "{}"));
}

static void a_day_is_all_that_the_clock_tells(void) {
    const char *asks = "{{ strftime_now('%Y-%m-%d %H:%M:%S %A') if strftime_now is defined else 'timeless' }}";
    struct chat_prompt p;
    CHECK_TEXT("2024-02-29 00:00:00 Thursday", rendered_on(asks, "{" HI "}", "2024-02-29"));
    CHECK_TEXT("1969-12-31 00:00:00 Wednesday", rendered_on(asks, "{" HI "}", "1969-12-31"));
    CHECK_TEXT("9999-12-31 00:00:00 Friday", rendered_on(asks, "{" HI "}", "9999-12-31"));
    CHECK_TEXT("timeless", rendered(asks, "{" HI "}"));
    static const char *const bad[] = {"2023-02-29", "2024-2-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-04-31",
                                      "0000-01-01", "2024-01-01 ", "", "tomorrow!!", "20240229xx", "1900-02-29"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(strstr(rendered_on(asks, "{" HI "}", bad[i]), "is no day of the form YYYY-MM-DD"));
        CHECK(!chat_context_is_day(bad[i]));
    }
    CHECK(chat_context_is_day("2024-02-29"));
    CHECK_INT(STATUS_OK, prompt_of(asks, "{" HI "}", "2024-02-29", &p, NULL));
    CHECK(p.read_date);
    chat_prompt_fini(&p);
    CHECK_INT(STATUS_OK, prompt_of(chatml, "{" HI "}", "2024-02-29", &p, NULL));
    CHECK(!p.read_date);
    chat_prompt_fini(&p);
}

// As Hugging Face's tojson: nothing is escaped for HTML, other scripts stay, keys keep their order.
static void tools_are_written_as_hugging_face_does(void) {
    const char *request = "{" HI ", 'tools': [{'type': 'function', 'function': {'name': 'f', 'description': "
                          "'<\u00e9&>', 'parameters': {'b': 1.0, 'a': [1e21, {}]}}}]}";
    CHECK_TEXT("{\"name\": \"f\", \"description\": \"<\u00e9&>\", \"parameters\": {\"b\": 1.0, \"a\": [1e+21, {}]}}",
               rendered("{{ tools[0].function | tojson }}", request));
    CHECK_TEXT("{\"name\": \"f\", \"description\": \"<\u00e9&>\", \"parameters\": {\"b\": 1.0, \"a\": [1e+21, {}]}}",
               rendered("{{ tools[0].function | tojson(ensure_ascii=False) }}", request));
    CHECK_TEXT("f \"<\\u00e9&>\"", rendered("{% set f = tools[0].function %}{{ f.name }} {{ f.description | "
                                          "tojson(ensure_ascii=True) }}", request));
    CHECK_TEXT("f {\"a\":[1e+21,{}],\"b\":1.0}",
               rendered("{% set f = tools[0].function %}{{ f.name }} {{ f.parameters | tojson(separators=(',', ':'), "
                        "sort_keys=True) }}", request));
    CHECK_TEXT("f {\n  \"b\": 1.0,\n  \"a\": [\n    1e+21,\n    {}\n  ]\n}",
               rendered("{% set f = tools[0].function %}{{ f.name }} {{ f.parameters | tojson(indent=2) }}", request));
}

static void one_switch_sets_all_spellings_that_a_template_reads(void) {
    const char *template = "{{ messages[0].content }}{{ enable_thinking is defined }}{{ thinking }}{{ thinking_mode }}"
                           "{{ thinking_budget }}{{ thinking_effort }}";
    CHECK_TEXT("hiTrueFalsedisabled0", rendered(template, "{" HI ", 'kwargs': {'enable_thinking': false}}"));
    CHECK_TEXT("hiTrueTrueenabled", rendered(template, "{" HI ", 'kwargs': {'enable_thinking': true}}"));
    CHECK_TEXT("hiTrueTruedisabled7",
               rendered(template, "{" HI ", 'kwargs': {'enable_thinking': false, 'thinking': true, 'thinking_budget': "
                                  "7}}"));
    CHECK_TEXT("hiFalsehigh", rendered(template, "{" HI ", 'kwargs': {'reasoning_effort': 'high'}}"));
    CHECK_TEXT("hiFalse", rendered(template, "{" HI "}"));
}

// Whether the prompt of such a generation prompt opens reasoning.
static bool opens(const char *generation, const char *request) {
    char template[256];
    struct chat_prompt p;
    snprintf(template, sizeof template, "%s%s", "{%- set close = '</think>' -%}{%- for m in messages -%}{{ m.content }}"
             "{%- endfor -%}", generation);
    CHECK_INT(STATUS_OK, prompt_of(template, request, NULL, &p, NULL));
    bool result = p.opens_reasoning;
    chat_prompt_fini(&p);
    return result;
}

static void knows_when_the_prompt_opens_reasoning(void) {
    CHECK(opens("A: <think>\n", "{" HI "}"));
    CHECK(opens("A: <think>", "{" HI "}"));
    CHECK(opens("{{ '<think>' if enable_thinking }}", "{" HI ", 'kwargs': {'enable_thinking': true}}"));
    CHECK(!opens("{{ '<think>' if enable_thinking }}", "{" HI "}"));
    CHECK(!opens("A: <think>\n\n</think>\n", "{" HI "}"));
    CHECK(!opens("A: {{ '<think>' if false }}", "{'messages': [{'role': 'user', 'content': 'say <think>'}]}"));
    CHECK(!opens("<think>{{ messages[0].content }}", "{" HI "}"));
}

static const char *const hello_merges[] = {"h e", "l l", "ll o", "he llo"}; // 256 .. 259

// Ids of a rendered request, by chat_encode or by tokenizing the whole text.
static const char *encoded(const struct tokenizer *tokenizer, const char *template, const char *request, bool mixed) {
    static char out[2][2048];
    struct chat_prompt p;
    struct ids ids = {0};
    struct err e = {0};
    enum status status = prompt_of(template, request, NULL, &p, &e);
    if (status == STATUS_OK && mixed) status = chat_encode(&p, tokenizer, &ids, &e);
    if (status == STATUS_OK && !mixed) status = tokenizer_encode(tokenizer, p.text.data, p.text.n, 0, &ids, &e);
    char *text = out[mixed];
    size_t at = 0;
    snprintf(text, sizeof out[0], "! %s", e.message);
    for (size_t i = 0; status == STATUS_OK && i < ids.n && at + 16 < sizeof out[0]; i++) {
        at += (size_t)snprintf(text + at, sizeof out[0] - at, i ? " %d" : "%d", ids.at[i]);
    }
    ids_fini(&ids);
    chat_prompt_fini(&p);
    return text;
}

static struct tokenizer *chat_tokenizer(struct tiny *tiny) {
    static const struct added_token added[] = {{.text = "<|im_start|>", .n = 12, .id = 300, .special = true},
                                               {.text = "<|im_end|>", .n = 10, .id = 301, .special = true},
                                               {.text = "<t>", .n = 3, .id = 302, .rstrip = true, .lstrip = true},
                                               {.text = "<|user|>", .n = 8, .id = 303, .special = true}};
    tiny_init(tiny, 4, hello_merges);
    tiny->source.added = added;
    tiny->source.n_added = 4;
    return tiny_new(tiny);
}

static void ids_equal_those_of_the_whole_text_without_control_text(void) {
    static const char *const contents[] = {"hello", "", " ", "\\n\\n hello", "he", "<|im_", "|im_end|>", "a<|im_start",
                                           "\u00e9\u4f60", "<", "t>"};
    struct tiny tiny;
    struct tokenizer *t = chat_tokenizer(&tiny);
    for (size_t i = 0; t && i < sizeof contents / sizeof contents[0]; i++) {
        char request[256];
        snprintf(request, sizeof request, "{'messages': [{'role': 'user', 'content': '%s'}]}", contents[i]);
        CHECK_TEXT(encoded(t, chatml, request, false), encoded(t, chatml, request, true));
    }
    tokenizer_free(t);
}

static void control_text_in_a_message_stays_text(void) {
    struct tiny tiny;
    struct tokenizer *t = chat_tokenizer(&tiny);
    if (!t) return;
    CHECK_TEXT("300 117 115 101 114 10 60 124 105 109 95 101 110 100 124 62 301 10 300 97 115 115 105 115 116 97 110 "
               "116 10", encoded(t, chatml, "{'messages': [{'role': 'user', 'content': '<|im_end|>'}]}", true));
    CHECK_TEXT("300 117 115 101 114 10 60 116 62 301 10 300 97 115 115 105 115 116 97 110 116 10",
               encoded(t, chatml, "{'messages': [{'role': 'user', 'content': '<t>'}]}", true));
    tokenizer_free(t);
}

static size_t control_ids(const char *ids) {
    size_t n = 0;
    for (const char *at = ids; (at = strstr(at, "30")); at++) n += (at == ids || at[-1] == ' ') && at[2] >= '0';
    return n;
}

// Wherever a request spells a control token there are as many control ids as with harmless words in its place.
static void control_text_anywhere_in_a_request_stays_text(void) {
    const char *template =
        "{{ tools | tojson }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{{ m.name }}"
        "{{ m.reasoning_content }}{% for c in m.tool_calls or [] %}{{ c.id + c.function.name }} {{ "
        "c.function.arguments | tojson }}{{ c.function.arguments | tojson | upper | lower }}{% endfor %}{{ m.odd | "
        "default('') | tojson }}<|im_end|>{% endfor %}{{ x | default('') | tojson }}";
    const char *shape =
        "{'messages': [{'role': 'user', 'content': '%s', 'name': '%s', 'odd': {'%s': ['%s']}}, {'role': 'assistant', "
        "'content': '%s', 'reasoning_content': '%s', 'tool_calls': [{'id': '%s', 'type': 'function', 'function': {"
        "'name': '%s', 'arguments': {'%s': '%s'}}}]}, {'role': 'tool', 'content': '%s'}], 'tools': [{'type': "
        "'function', 'function': {'name': '%s', 'description': '%s', 'parameters': {'%s': '%s'}}}], 'kwargs': {'x': {"
        "'%s': '%s'}}}";
    static const char *const hostile[] = {"<|im_end|>", "<|im_start|>", "<t>", "<|user|>"};
    struct tiny tiny;
    struct tokenizer *t = chat_tokenizer(&tiny);
    for (size_t i = 0; t && i < 4; i++) {
        char requests[2][2048];
        const char *words[] = {"harmless", hostile[i]};
        for (int k = 0; k < 2; k++) {
            const char *w = words[k];
            snprintf(requests[k], sizeof requests[k], shape, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w, w);
        }
        size_t harmless = control_ids(encoded(t, template, requests[0], true));
        CHECK_INT(6, harmless);
        CHECK_INT(harmless, control_ids(encoded(t, template, requests[1], true)));
        CHECK(control_ids(encoded(t, template, requests[1], false)) > harmless);
    }
    tokenizer_free(t);
}

// Templates make control tokens of roles, which are a few words of ours.
static void a_role_may_be_part_of_a_control_token(void) {
    struct tiny tiny;
    struct tokenizer *t = chat_tokenizer(&tiny);
    const char *template = "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content }}{% endfor %}";
    if (!t) return;
    CHECK_TEXT("303 104", encoded(t, template, "{'messages': [{'role': 'User', 'content': 'h'}]}", true));
    CHECK_TEXT("303 60 124 117 115 101 114 124 62",
               encoded(t, template, "{'messages': [{'role': 'user', 'content': '<|user|>'}]}", true));
    tokenizer_free(t);
}

// A token that begins in the template and ends in data, or the other way round, is not recognised; a shorter one that
// lies in the template alone is.
static void tokens_across_a_border_are_not_recognised(void) {
    static const struct added_token added[] = {{.text = "<a>", .n = 3, .id = 300}, {.text = "<a>b", .n = 4, .id = 301},
     {.text = "c<", .n = 2, .id = 302}};
    static const struct {
        const char *text, *expected;
        struct text_span data;
    } rows[] = {{"<a>b", "301", {4, 4}},
    {"<a>b", "300 98", {3, 4}},
    {"<a>b", "60 97 62 98", {2, 3}},
    {"c<a>", "302 97 62", {4, 4}},
                {"c<a>", "99 300", {0, 1}},
                {"<a><a>", "300 60 97 62", {3, 6}},
                {"<a><a>", "60 97 62 300", {0, 3}}};
    struct tiny tiny;
    tiny_init(&tiny, 0, NULL);
    tiny.source.added = added;
    tiny.source.n_added = 3;
    struct tokenizer *t = tiny_new(&tiny);
    for (size_t i = 0; t && i < sizeof rows / sizeof rows[0]; i++) {
        struct ids ids = {0};
        char got[64] = "";
        size_t at = 0;
        CHECK_INT(STATUS_OK, tokenizer_encode_mixed(t, rows[i].text, strlen(rows[i].text), &rows[i].data, 1, &ids,
         NULL));
        for (size_t k = 0; k < ids.n; k++) at += (size_t)snprintf(got + at, sizeof got - at, k ? " %d" : "%d",
         ids.at[k]);
        test_check_text(__FILE__, __LINE__, rows[i].text, rows[i].expected, got);
        ids_fini(&ids);
    }
    tokenizer_free(t);
}

static const struct test_case cases[] = {
    {"renders a conversation", renders_a_conversation},
    {"names the template in faults", names_the_template_in_faults},
    {"a day is all that the clock tells", a_day_is_all_that_the_clock_tells},
    {"tools are written as Hugging Face does", tools_are_written_as_hugging_face_does},
    {"one switch sets all spellings that a template reads", one_switch_sets_all_spellings_that_a_template_reads},
    {"knows when the prompt opens reasoning", knows_when_the_prompt_opens_reasoning},
    {"ids equal those of the whole text without control text", ids_equal_those_of_the_whole_text_without_control_text},
    {"control text in a message stays text", control_text_in_a_message_stays_text},
    {"control text anywhere in a request stays text", control_text_anywhere_in_a_request_stays_text},
    {"a role may be part of a control token", a_role_may_be_part_of_a_control_token},
    {"tokens across a border are not recognised", tokens_across_a_border_are_not_recognised},
};
TEST_MAIN("chat", cases)
