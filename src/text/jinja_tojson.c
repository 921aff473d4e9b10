// JSON text of values, as Python's json.dumps writes it.
#include "base/utf8.h"
#include "text/jinja_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_escape(struct jinja_sink *k, uint32_t c, bool marked) {
    char text[16];
    static const char letters[] = "\"\\\n\r\t\f\b", escapes[] = "\"\\nrtfb";
    const char *simple = c && c < 0x80 ? strchr(letters, (int)c) : NULL;
    int n;
    if (simple) n = snprintf(text, sizeof text, "\\%c", escapes[simple - letters]);
    else if (c < 0x10000) n = snprintf(text, sizeof text, "\\u%04x", c);
    else n = snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
    jinja_sink_add(k, text, (size_t)n, marked);
}

static void json_string(struct jinja_sink *k, const struct jinja_string *s, bool ascii) {
    bool marked = s->n_marks > 0;
    size_t begin = 0;
    jinja_sink_plain(k, "\"");
    for (size_t at = 0; at < s->n && k->failed == STATUS_OK;) {
        uint32_t c;
        bool bad;
        size_t length = utf8_next(s->text + at, s->n - at, &c, &bad);
        if (c < 0x20 || c == '"' || c == '\\' || (ascii && c >= 0x80)) {
            jinja_sink_add(k, s->text + begin, at - begin, marked);
            json_escape(k, c, marked);
            begin = at + length;
        }
        at += length;
    }
    jinja_sink_add(k, s->text + begin, s->n - begin, marked);
    jinja_sink_plain(k, "\"");
}

static void json_number(struct jinja_sink *k, struct jinja_value v) {
    char text[JINJA_FLOAT_TEXT];
    if (v.type == JINJA_INT) snprintf(text, sizeof text, "%lld", (long long)v.integer);
    else if (isnan(v.real)) snprintf(text, sizeof text, "NaN");
    else if (isinf(v.real)) snprintf(text, sizeof text, v.real < 0 ? "-Infinity" : "Infinity");
    else jinja_float_text(v.real, text);
    jinja_sink_plain(k, text);
}

static void new_line(struct jinja_sink *k, const struct jinja_json_style *style, unsigned depth) {
    if (!style->indent) return;
    jinja_sink_plain(k, "\n");
    for (unsigned i = 0; i < depth; i++) jinja_sink_string(k, style->indent);
}

static enum status print(struct jinja_sink *k, struct jinja_value v, const struct jinja_json_style *style,
                         unsigned depth, struct err *e);

static enum status print_list(struct jinja_sink *k, const struct jinja_list *l, const struct jinja_json_style *style,
                              unsigned depth, struct err *e) {
    jinja_sink_plain(k, "[");
    for (size_t i = 0; i < l->n; i++) {
        if (i) jinja_sink_plain(k, style->between);
        new_line(k, style, depth + 1);
        TRY(print(k, l->at[i], style, depth + 1, e));
    }
    if (l->n) new_line(k, style, depth);
    jinja_sink_plain(k, "]");
    return k->failed;
}

static enum status print_key(struct jinja_sink *k, struct jinja_value key, const struct jinja_json_style *style,
                             struct err *e) {
    if (key.type == JINJA_STRING) {
        json_string(k, key.string, style->ascii);
        return k->failed;
    }
    jinja_sink_plain(k, "\"");
    TRY(print(k, key, style, 0, e));
    jinja_sink_plain(k, "\"");
    return k->failed;
}

static int by_key(const void *a, const void *b) {
    struct jinja_value x = ((const struct jinja_entry *)a)->key, y = ((const struct jinja_entry *)b)->key;
    if (x.type == JINJA_STRING && y.type == JINJA_STRING) return jinja_text_compare(x.string, y.string);
    return jinja_number_compare(x, y);
}

static enum status sorted_entries(struct jinja_sink *k, const struct jinja_mapping *m, struct jinja_entry **out,
                                  struct err *e) {
    struct jinja_entry *at = arena_new(k->arena, m->n, sizeof *at);
    if (!at) return STATUS_TOO_LARGE;
    if (m->n) memcpy(at, m->at, m->n * sizeof *at);
    for (size_t i = 0; i < m->n; i++) {
        bool same = (at[i].key.type == JINJA_STRING) == (at[0].key.type == JINJA_STRING);
        if (m->n > 1 && (at[i].key.type == JINJA_NONE || !same)) {
            return err_set(e, STATUS_INVALID, "'<' not supported between instances of '%s' and '%s'",
                           jinja_type_name(at[i].key), jinja_type_name(at[0].key));
        }
    }
    if (m->n) qsort(at, m->n, sizeof *at, by_key);
    *out = at;
    return STATUS_OK;
}

static enum status print_mapping(struct jinja_sink *k, const struct jinja_mapping *m,
                                 const struct jinja_json_style *style, unsigned depth, struct err *e) {
    struct jinja_entry *at = m->at;
    if (style->sort_keys) TRY(sorted_entries(k, m, &at, e));
    jinja_sink_plain(k, "{");
    for (size_t i = 0; i < m->n; i++) {
        if (i) jinja_sink_plain(k, style->between);
        new_line(k, style, depth + 1);
        TRY(print_key(k, at[i].key, style, e));
        jinja_sink_plain(k, style->after_key);
        TRY(print(k, at[i].value, style, depth + 1, e));
    }
    if (m->n) new_line(k, style, depth);
    jinja_sink_plain(k, "}");
    return k->failed;
}

static enum status print(struct jinja_sink *k, struct jinja_value v, const struct jinja_json_style *style,
                         unsigned depth, struct err *e) {
    if (depth > JINJA_NESTING_MAX) return err_set(e, STATUS_INVALID, "the value is nested too deeply for tojson");
    if (v.type == JINJA_NONE) jinja_sink_plain(k, "null");
    else if (v.type == JINJA_BOOL) jinja_sink_plain(k, v.truth ? "true" : "false");
    else if (v.type == JINJA_INT || v.type == JINJA_FLOAT) json_number(k, v);
    else if (v.type == JINJA_STRING) json_string(k, v.string, style->ascii);
    else if (v.type == JINJA_MAPPING) return print_mapping(k, v.mapping, style, depth, e);
    else if (v.type == JINJA_LIST && v.list->kind <= JINJA_SEQUENCE_TUPLE) {
        return print_list(k, v.list, style, depth, e);
    } else {
        return err_set(e, STATUS_INVALID, "Object of type %s is not JSON serializable", jinja_type_name(v));
    }
    return k->failed;
}

enum status jinja_print_json(struct jinja_sink *k, struct jinja_value v, const struct jinja_json_style *style,
                             struct err *e) {
    return print(k, v, style, 0, e);
}
