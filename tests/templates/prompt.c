// Makes chat prompts for check_chat.py: a JSON request a line in, a JSON answer a line out.
#include "base/clock.h"
#include "base/mem.h"
#include "text/chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The template of the last request.
struct kept {
    char *source; // NULL: none
    struct chat_template *template;
    double open_ms, render_ms;
};

static void describe_facts(yyjson_mut_doc *doc, yyjson_mut_val *answer, const struct chat_facts *f) {
    yyjson_mut_val *facts = yyjson_mut_obj_add_obj(doc, answer, "facts"), *efforts;
#define FACT(name) yyjson_mut_obj_add_bool(doc, facts, #name, f->name)
    FACT(system);
    FACT(late_system);
    FACT(developer);
    FACT(two_users);
    FACT(content_text);
    FACT(content_parts);
    FACT(null_content);
    FACT(tools);
    FACT(tools_list);
    FACT(tools_whole);
    FACT(tool_calls);
    FACT(calls_alone);
    FACT(tool_results);
    FACT(arguments_object);
    FACT(arguments_text);
    FACT(thinking_switch);
    FACT(reasoning_effort);
    FACT(history_reasoning);
#undef FACT
    yyjson_mut_obj_add_uint(doc, facts, "switches", f->switches);
    yyjson_mut_obj_add_str(doc, facts, "reasoning_key", f->reasoning_key);
    yyjson_mut_obj_add_str(doc, facts, "think_open", f->think_open);
    yyjson_mut_obj_add_str(doc, facts, "think_close", f->think_close);
    efforts = yyjson_mut_obj_add_arr(doc, facts, "efforts");
    for (int i = 0; i < CHAT_EFFORT_COUNT; i++) {
        if (f->efforts >> i & 1) yyjson_mut_arr_add_str(doc, efforts, chat_effort_name((enum chat_effort)i));
    }
}

// Compiles and probes as often as the request asks, and keeps the fastest time.
static enum status open_template(struct kept *k, yyjson_val *request, struct err *e) {
    const char *source = yyjson_get_str(yyjson_obj_get(request, "template"));
    uint64_t repeats = yyjson_get_uint(yyjson_obj_get(request, "repeat"));
    struct clock clock = clock_system();
    if (k->source && strcmp(k->source, source) == 0 && !repeats) return STATUS_OK;
    mem_free(k->source);
    k->source = NULL;
    k->open_ms = 1e9;
    for (uint64_t i = 0; i <= repeats; i++) {
        chat_template_free(k->template);
        uint64_t from = clock_now_ns(&clock);
        TRY(chat_template_new(source, strlen(source), "<s>", "</s>", &k->template, e));
        double ms = clock_ms_between(from, clock_now_ns(&clock));
        if (ms < k->open_ms) k->open_ms = ms;
    }
    k->source = mem_string(source, strlen(source));
    return STATUS_OK;
}

static void describe(yyjson_mut_doc *doc, yyjson_mut_val *answer, const struct kept *k, const struct chat_prompt *p) {
    yyjson_mut_val *data = yyjson_mut_arr(doc);
    yyjson_mut_obj_add_strncpy(doc, answer, "text", p->text.data ? p->text.data : "", p->text.n);
    yyjson_mut_obj_add_bool(doc, answer, "opens_reasoning", p->opens_reasoning);
    yyjson_mut_obj_add_bool(doc, answer, "read_date", p->read_date);
    yyjson_mut_obj_add_real(doc, answer, "open_ms", k->open_ms);
    yyjson_mut_obj_add_real(doc, answer, "render_ms", k->render_ms);
    yyjson_mut_obj_add_val(doc, answer, "data", data);
    for (size_t i = 0; i < p->n_data; i++) {
        yyjson_mut_val *span = yyjson_mut_arr_add_arr(doc, data);
        yyjson_mut_arr_add_uint(doc, span, p->data[i].begin);
        yyjson_mut_arr_add_uint(doc, span, p->data[i].end);
    }
}

// Renders again as often as the request asks, and keeps the fastest time.
static enum status render(struct kept *k, yyjson_val *request, const struct chat_input *input, struct chat_prompt *p,
                          struct err *e) {
    struct clock clock = clock_system();
    uint64_t repeats = yyjson_get_uint(yyjson_obj_get(request, "repeat"));
    k->render_ms = 1e9;
    for (uint64_t i = 0; i <= repeats; i++) {
        chat_prompt_fini(p);
        uint64_t from = clock_now_ns(&clock);
        TRY(chat_render(k->template, input, p, e));
        double ms = clock_ms_between(from, clock_now_ns(&clock));
        if (ms < k->render_ms) k->render_ms = ms;
    }
    return STATUS_OK;
}

static void answer_request(struct kept *k, yyjson_val *request, yyjson_mut_doc *doc, yyjson_mut_val *answer) {
    struct err e = {0};
    struct chat_prompt p = {0};
    struct chat_input input = {.messages = yyjson_obj_get(request, "messages"),
                               .tools = yyjson_obj_get(request, "tools"),
                               .kwargs = yyjson_obj_get(request, "kwargs"),
                               .date = yyjson_get_str(yyjson_obj_get(request, "date")),
                               .add_generation_prompt = yyjson_get_bool(yyjson_obj_get(request, "prompt"))};
    enum status s = open_template(k, request, &e);
    if (s == STATUS_OK) describe_facts(doc, answer, chat_template_facts(k->template));
    if (s == STATUS_OK) s = render(k, request, &input, &p, &e);
    if (s == STATUS_OK) describe(doc, answer, k, &p);
    else yyjson_mut_obj_add_strcpy(doc, answer, "error", e.message);
    yyjson_mut_obj_add_str(doc, answer, "status", status_text(s));
    chat_prompt_fini(&p);
}

int main(void) {
    struct kept kept = {0};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        yyjson_doc *request = yyjson_read(line, (size_t)n, 0);
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *answer = yyjson_mut_obj(doc);
        yyjson_mut_doc_set_root(doc, answer);
        answer_request(&kept, yyjson_doc_get_root(request), doc, answer);
        char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
        puts(text ? text : "{\"error\": \"the answer cannot be written\"}");
        fflush(stdout);
        free(text);
        yyjson_mut_doc_free(doc);
        yyjson_doc_free(request);
    }
    chat_template_free(kept.template);
    mem_free(kept.source);
    free(line);
    return 0;
}
