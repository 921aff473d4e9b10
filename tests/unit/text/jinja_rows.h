// Tables of templates for tests: each row is rendered and its text, or its error, compared.
#ifndef TF_TESTS_UNIT_TEXT_JINJA_ROWS_H
#define TF_TESTS_UNIT_TEXT_JINJA_ROWS_H

#include "base/json.h"
#include "tests/support/test.h"
#include "text/jinja.h"
#include "text/jinja_json.h"

#include <stdio.h>
#include <string.h>

struct row {
    const char *template, *expected; // an error is expected as "! its message"
};

enum { ROW_TEXT = 4096 };

// Renders over a JSON context whose strings are marked when asked for; marked bytes come out as [like this].
static inline enum status rows_render(const char *template, const char *context, bool marked,
                                      const struct jinja_options *options, char out[ROW_TEXT], struct err *e) {
    struct jinja *j;
    struct arena arena;
    struct jinja_value root;
    struct jinja_output text = {0};
    yyjson_doc *doc;
    arena_init(&arena, (size_t)1 << 20);
    TRY(json_parse("context", context, strlen(context), &doc, e));
    enum status status = jinja_value_from_json(&arena, yyjson_doc_get_root(doc), marked, &root, e);
    if (status == STATUS_OK) status = jinja_compile(template, strlen(template), &j, e);
    if (status == STATUS_OK) {
        status = jinja_render(j, &root, options, &text, e);
        jinja_free(j);
    }
    out[0] = '\0';
    size_t n = 0;
    for (size_t i = 0; i < text.n_pieces && n < ROW_TEXT; i++) {
        struct jinja_piece p = text.pieces[i];
        n += (size_t)snprintf(out + n, ROW_TEXT - n, p.marked ? "[%.*s]" : "%.*s", (int)(p.end - p.begin),
                              text.text + p.begin);
    }
    jinja_output_fini(&text);
    arena_fini(&arena);
    yyjson_doc_free(doc);
    return status;
}

static inline void rows_check(const char *context, bool marked, const struct row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char got[ROW_TEXT], message[ROW_TEXT];
        struct err e = {0};
        if (rows_render(rows[i].template, context, marked, NULL, got, &e) != STATUS_OK) {
            snprintf(message, sizeof message, "! %s", e.message);
            memcpy(got, message, sizeof got);
        }
        test_check_text(__FILE__, __LINE__, rows[i].template, rows[i].expected, got);
    }
}

#define CHECK_ROWS(context, ...)                                                                                       \
    do {                                                                                                               \
        const struct row rows_[] = {__VA_ARGS__};                                                                      \
        rows_check(context, false, rows_, sizeof rows_ / sizeof rows_[0]);                                             \
    } while (0)
#define CHECK_MARKED_ROWS(context, ...)                                                                                \
    do {                                                                                                               \
        const struct row rows_[] = {__VA_ARGS__};                                                                      \
        rows_check(context, true, rows_, sizeof rows_ / sizeof rows_[0]);                                              \
    } while (0)

#endif
