// Fuzz target: a template and, after a zero byte, its JSON context; without a template, a chat request.
#include "base/arena.h"
#include "tests/fuzz/fuzz.h"
#include "text/chat.h"
#include "text/jinja.h"
#include "text/jinja_json.h"

#include <stdlib.h>
#include <string.h>

static int64_t some_day(void *context) {
    (void)context;
    return 1772874302;
}

// The pieces cover the text in order, and neighbours differ.
static void check_pieces(const struct jinja_output *o) {
    size_t at = 0;
    for (size_t i = 0; i < o->n_pieces; i++) {
        if (o->pieces[i].begin != at || o->pieces[i].end <= at) abort();
        if (i && o->pieces[i].marked == o->pieces[i - 1].marked) abort();
        at = o->pieces[i].end;
    }
    if (at != o->n || o->text[o->n] != '\0') abort();
}

static void render(const struct jinja *j, const char *json, size_t n) {
    static const char fallback[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\" <|x|> \"}],\"a\":1,\"s\":\"t\\u00e9xt\",\"l\":[3,1,2],"
        "\"d\":{\"x\":1,\"y\":[2.5,null,true]},\"add_generation_prompt\":true}";
    yyjson_doc *doc = n ? yyjson_read(json, n, 0) : NULL;
    if (!doc || !yyjson_is_obj(yyjson_doc_get_root(doc))) {
        yyjson_doc_free(doc);
        doc = yyjson_read(fallback, sizeof fallback - 1, 0);
    }
    struct jinja_clock clock = {some_day, NULL};
    struct jinja_options options = {.output_bytes = 1 << 16, .memory_bytes = 1 << 22, .steps = 20000, .clock = &clock};
    struct jinja_output out;
    struct jinja_value root;
    struct arena arena;
    struct err e = {0};
    arena_init(&arena, 1 << 22);
    if (jinja_value_from_json(&arena, yyjson_doc_get_root(doc), true, &root, &e) == STATUS_OK) {
        enum status status = jinja_render(j, &root, &options, &out, &e);
        if ((status == STATUS_OK) != (e.message[0] == '\0')) abort();
        if (status == STATUS_OK) check_pieces(&out);
        if (status == STATUS_OK) jinja_output_fini(&out);
    }
    arena_fini(&arena);
    yyjson_doc_free(doc);
}

// Templates of which the first takes hardly anything, the second everything.
static const char *const chat_templates[] = {
    "{% for m in messages %}{% if m.role == 'user' %}<u>{{ m.content }}{% else %}<a>{{ m.content + '' }}{% for c in "
    "m.tool_calls or [] %}{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }}{% endfor %}{% endfor %}{% "
    "endif %}{% endfor %}",
    "{{ tools | tojson }}{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}{% else %}{"
    "% for p in m.content or [] %}{{ p.text }}{% endfor %}{% endif %}{% for c in m.tool_calls or [] %}{{ c | tojson }}"
    "{% endfor %}{{ m.thinking }}{% endfor %}{{ enable_thinking }}{{ strftime_now('%d') }}<think>"};

// Data lies in the text, in order and apart.
static void check_prompt(const struct chat_prompt *p) {
    size_t at = 0;
    for (size_t i = 0; i < p->n_data; i++) {
        if (p->data[i].begin < at || p->data[i].end <= p->data[i].begin) abort();
        at = p->data[i].end;
    }
    if (at > p->text.n) abort();
}

// {"messages", "tools", "kwargs", "date"}
static void render_chat(const char *json, size_t n) {
    static struct chat_template *templates[2];
    yyjson_doc *doc = NULL;
    if (json_parse("request", json, n, &doc, NULL) != STATUS_OK) return;
    yyjson_val *root = yyjson_doc_get_root(doc);
    struct chat_input input = {.messages = yyjson_obj_get(root, "messages"),
                               .tools = yyjson_obj_get(root, "tools"),
                               .kwargs = yyjson_obj_get(root, "kwargs"),
                               .add_generation_prompt = true,
                               .date = yyjson_get_str(yyjson_obj_get(root, "date"))};
    for (int i = 0; i < 2; i++) {
        struct err e = {0};
        struct chat_prompt p;
        const char *source = chat_templates[i];
        if (!templates[i] && chat_template_new(source, strlen(source), "", "", &templates[i], &e) != STATUS_OK) abort();
        enum status status = chat_render(templates[i], &input, &p, &e);
        if ((status == STATUS_OK) != (e.message[0] == '\0')) abort();
        if (status == STATUS_OK) check_prompt(&p);
        chat_prompt_fini(&p);
    }
    yyjson_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const char *text = (const char *)data;
    const char *zero = n ? memchr(text, '\0', n) : NULL;
    size_t n_template = zero ? (size_t)(zero - text) : n;
    struct jinja *j;
    struct err e = {0};
    if (zero == text) {
        render_chat(zero + 1, n - 1);
        return 0;
    }
    enum status status = jinja_compile(text, n_template, &j, &e);
    if ((status == STATUS_OK) != (e.message[0] == '\0')) abort();
    if (status != STATUS_OK) return 0;
    render(j, zero ? zero + 1 : NULL, zero ? n - n_template - 1 : 0);
    jinja_free(j);
    return 0;
}
