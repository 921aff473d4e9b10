// Methods of strings.
#include "base/utf8.h"
#include "text/jinja_run.h"
#include "text/jinja_unicode.h"

#include <string.h>

static struct jinja_sink new_sink(struct jinja_run *r) {
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    return k;
}

static enum status split(struct jinja_run *r, const struct jinja_call *call, bool from_right, struct jinja_value *out) {
    struct jinja_split how = {.from_right = from_right};
    if (call->arg[0].type != JINJA_NONE) TRY(jinja_argument_text(r, call->arg[0], NULL, &how.separator));
    TRY(jinja_argument_int(r, call->arg[1], -1, &how.most));
    if (how.separator && how.separator->n == 0) return jinja_fail(r, "empty separator");
    TRY(jinja_steps(r, call->self.string->n / 16));
    out->type = JINJA_LIST;
    return jinja_text_split(r->arena, call->self.string, &how, &out->list);
}

static enum status string_split(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return split(r, call, false, out);
}

static enum status string_rsplit(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return split(r, call, true, out);
}

static enum status string_splitlines(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    TRY(jinja_steps(r, call->self.string->n / 16));
    out->type = JINJA_LIST;
    return jinja_text_lines(r->arena, call->self.string, jinja_argument_flag(call->arg[0], false), &out->list);
}

static enum status strip(struct jinja_run *r, const struct jinja_call *call, enum jinja_side side,
                         struct jinja_value *out) {
    const struct jinja_string *chars = NULL;
    if (call->arg[0].type != JINJA_NONE) TRY(jinja_argument_text(r, call->arg[0], NULL, &chars));
    TRY(jinja_steps(r, call->self.string->n / 64));
    return jinja_text_strip(r->arena, call->self.string, chars, side, out);
}

static enum status string_strip(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return strip(r, call, JINJA_SIDE_BOTH, out);
}

static enum status string_lstrip(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return strip(r, call, JINJA_SIDE_LEFT, out);
}

static enum status string_rstrip(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return strip(r, call, JINJA_SIDE_RIGHT, out);
}

// The bytes that the arguments start and end at places 1 and 2 leave to search in; false when they cross.
static enum status search_range(struct jinja_run *r, const struct jinja_call *call, size_t *begin, size_t *end,
                                bool *valid) {
    const struct jinja_string *s = call->self.string;
    int64_t n = (int64_t)jinja_text_length(s), from, to;
    TRY(jinja_steps(r, s->n / 64));
    TRY(jinja_argument_int(r, call->arg[1], 0, &from));
    TRY(jinja_argument_int(r, call->arg[2], n, &to));
    if (from < 0) from = from + n < 0 ? 0 : from + n;
    if (to < 0) to = to + n < 0 ? 0 : to + n;
    if (to > n) to = n;
    *valid = from <= to;
    if (!*valid) return STATUS_OK;
    *begin = jinja_text_offset(s, 0, (size_t)from);
    *end = jinja_text_offset(s, *begin, (size_t)(to - from));
    return STATUS_OK;
}

static enum status matches_end(struct jinja_run *r, const struct jinja_call *call, struct jinja_value affix, bool front,
                               bool *out) {
    size_t begin, end;
    bool valid;
    TRY(search_range(r, call, &begin, &end, &valid));
    if (affix.type != JINJA_STRING) {
        if (affix.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, affix);
        return jinja_fail(r, "%s first arg must be str or a tuple of str, not %s", front ? "startswith" : "endswith",
                          jinja_type_name(affix));
    }
    const struct jinja_string *a = affix.string;
    *out = valid && a->n <= end - begin;
    if (*out && a->n) *out = memcmp(call->self.string->text + (front ? begin : end - a->n), a->text, a->n) == 0;
    return STATUS_OK;
}

static enum status has_affix(struct jinja_run *r, const struct jinja_call *call, bool front, struct jinja_value *out) {
    bool found = false;
    struct jinja_value affix = call->arg[0];
    if (affix.type == JINJA_LIST && affix.list->kind == JINJA_SEQUENCE_TUPLE) {
        for (size_t i = 0; i < affix.list->n && !found; i++) {
            TRY(matches_end(r, call, affix.list->at[i], front, &found));
        }
    } else {
        TRY(matches_end(r, call, affix, front, &found));
    }
    *out = jinja_bool(found);
    return STATUS_OK;
}

static enum status string_startswith(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return has_affix(r, call, true, out);
}

static enum status string_endswith(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return has_affix(r, call, false, out);
}

static enum status remove_affix(struct jinja_run *r, const struct jinja_call *call, bool front,
                                struct jinja_value *out) {
    const struct jinja_string *s = call->self.string;
    bool found;
    TRY(matches_end(r, call, call->arg[0], front, &found));
    size_t n = found ? call->arg[0].string->n : 0;
    return jinja_text_cut(r->arena, s, front ? n : 0, front ? s->n : s->n - n, out);
}

static enum status string_removeprefix(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return remove_affix(r, call, true, out);
}

static enum status string_removesuffix(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return remove_affix(r, call, false, out);
}

// Position in code points of the first or last match, or -1.
static enum status find(struct jinja_run *r, const struct jinja_call *call, bool last, struct jinja_value *out) {
    const struct jinja_string *needle, *s = call->self.string;
    size_t begin, end, at = SIZE_MAX;
    bool valid;
    TRY(jinja_argument_text(r, call->arg[0], NULL, &needle));
    TRY(search_range(r, call, &begin, &end, &valid));
    struct jinja_string head = {.text = s->text, .n = end};
    if (valid) at = last ? jinja_text_find_last(s, end, needle) : jinja_text_find(&head, begin, needle);
    if (at != SIZE_MAX && at < begin) at = SIZE_MAX;
    head.n = at;
    *out = jinja_int(at == SIZE_MAX ? -1 : (int64_t)jinja_text_length(&head));
    return STATUS_OK;
}

static enum status string_find(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return find(r, call, false, out);
}

static enum status string_rfind(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return find(r, call, true, out);
}

static enum status string_index(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    TRY(find(r, call, false, out));
    return out->integer < 0 ? jinja_fail(r, "substring not found") : STATUS_OK;
}

static enum status string_rindex(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    TRY(find(r, call, true, out));
    return out->integer < 0 ? jinja_fail(r, "substring not found") : STATUS_OK;
}

static enum status string_count(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *needle;
    size_t begin, end;
    int64_t n = 0;
    bool valid;
    TRY(jinja_argument_text(r, call->arg[0], NULL, &needle));
    TRY(search_range(r, call, &begin, &end, &valid));
    struct jinja_string part = {.text = call->self.string->text, .n = valid ? end : 0};
    if (valid && needle->n == 0) {
        part.text += begin;
        part.n -= begin;
        n = (int64_t)jinja_text_length(&part) + 1;
    } else if (valid) {
        for (size_t at = begin; (at = jinja_text_find(&part, at, needle)) != SIZE_MAX; at += needle->n) n++;
    }
    *out = jinja_int(n);
    return STATUS_OK;
}

static enum status string_replace(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *old, *new_text;
    int64_t most;
    struct jinja_sink k = new_sink(r);
    TRY(jinja_argument_text(r, call->arg[0], NULL, &old));
    TRY(jinja_argument_text(r, call->arg[1], NULL, &new_text));
    TRY(jinja_argument_int(r, call->arg[2], -1, &most));
    TRY(jinja_steps(r, call->self.string->n / 64));
    TRY(jinja_text_replace(&k, call->self.string, old, new_text, most));
    return jinja_sink_end(&k, out);
}

static enum status change(struct jinja_run *r, const struct jinja_call *call,
                          void (*fn)(struct jinja_sink *k, const struct jinja_string *s), struct jinja_value *out) {
    struct jinja_sink k = new_sink(r);
    TRY(jinja_steps(r, call->self.string->n / 16));
    fn(&k, call->self.string);
    return jinja_sink_end(&k, out);
}

static enum status string_upper(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, jinja_text_upper, out);
}

static enum status string_lower(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, jinja_text_lower, out);
}

static enum status string_title(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, jinja_text_title, out);
}

static enum status string_capitalize(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, jinja_text_capitalize, out);
}

static enum status string_join(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_list *l;
    struct jinja_sink k = new_sink(r);
    if (call->arg[0].type == JINJA_NONE || jinja_is_number(call->arg[0])) {
        return jinja_fail(r, "can only join an iterable");
    }
    TRY(jinja_iterate(r, call->arg[0], &l));
    for (size_t i = 0; i < l->n; i++) {
        if (l->at[i].type != JINJA_STRING) {
            return jinja_fail(r, "sequence item %zu: expected str instance, %s found", i, jinja_type_name(l->at[i]));
        }
        TRY(jinja_steps(r, 1));
        if (i) jinja_sink_string(&k, call->self.string);
        jinja_sink_string(&k, l->at[i].string);
    }
    return jinja_sink_end(&k, out);
}

// Text with `n` characters more: `left` of them in front.
static enum status padded(struct jinja_run *r, const struct jinja_string *s, const struct jinja_string *fill, int64_t n,
                          int64_t left, struct jinja_value *out) {
    struct jinja_sink k = new_sink(r);
    for (int64_t i = 0; i < left && k.failed == STATUS_OK; i++) jinja_sink_string(&k, fill);
    jinja_sink_string(&k, s);
    for (int64_t i = left; i < n && k.failed == STATUS_OK; i++) jinja_sink_string(&k, fill);
    return jinja_sink_end(&k, out);
}

static enum status justify(struct jinja_run *r, const struct jinja_call *call, enum jinja_side side,
                           struct jinja_value *out) {
    static const struct jinja_string space = {.text = " ", .n = 1};
    const struct jinja_string *fill;
    int64_t width;
    TRY(jinja_argument_int(r, call->arg[0], 0, &width));
    TRY(jinja_argument_text(r, call->arg[1], &space, &fill));
    if (jinja_text_length(fill) != 1) return jinja_fail(r, "The fill character must be exactly one character long");
    int64_t n = width - (int64_t)jinja_text_length(call->self.string);
    if (n < 0) n = 0;
    int64_t left = side == JINJA_SIDE_LEFT ? n : side == JINJA_SIDE_RIGHT ? 0 : n / 2 + (n & width & 1);
    return padded(r, call->self.string, fill, n, left, out);
}

static enum status string_rjust(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return justify(r, call, JINJA_SIDE_LEFT, out);
}

static enum status string_ljust(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return justify(r, call, JINJA_SIDE_RIGHT, out);
}

static enum status string_center(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return justify(r, call, JINJA_SIDE_BOTH, out);
}

static enum status partition(struct jinja_run *r, const struct jinja_call *call, bool last, struct jinja_value *out) {
    const struct jinja_string *separator, *s = call->self.string;
    struct jinja_value part;
    struct jinja_list *l;
    TRY(jinja_argument_text(r, call->arg[0], NULL, &separator));
    if (!separator->n) return jinja_fail(r, "empty separator");
    TRY(jinja_steps(r, s->n / 16));
    size_t at = last ? jinja_text_find_last(s, s->n, separator) : jinja_text_find(s, 0, separator);
    size_t begin = at != SIZE_MAX ? at : last ? 0 : s->n, end = at != SIZE_MAX ? at + separator->n : begin;
    const size_t bounds[4] = {0, begin, end, s->n};
    TRY(jinja_list_new(r->arena, 3, JINJA_SEQUENCE_TUPLE, &l));
    for (int i = 0; i < 3; i++) {
        TRY(jinja_text_cut(r->arena, s, bounds[i], bounds[i + 1], &part));
        TRY(jinja_list_push(r->arena, l, part));
    }
    *out = jinja_of_list(l);
    return STATUS_OK;
}

static enum status string_partition(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return partition(r, call, false, out);
}

static enum status string_rpartition(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return partition(r, call, true, out);
}

static enum status string_format(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return jinja_format_braces(r, call->self.string, call->raw, out);
}

// Not empty, and every code point is in the class.
static enum status all_are(const struct jinja_call *call, bool (*is)(uint32_t c), struct jinja_value *out) {
    const struct jinja_string *s = call->self.string;
    bool all = s->n > 0;
    for (size_t at = 0; at < s->n && all;) {
        uint32_t c;
        bool bad;
        at += utf8_next(s->text + at, s->n - at, &c, &bad);
        all = is(c);
    }
    *out = jinja_bool(all);
    return STATUS_OK;
}

static bool is_decimal(uint32_t c) { return JINJA_IN(jinja_decimal, c); }
static bool is_digit(uint32_t c) { return is_decimal(c) || JINJA_IN(jinja_digit, c); }
static bool is_numeric(uint32_t c) { return is_digit(c) || JINJA_IN(jinja_numeric, c); }
static bool is_alpha(uint32_t c) { return JINJA_IN(jinja_alpha, c); }
static bool is_alnum(uint32_t c) { return is_alpha(c) || is_numeric(c); }

#define CLASS_METHOD(name, class)                                                                  \
    static enum status name(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) { \
        TRY(jinja_steps(r, call->self.string->n / 16));                                            \
        return all_are(call, class, out);                                                          \
    }
CLASS_METHOD(string_isdecimal, is_decimal)
CLASS_METHOD(string_isdigit, is_digit)
CLASS_METHOD(string_isnumeric, is_numeric)
CLASS_METHOD(string_isalpha, is_alpha)
CLASS_METHOD(string_isalnum, is_alnum)
CLASS_METHOD(string_isspace, jinja_is_space)

static enum status string_isupper(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    TRY(jinja_steps(r, call->self.string->n / 16));
    *out = jinja_bool(jinja_text_is_case(call->self.string, true));
    return STATUS_OK;
}

static enum status string_islower(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    TRY(jinja_steps(r, call->self.string->n / 16));
    *out = jinja_bool(jinja_text_is_case(call->self.string, false));
    return STATUS_OK;
}

static enum status string_isascii(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    bool ascii = true;
    TRY(jinja_steps(r, call->self.string->n / 16));
    for (size_t i = 0; i < call->self.string->n && ascii; i++) ascii = (unsigned char)call->self.string->text[i] < 0x80;
    *out = jinja_bool(ascii);
    return STATUS_OK;
}

// Zeros go behind a sign.
static enum status string_zfill(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *s = call->self.string;
    struct jinja_value sign, rest;
    struct jinja_sink k;
    int64_t width;
    TRY(jinja_argument_int(r, call->arg[0], 0, &width));
    size_t n_sign = s->n && (s->text[0] == '-' || s->text[0] == '+');
    TRY(jinja_text_cut(r->arena, s, 0, n_sign, &sign));
    TRY(jinja_text_cut(r->arena, s, n_sign, s->n, &rest));
    jinja_sink_init(&k, r->arena, r->output_limit);
    jinja_sink_string(&k, sign.string);
    for (int64_t i = (int64_t)jinja_text_length(s); i < width && k.failed == STATUS_OK; i++) jinja_sink_plain(&k, "0");
    jinja_sink_string(&k, rest.string);
    return jinja_sink_end(&k, out);
}

static const struct jinja_builtin table[] = {
    {"split", string_split, "sep maxsplit", 0},
    {"rsplit", string_rsplit, "sep maxsplit", 0},
    {"splitlines", string_splitlines, "keepends", 0},
    {"strip", string_strip, "chars", 0},
    {"lstrip", string_lstrip, "chars", 0},
    {"rstrip", string_rstrip, "chars", 0},
    {"startswith", string_startswith, "prefix start end", 1},
    {"endswith", string_endswith, "suffix start end", 1},
    {"removeprefix", string_removeprefix, "prefix", 1},
    {"removesuffix", string_removesuffix, "suffix", 1},
    {"find", string_find, "sub start end", 1},
    {"rfind", string_rfind, "sub start end", 1},
    {"index", string_index, "sub start end", 1},
    {"rindex", string_rindex, "sub start end", 1},
    {"count", string_count, "sub start end", 1},
    {"replace", string_replace, "old new count", 2},
    {"upper", string_upper, "", 0},
    {"lower", string_lower, "", 0},
    {"title", string_title, "", 0},
    {"capitalize", string_capitalize, "", 0},
    {"join", string_join, "iterable", 1},
    {"format", string_format, NULL, 0},
    {"ljust", string_ljust, "width fillchar", 1},
    {"rjust", string_rjust, "width fillchar", 1},
    {"center", string_center, "width fillchar", 1},
    {"partition", string_partition, "sep", 1},
    {"rpartition", string_rpartition, "sep", 1},
    {"isdecimal", string_isdecimal, "", 0},
    {"isdigit", string_isdigit, "", 0},
    {"isnumeric", string_isnumeric, "", 0},
    {"isalpha", string_isalpha, "", 0},
    {"isalnum", string_isalnum, "", 0},
    {"isspace", string_isspace, "", 0},
    {"isascii", string_isascii, "", 0},
    {"zfill", string_zfill, "width", 1},
    {"isupper", string_isupper, "", 0},
    {"islower", string_islower, "", 0},
};
const struct jinja_builtin_table jinja_string_methods = {table, sizeof table / sizeof table[0]};
