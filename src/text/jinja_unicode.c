// Case changes of characters and of whole strings over the generated tables.
#include "text/jinja_unicode.h"

#include "base/utf8.h"
#include "text/jinja_text.h"

bool jinja_in_ranges(const struct jinja_range *table, size_t n, uint32_t code_point) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table[middle].last < code_point) low = middle + 1;
        else high = middle;
    }
    return low < n && table[low].first <= code_point;
}

struct case_table {
    const struct jinja_case_run *runs;
    const size_t *n_runs;
    const struct jinja_case_long *longs;
    const size_t *n_longs;
};

static const struct case_table tables[] = {
    [JINJA_CASE_UPPER] = {jinja_to_upper, &jinja_to_upper_n, jinja_to_upper_long, &jinja_to_upper_long_n},
    [JINJA_CASE_LOWER] = {jinja_to_lower, &jinja_to_lower_n, jinja_to_lower_long, &jinja_to_lower_long_n},
    [JINJA_CASE_TITLE] = {jinja_to_title, &jinja_to_title_n, jinja_to_title_long, &jinja_to_title_long_n},
};

size_t jinja_change_case(enum jinja_case to, uint32_t code_point, uint32_t out[3]) {
    const struct case_table *t = &tables[to];
    for (size_t i = 0; code_point >= 0x80 && i < *t->n_longs; i++) {
        const struct jinja_case_long *l = &t->longs[i];
        if (l->from != code_point) continue;
        out[0] = l->first;
        out[1] = l->second;
        out[2] = l->third;
        return l->third ? 3 : 2;
    }
    out[0] = code_point;
    size_t low = 0, high = *t->n_runs;
    while (low < high) { // first run that does not end before the code point; runs of stride 2 may interleave
        size_t middle = (low + high) / 2;
        if (t->runs[middle].first <= code_point) low = middle + 1;
        else high = middle;
    }
    for (size_t i = low; i-- > 0 && i + 4 > low;) {
        const struct jinja_case_run *r = &t->runs[i];
        if (code_point > r->last || (code_point - r->first) % r->stride) continue;
        out[0] = (uint32_t)((int64_t)code_point + r->delta);
        break;
    }
    return 1;
}

bool jinja_is_cased(uint32_t c) {
    return JINJA_IN(jinja_lowercase, c) || JINJA_IN(jinja_uppercase, c) || JINJA_IN(jinja_titlecase, c);
}

static void add_changed(struct jinja_sink *k, enum jinja_case to, uint32_t code_point) {
    uint32_t out[3];
    size_t n = jinja_change_case(to, code_point, out);
    for (size_t i = 0; i < n; i++) jinja_sink_code_point(k, out[i], false);
}

static size_t read(const struct jinja_string *s, size_t at, uint32_t *code_point) {
    bool bad;
    return utf8_next(s->text + at, s->n - at, code_point, &bad);
}

// A capital sigma ends a word when a cased letter stands before it and none after it, ignorable ones left out.
static bool sigma_is_final(const struct jinja_string *s, size_t at, size_t length) {
    uint32_t c = 0;
    size_t i = at;
    bool before = false;
    while (i > 0) {
        i--;
        while (i > 0 && ((uint8_t)s->text[i] & 0xc0) == 0x80) i--;
        read(s, i, &c);
        if (JINJA_IN(jinja_case_ignorable, c)) continue;
        before = jinja_is_cased(c);
        break;
    }
    if (!before) return false;
    for (i = at + length; i < s->n;) {
        i += read(s, i, &c);
        if (JINJA_IN(jinja_case_ignorable, c)) continue;
        return !jinja_is_cased(c);
    }
    return true;
}

static void add_lower(struct jinja_sink *k, const struct jinja_string *s, size_t at, size_t length, uint32_t c) {
    if (c == 0x3a3) jinja_sink_code_point(k, sigma_is_final(s, at, length) ? 0x3c2 : 0x3c3, false);
    else add_changed(k, JINJA_CASE_LOWER, c);
}

void jinja_text_upper(struct jinja_sink *k, const struct jinja_string *s) {
    uint32_t c;
    for (size_t at = 0; at < s->n && k->failed == STATUS_OK;) {
        at += read(s, at, &c);
        add_changed(k, JINJA_CASE_UPPER, c);
    }
    if (s->n_marks) jinja_sink_mark_all(k);
}

void jinja_text_lower(struct jinja_sink *k, const struct jinja_string *s) {
    uint32_t c;
    for (size_t at = 0; at < s->n && k->failed == STATUS_OK;) {
        size_t length = read(s, at, &c);
        add_lower(k, s, at, length, c);
        at += length;
    }
    if (s->n_marks) jinja_sink_mark_all(k);
}

void jinja_text_title(struct jinja_sink *k, const struct jinja_string *s) {
    uint32_t c;
    bool in_word = false;
    for (size_t at = 0; at < s->n && k->failed == STATUS_OK;) {
        size_t length = read(s, at, &c);
        if (in_word) add_lower(k, s, at, length, c);
        else add_changed(k, JINJA_CASE_TITLE, c);
        in_word = jinja_is_cased(c);
        at += length;
    }
    if (s->n_marks) jinja_sink_mark_all(k);
}

void jinja_text_capitalize(struct jinja_sink *k, const struct jinja_string *s) {
    uint32_t c;
    for (size_t at = 0; at < s->n && k->failed == STATUS_OK;) {
        size_t length = read(s, at, &c);
        if (at == 0) add_changed(k, JINJA_CASE_TITLE, c);
        else add_lower(k, s, at, length, c);
        at += length;
    }
    if (s->n_marks) jinja_sink_mark_all(k);
}

bool jinja_text_is_case(const struct jinja_string *s, bool upper) {
    bool found = false;
    uint32_t c;
    for (size_t at = 0; at < s->n;) {
        at += read(s, at, &c);
        bool wanted = upper ? JINJA_IN(jinja_uppercase, c) : JINJA_IN(jinja_lowercase, c);
        if (!wanted && jinja_is_cased(c)) return false;
        found = found || wanted;
    }
    return found;
}
