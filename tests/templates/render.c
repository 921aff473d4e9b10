// Renders templates for check_jinja.py: a JSON request a line in, a JSON answer a line out.
#include "text/jinja.h"
#include "text/jinja_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t fixed_time(void *context) { return *(const int64_t *)context; }

// {"text", "pieces": [[begin, end, marked], ...]}
static yyjson_mut_val *describe(yyjson_mut_doc *doc, const struct jinja_output *o) {
    yyjson_mut_val *answer = yyjson_mut_obj(doc), *pieces = yyjson_mut_arr(doc);
    yyjson_mut_obj_add_strncpy(doc, answer, "text", o->text, o->n);
    for (size_t i = 0; i < o->n_pieces; i++) {
        yyjson_mut_val *piece = yyjson_mut_arr_add_arr(doc, pieces);
        yyjson_mut_arr_add_uint(doc, piece, o->pieces[i].begin);
        yyjson_mut_arr_add_uint(doc, piece, o->pieces[i].end);
        yyjson_mut_arr_add_bool(doc, piece, o->pieces[i].marked);
    }
    yyjson_mut_obj_add_val(doc, answer, "pieces", pieces);
    return answer;
}

static enum status render(yyjson_val *request, struct jinja_output *out, struct err *e) {
    yyjson_val *template = yyjson_obj_get(request, "template");
    int64_t now = yyjson_get_sint(yyjson_obj_get(request, "now"));
    struct jinja_clock clock = {fixed_time, &now};
    struct jinja_options options = {.clock = &clock};
    struct jinja *j;
    struct jinja_value context;
    struct arena arena;
    TRY(jinja_compile(yyjson_get_str(template), yyjson_get_len(template), &j, e));
    arena_init(&arena, (size_t)256 << 20);
    bool marked = yyjson_get_bool(yyjson_obj_get(request, "marked"));
    enum status status = jinja_value_from_json(&arena, yyjson_obj_get(request, "context"), marked, &context, e);
    if (status == STATUS_OK) status = jinja_render(j, &context, &options, out, e);
    arena_fini(&arena);
    jinja_free(j);
    return status;
}

static void answer_line(const char *line, size_t n) {
    yyjson_doc *request = yyjson_read(line, n, 0);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    struct jinja_output out = {0};
    struct err e = {0};
    if (render(yyjson_doc_get_root(request), &out, &e) == STATUS_OK) {
        yyjson_mut_doc_set_root(doc, describe(doc, &out));
    } else {
        yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
        yyjson_mut_obj_add_strcpy(doc, yyjson_mut_doc_get_root(doc), "error", e.message);
    }
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    puts(text ? text : "{\"error\": \"the answer cannot be written\"}");
    free(text);
    jinja_output_fini(&out);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(request);
}

int main(void) {
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        answer_line(line, (size_t)n);
        fflush(stdout);
    }
    free(line);
    return 0;
}
