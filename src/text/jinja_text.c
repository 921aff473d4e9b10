// Cutting, searching and splitting strings as Python's str does; every part keeps the marks of its bytes.
#include "text/jinja_text.h"

#include "base/utf8.h"

#include <string.h>

size_t jinja_text_length(const struct jinja_string *s) {
    size_t length = 0;
    for (size_t i = 0; i < s->n; i++) length += ((uint8_t)s->text[i] & 0xc0) != 0x80;
    return length;
}

static size_t next_offset(const struct jinja_string *s, size_t at) {
    at++;
    while (at < s->n && ((uint8_t)s->text[at] & 0xc0) == 0x80) at++;
    return at;
}

static size_t previous_offset(const struct jinja_string *s, size_t at) {
    at--;
    while (at > 0 && ((uint8_t)s->text[at] & 0xc0) == 0x80) at--;
    return at;
}

size_t jinja_text_offset(const struct jinja_string *s, size_t from, size_t position) {
    while (position-- > 0 && from < s->n) from = next_offset(s, from);
    return from;
}

size_t jinja_text_find(const struct jinja_string *s, size_t from, const struct jinja_string *needle) {
    if (from > s->n) return SIZE_MAX;
    if (needle->n == 0) return from;
    const char *at = memmem(s->text + from, s->n - from, needle->text, needle->n);
    return at ? (size_t)(at - s->text) : SIZE_MAX;
}

size_t jinja_text_find_last(const struct jinja_string *s, size_t end, const struct jinja_string *needle) {
    if (needle->n > end) return SIZE_MAX;
    for (size_t i = end - needle->n + 1; i-- > 0;) {
        if (memcmp(s->text + i, needle->text, needle->n) == 0) return i;
    }
    return SIZE_MAX;
}

int jinja_text_compare(const struct jinja_string *a, const struct jinja_string *b) {
    size_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(a->text, b->text, n) : 0; // bytes of UTF-8 sort like code points
    if (order != 0) return order < 0 ? -1 : 1;
    return a->n < b->n ? -1 : a->n > b->n;
}

enum status jinja_text_cut(struct arena *a, const struct jinja_string *s, size_t begin, size_t end,
                           struct jinja_value *out) {
    struct jinja_string *part = arena_new(a, 1, sizeof *part);
    if (!part) return STATUS_TOO_LARGE;
    *part = (struct jinja_string){.text = s->text + begin, .n = end - begin, .safe = s->safe};
    *out = (struct jinja_value){.type = JINJA_STRING, .string = part};
    size_t first = 0, last = s->n_marks;
    while (first < last && s->marks[first].end <= begin) first++;
    while (last > first && s->marks[last - 1].begin >= end) last--;
    if (first == last) return STATUS_OK;
    struct jinja_span *marks = arena_new(a, last - first, sizeof *marks);
    if (!marks) return STATUS_TOO_LARGE;
    for (size_t i = first; i < last; i++) {
        size_t from = s->marks[i].begin < begin ? begin : s->marks[i].begin;
        size_t to = s->marks[i].end > end ? end : s->marks[i].end;
        marks[i - first] = (struct jinja_span){from - begin, to - begin};
    }
    part->marks = marks;
    part->n_marks = last - first;
    return STATUS_OK;
}

enum status jinja_text_join(struct arena *a, const struct jinja_string *left, const struct jinja_string *right,
                            size_t limit, struct jinja_value *out) {
    struct jinja_sink k;
    jinja_sink_init(&k, a, limit);
    jinja_sink_string(&k, left);
    jinja_sink_string(&k, right);
    return jinja_sink_end(&k, out);
}

bool jinja_is_space(uint32_t c) {
    return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static uint32_t code_point_at(const char *text, size_t n, size_t *length) {
    uint32_t c;
    bool bad;
    *length = utf8_next(text, n, &c, &bad);
    return c;
}

size_t jinja_skip_space(const char *text, size_t n) {
    size_t at = 0, length;
    while (at < n && jinja_is_space(code_point_at(text + at, n - at, &length))) at += length;
    return at;
}

size_t jinja_trim_space(const char *text, size_t n) {
    struct jinja_string s = {.text = text, .n = n};
    while (n > 0) {
        size_t before = previous_offset(&s, n), length;
        if (!jinja_is_space(code_point_at(text + before, n - before, &length))) break;
        n = before;
    }
    return n;
}

static bool in_chars(const struct jinja_string *chars, const char *text, size_t n) {
    if (!chars) {
        size_t length;
        return jinja_is_space(code_point_at(text, n, &length));
    }
    for (size_t at = 0; at < chars->n; at = next_offset(chars, at)) {
        size_t length = next_offset(chars, at) - at;
        if (length == n && memcmp(chars->text + at, text, n) == 0) return true;
    }
    return false;
}

enum status jinja_text_strip(struct arena *a, const struct jinja_string *s, const struct jinja_string *chars,
                             enum jinja_side side, struct jinja_value *out) {
    size_t begin = 0, end = s->n;
    while ((side & JINJA_SIDE_LEFT) && begin < end) {
        size_t next = next_offset(s, begin);
        if (!in_chars(chars, s->text + begin, next - begin)) break;
        begin = next;
    }
    while ((side & JINJA_SIDE_RIGHT) && end > begin) {
        size_t before = previous_offset(s, end);
        if (!in_chars(chars, s->text + before, end - before)) break;
        end = before;
    }
    return jinja_text_cut(a, s, begin, end, out);
}

static enum status push_part(struct arena *a, const struct jinja_string *s, size_t begin, size_t end,
                             struct jinja_list *l) {
    struct jinja_value part;
    TRY(jinja_text_cut(a, s, begin, end, &part));
    return jinja_list_push(a, l, part);
}

static enum status split_at(struct arena *a, const struct jinja_string *s, const struct jinja_split *how,
                            struct jinja_list *l) {
    size_t begin = 0;
    for (int64_t i = 0; how->most < 0 || i < how->most; i++) {
        size_t at = jinja_text_find(s, begin, how->separator);
        if (at == SIZE_MAX) break;
        TRY(push_part(a, s, begin, at, l));
        begin = at + how->separator->n;
    }
    return push_part(a, s, begin, s->n, l);
}

static enum status split_space(struct arena *a, const struct jinja_string *s, const struct jinja_split *how,
                               struct jinja_list *l) {
    size_t at = jinja_skip_space(s->text, s->n);
    for (int64_t i = 0; at < s->n; i++) {
        if (how->most >= 0 && i >= how->most) return push_part(a, s, at, s->n, l);
        size_t begin = at, length = 0;
        while (at < s->n && !jinja_is_space(code_point_at(s->text + at, s->n - at, &length))) at += length;
        TRY(push_part(a, s, begin, at, l));
        at += jinja_skip_space(s->text + at, s->n - at);
    }
    return STATUS_OK;
}

// From the right the parts come out last first.
static enum status split_right(struct arena *a, const struct jinja_string *s, const struct jinja_split *how,
                               struct jinja_list *l) {
    size_t end = how->separator ? s->n : jinja_trim_space(s->text, s->n);
    for (int64_t i = 0; how->separator || end > 0; i++) {
        size_t begin = 0, next = SIZE_MAX;
        bool more = how->most < 0 || i < how->most;
        if (more && how->separator) {
            next = jinja_text_find_last(s, end, how->separator);
            begin = next == SIZE_MAX ? 0 : next + how->separator->n;
        } else if (more) {
            struct jinja_string head = {.text = s->text, .n = end};
            begin = end;
            while (begin > 0) {
                size_t before = previous_offset(&head, begin), length;
                if (jinja_is_space(code_point_at(s->text + before, end - before, &length))) break;
                begin = before;
            }
            next = jinja_trim_space(s->text, begin);
        }
        TRY(push_part(a, s, begin, end, l));
        if (!more || next == SIZE_MAX) break;
        end = next;
    }
    for (size_t i = 0; i < l->n / 2; i++) {
        struct jinja_value first = l->at[i];
        l->at[i] = l->at[l->n - 1 - i];
        l->at[l->n - 1 - i] = first;
    }
    return STATUS_OK;
}

enum status jinja_text_split(struct arena *a, const struct jinja_string *s, const struct jinja_split *how,
                             struct jinja_list **out) {
    TRY(jinja_list_new(a, 0, JINJA_SEQUENCE_LIST, out));
    if (how->from_right) return split_right(a, s, how, *out);
    return how->separator ? split_at(a, s, how, *out) : split_space(a, s, how, *out);
}

static bool ends_line(uint32_t c) {
    return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

enum status jinja_text_lines(struct arena *a, const struct jinja_string *s, bool keep_ends, struct jinja_list **out) {
    TRY(jinja_list_new(a, 0, JINJA_SEQUENCE_LIST, out));
    size_t begin = 0, at = 0;
    while (at < s->n) {
        size_t length;
        uint32_t c = code_point_at(s->text + at, s->n - at, &length);
        size_t end = at;
        at += length;
        if (!ends_line(c)) continue;
        if (c == '\r' && at < s->n && s->text[at] == '\n') at++;
        TRY(push_part(a, s, begin, keep_ends ? at : end, *out));
        begin = at;
    }
    return begin < s->n ? push_part(a, s, begin, s->n, *out) : STATUS_OK;
}

static void add_part(struct jinja_sink *k, const struct jinja_string *s, size_t begin, size_t end) {
    struct jinja_value part;
    if (k->failed != STATUS_OK) return;
    k->failed = jinja_text_cut(k->arena, s, begin, end, &part);
    if (k->failed == STATUS_OK) jinja_sink_string(k, part.string);
}

enum status jinja_text_replace(struct jinja_sink *k, const struct jinja_string *s, const struct jinja_string *old,
                               const struct jinja_string *new_text, int64_t most) {
    size_t begin = 0;
    for (int64_t i = 0; (most < 0 || i < most) && k->failed == STATUS_OK; i++) {
        size_t at = jinja_text_find(s, begin, old);
        if (at == SIZE_MAX) break;
        if (old->n == 0 && i > 0) { // an empty text is found between all code points
            if (begin >= s->n) break;
            at = next_offset(s, begin);
        }
        add_part(k, s, begin, at);
        jinja_sink_string(k, new_text);
        begin = at + old->n;
    }
    add_part(k, s, begin, s->n);
    return k->failed;
}

void jinja_text_escape(struct jinja_sink *k, const struct jinja_string *s) {
    size_t begin = 0;
    for (size_t i = 0; i < s->n; i++) {
        const char *entity = NULL;
        switch (s->text[i]) {
        case '&': entity = "&amp;"; break;
        case '<': entity = "&lt;"; break;
        case '>': entity = "&gt;"; break;
        case '\'': entity = "&#39;"; break;
        case '"': entity = "&#34;"; break;
        default: continue;
        }
        jinja_sink_add(k, s->text + begin, i - begin, false);
        jinja_sink_plain(k, entity);
        begin = i + 1;
    }
    jinja_sink_add(k, s->text + begin, s->n - begin, false);
    if (s->n_marks) jinja_sink_mark_all(k);
}
