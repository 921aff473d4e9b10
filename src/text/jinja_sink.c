// Collecting text together with the spans of it that are data.
#include "text/jinja_text.h"

#include "base/checked.h"
#include "base/utf8.h"

#include <string.h>

void jinja_sink_init(struct jinja_sink *k, struct arena *a, size_t limit) {
    *k = (struct jinja_sink){.arena = a, .limit = limit};
}

// Room for n more bytes.
static bool reserve(struct jinja_sink *k, size_t n) {
    size_t need;
    if (k->failed != STATUS_OK) return false;
    if (!checked_add(k->n, n, &need) || need > k->limit) {
        k->failed = STATUS_TOO_LARGE;
        return false;
    }
    if (need <= k->cap) return true;
    size_t cap = k->cap ? k->cap * 2 : 32;
    if (cap < need) cap = need;
    char *bigger = arena_new(k->arena, cap, 1);
    if (!bigger) {
        k->failed = STATUS_TOO_LARGE;
        return false;
    }
    if (k->n) memcpy(bigger, k->text, k->n);
    k->text = bigger;
    k->cap = cap;
    return true;
}

static void add_mark(struct jinja_sink *k, size_t begin, size_t end) {
    if (begin == end || k->failed != STATUS_OK) return;
    if (k->n_marks && k->marks[k->n_marks - 1].end == begin) {
        k->marks[k->n_marks - 1].end = end;
        return;
    }
    if (k->n_marks == k->cap_marks) {
        size_t cap = k->cap_marks ? k->cap_marks * 2 : 4;
        struct jinja_span *bigger = arena_new(k->arena, cap, sizeof *bigger);
        if (!bigger) {
            k->failed = STATUS_TOO_LARGE;
            return;
        }
        if (k->n_marks) memcpy(bigger, k->marks, k->n_marks * sizeof *bigger);
        k->marks = bigger;
        k->cap_marks = cap;
    }
    k->marks[k->n_marks++] = (struct jinja_span){begin, end};
}

void jinja_sink_add(struct jinja_sink *k, const char *text, size_t n, bool marked) {
    if (!n || !reserve(k, n)) return;
    memcpy(k->text + k->n, text, n);
    if (marked) add_mark(k, k->n, k->n + n);
    k->n += n;
}

void jinja_sink_plain(struct jinja_sink *k, const char *text) { jinja_sink_add(k, text, strlen(text), false); }

void jinja_sink_string(struct jinja_sink *k, const struct jinja_string *s) {
    size_t at = k->n;
    jinja_sink_add(k, s->text, s->n, false);
    for (size_t i = 0; i < s->n_marks; i++) add_mark(k, at + s->marks[i].begin, at + s->marks[i].end);
}

void jinja_sink_code_point(struct jinja_sink *k, uint32_t code_point, bool marked) {
    char bytes[4];
    jinja_sink_add(k, bytes, utf8_put(code_point, bytes), marked);
}

void jinja_sink_mark_all(struct jinja_sink *k) {
    k->n_marks = 0;
    add_mark(k, 0, k->n);
}

enum status jinja_sink_end(struct jinja_sink *k, struct jinja_value *out) {
    if (k->failed != STATUS_OK) return k->failed;
    struct jinja_string *s = arena_new(k->arena, 1, sizeof *s);
    if (!s) return STATUS_TOO_LARGE;
    *s = (struct jinja_string){.text = k->text ? k->text : "", .n = k->n, .marks = k->marks, .n_marks = k->n_marks};
    *out = (struct jinja_value){.type = JINJA_STRING, .string = s};
    return STATUS_OK;
}
