// Filters that make text.
#include "text/jinja_run.h"
#include "text/jinja_unicode.h"

#include "base/utf8.h"

#include <string.h>

static struct jinja_sink new_sink(struct jinja_run *r) {
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    return k;
}

static enum status filter_string(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    out->type = JINJA_STRING;
    return jinja_to_string(r, call->self, &out->string);
}

static enum status filter_safe(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    TRY(filter_string(r, call, out));
    return jinja_make_safe(r, out);
}

static enum status escape(struct jinja_run *r, const struct jinja_call *call, bool again, struct jinja_value *out) {
    struct jinja_sink k = new_sink(r);
    TRY(filter_string(r, call, out));
    if (out->string->safe && !again) return STATUS_OK;
    jinja_text_escape(&k, out->string);
    TRY(jinja_sink_end(&k, out));
    return jinja_make_safe(r, out);
}

static enum status filter_escape(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return escape(r, call, false, out);
}

static enum status filter_forceescape(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return escape(r, call, true, out);
}

static enum status filter_trim(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *s, *chars = NULL;
    TRY(jinja_to_string(r, call->self, &s));
    if (call->arg[0].type != JINJA_NONE) TRY(jinja_argument_text(r, call->arg[0], NULL, &chars));
    TRY(jinja_steps(r, s->n / 64));
    return jinja_text_strip(r->arena, s, chars, JINJA_SIDE_BOTH, out);
}

static enum status change(struct jinja_run *r, const struct jinja_call *call,
                          void (*fn)(struct jinja_sink *k, const struct jinja_string *s), struct jinja_value *out) {
    const struct jinja_string *s;
    struct jinja_sink k = new_sink(r);
    TRY(jinja_to_string(r, call->self, &s));
    TRY(jinja_steps(r, s->n / 16));
    fn(&k, s);
    return jinja_sink_end(&k, out);
}

static enum status filter_upper(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, jinja_text_upper, out);
}

static enum status filter_lower(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, jinja_text_lower, out);
}

static enum status filter_capitalize(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, jinja_text_capitalize, out);
}

// Words begin behind white space and - ( { [ <, unlike those of Python's own title().
static void title_words(struct jinja_sink *k, const struct jinja_string *s) {
    bool begins = true;
    for (size_t at = 0; at < s->n && k->failed == STATUS_OK;) {
        uint32_t c, changed[3];
        bool bad;
        at += utf8_next(s->text + at, s->n - at, &c, &bad);
        size_t n = jinja_change_case(begins ? JINJA_CASE_UPPER : JINJA_CASE_LOWER, c, changed);
        for (size_t i = 0; i < n; i++) jinja_sink_code_point(k, changed[i], false);
        begins = jinja_is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    }
    if (s->n_marks) jinja_sink_mark_all(k);
}

static enum status filter_title(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    return change(r, call, title_words, out);
}

static enum status filter_replace(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *s, *old, *new_text;
    int64_t most;
    struct jinja_sink k = new_sink(r);
    TRY(jinja_to_string(r, call->self, &s));
    TRY(jinja_to_string(r, call->arg[0], &old));
    TRY(jinja_to_string(r, call->arg[1], &new_text));
    TRY(jinja_argument_int(r, call->arg[2], -1, &most));
    TRY(jinja_steps(r, s->n / 64));
    TRY(jinja_text_replace(&k, s, old, new_text, most));
    return jinja_sink_end(&k, out);
}

static enum status indent_text(struct jinja_run *r, const struct jinja_value width, struct jinja_value *out) {
    int64_t n;
    if (width.type == JINJA_STRING) {
        *out = width;
        return STATUS_OK;
    }
    TRY(jinja_argument_int(r, width, 4, &n));
    struct jinja_sink k = new_sink(r);
    for (int64_t i = 0; i < n && k.failed == STATUS_OK; i++) jinja_sink_add(&k, " ", 1, false);
    return jinja_sink_end(&k, out);
}

static enum status filter_indent(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    static const struct jinja_string feed = {.text = "\n", .n = 1};
    struct jinja_value indent, text;
    struct jinja_list *lines;
    struct jinja_sink k = new_sink(r);
    bool blank = jinja_argument_flag(call->arg[2], false);
    if (call->self.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, call->self);
    if (call->self.type != JINJA_STRING) {
        return jinja_fail(r, "unsupported operand type(s) for +=: '%s' and 'str'", jinja_type_name(call->self));
    }
    TRY(indent_text(r, call->arg[0], &indent));
    TRY(jinja_text_join(r->arena, call->self.string, &feed, r->output_limit, &text));
    TRY(jinja_text_lines(r->arena, text.string, false, &lines));
    if (jinja_argument_flag(call->arg[1], false)) jinja_sink_string(&k, indent.string);
    for (size_t i = 0; i < lines->n; i++) {
        if (i) jinja_sink_add(&k, "\n", 1, false);
        if (i && (blank || lines->at[i].string->n)) jinja_sink_string(&k, indent.string);
        jinja_sink_string(&k, lines->at[i].string);
    }
    return jinja_sink_end(&k, out);
}

static enum status filter_center(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *s;
    int64_t width;
    struct jinja_sink k = new_sink(r);
    TRY(jinja_to_string(r, call->self, &s));
    TRY(jinja_argument_int(r, call->arg[0], 80, &width));
    int64_t pad = width - (int64_t)jinja_text_length(s);
    int64_t left = pad > 0 ? pad / 2 + (pad & width & 1) : 0;
    for (int64_t i = 0; i < left && k.failed == STATUS_OK; i++) jinja_sink_add(&k, " ", 1, false);
    jinja_sink_string(&k, s);
    for (int64_t i = left; i < pad && k.failed == STATUS_OK; i++) jinja_sink_add(&k, " ", 1, false);
    return jinja_sink_end(&k, out);
}

// What is no text stays as it is when it is short enough.
static enum status truncate_other(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    int64_t n, length, leeway;
    TRY(jinja_length(r, call->self, &n));
    TRY(jinja_argument_int(r, call->arg[0], 255, &length));
    TRY(jinja_argument_int(r, call->arg[3], 5, &leeway));
    *out = call->self;
    return leeway >= 0 && n - leeway <= length ? STATUS_OK : jinja_fail(r, "only a text can be truncated");
}

static enum status filter_truncate(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    static const struct jinja_string dots = {.text = "...", .n = 3}, space = {.text = " ", .n = 1};
    const struct jinja_string *s, *end;
    int64_t length, leeway;
    if (call->self.type != JINJA_STRING) return truncate_other(r, call, out);
    s = call->self.string;
    TRY(jinja_argument_int(r, call->arg[0], 255, &length));
    TRY(jinja_argument_text(r, call->arg[2], &dots, &end));
    TRY(jinja_argument_int(r, call->arg[3], 5, &leeway));
    int64_t n_end = (int64_t)jinja_text_length(end);
    if (length < n_end) return jinja_fail(r, "expected length >= %lld, got %lld", (long long)n_end, (long long)length);
    if (leeway < 0) return jinja_fail(r, "expected leeway >= 0, got %lld", (long long)leeway);
    *out = (struct jinja_value){.type = JINJA_STRING, .string = s};
    if ((int64_t)jinja_text_length(s) - leeway <= length) return STATUS_OK;
    size_t cut = jinja_text_offset(s, 0, (size_t)(length - n_end));
    size_t word = jinja_argument_flag(call->arg[1], false) ? SIZE_MAX : jinja_text_find_last(s, cut, &space);
    TRY(jinja_text_cut(r->arena, s, 0, word == SIZE_MAX ? cut : word, out));
    return jinja_text_join(r->arena, out->string, end, r->output_limit, out);
}

static enum status filter_wordcount(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *s;
    int64_t words = 0;
    bool in_word = false;
    TRY(jinja_to_string(r, call->self, &s));
    TRY(jinja_steps(r, s->n / 16));
    for (size_t at = 0; at < s->n;) {
        uint32_t c;
        bool bad;
        at += utf8_next(s->text + at, s->n - at, &c, &bad);
        bool word = c == '_' || JINJA_IN(jinja_alpha, c) || JINJA_IN(jinja_decimal, c) || JINJA_IN(jinja_digit, c) ||
                    JINJA_IN(jinja_numeric, c);
        words += word && !in_word;
        in_word = word;
    }
    *out = jinja_int(words);
    return STATUS_OK;
}

static void url_quote(struct jinja_sink *k, const struct jinja_string *s, bool query) {
    static const char kept[] = "_.-~";
    for (size_t i = 0; i < s->n && k->failed == STATUS_OK; i++) {
        char c = s->text[i], text[4] = {'%', "0123456789ABCDEF"[(uint8_t)c >> 4], "0123456789ABCDEF"[c & 15], 0};
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        plain = plain || (c && strchr(kept, c)) || (c == '/' && !query);
        if (plain) jinja_sink_add(k, &c, 1, false);
        else jinja_sink_plain(k, c == ' ' && query ? "+" : text);
    }
}

static enum status url_pair(struct jinja_run *r, struct jinja_sink *k, struct jinja_value key,
                            struct jinja_value value) {
    const struct jinja_string *name, *text;
    TRY(jinja_to_string(r, key, &name));
    TRY(jinja_to_string(r, value, &text));
    if (k->n) jinja_sink_plain(k, "&");
    url_quote(k, name, true);
    jinja_sink_plain(k, "=");
    url_quote(k, text, true);
    return k->failed;
}

static enum status filter_urlencode(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_sink k = new_sink(r);
    if (call->self.type == JINJA_MAPPING) {
        const struct jinja_mapping *m = call->self.mapping;
        for (size_t i = 0; i < m->n; i++) TRY(url_pair(r, &k, m->at[i].key, m->at[i].value));
    } else if (call->self.type == JINJA_LIST) {
        const struct jinja_list *l = call->self.list, *pair;
        for (size_t i = 0; i < l->n; i++) {
            TRY(jinja_iterate(r, l->at[i], &pair));
            if (pair->n != 2) return jinja_fail(r, "not enough values to unpack (expected 2, got %zu)", pair->n);
            TRY(url_pair(r, &k, pair->at[0], pair->at[1]));
        }
    } else {
        const struct jinja_string *s;
        TRY(jinja_to_string(r, call->self, &s));
        TRY(jinja_steps(r, s->n / 16));
        url_quote(&k, s, false);
    }
    return jinja_sink_end(&k, out);
}

// A separator as terminated text.
static enum status separator(struct jinja_run *r, struct jinja_value v, const char **out) {
    if (v.type != JINJA_STRING) return jinja_fail(r, "separators must be strings, not %s", jinja_type_name(v));
    *out = arena_string(r->arena, v.string->text, v.string->n);
    return *out ? STATUS_OK : STATUS_TOO_LARGE;
}

static enum status filter_tojson(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    struct jinja_json_style style = {.between = ", ", .after_key = ": "};
    struct jinja_value indent = call->arg[1], separators = call->arg[2];
    style.ascii = jinja_argument_flag(call->arg[0], false);
    style.sort_keys = jinja_argument_flag(call->arg[3], false);
    if (indent.type != JINJA_ABSENT && indent.type != JINJA_NONE) {
        TRY(indent_text(r, indent, &indent));
        style.indent = indent.string;
        style.between = ",";
    }
    if (separators.type != JINJA_ABSENT && separators.type != JINJA_NONE) {
        const struct jinja_list *pair;
        TRY(jinja_iterate(r, separators, &pair));
        if (pair->n != 2) return jinja_fail(r, "separators must be two strings");
        TRY(separator(r, pair->at[0], &style.between));
        TRY(separator(r, pair->at[1], &style.after_key));
    }
    struct jinja_sink k = new_sink(r);
    TRY(jinja_print_json(&k, call->self, &style, r->e));
    return jinja_sink_end(&k, out);
}

static enum status filter_format(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out) {
    const struct jinja_string *s;
    const struct jinja_arguments *a = call->raw;
    TRY(jinja_to_string(r, call->self, &s));
    if (a->n && a->n_named) return jinja_fail(r, "can't handle positional and keyword arguments at the same time");
    if (a->n_named) {
        struct jinja_mapping *m;
        TRY(jinja_mapping_new(r->arena, a->n_named, &m));
        for (size_t i = 0; i < a->n_named; i++) {
            struct jinja_value name = {.type = JINJA_STRING, .string = a->named[i].name};
            TRY(jinja_mapping_set(r->arena, m, name, a->named[i].value));
        }
        return jinja_format_percent(r, s, jinja_of_mapping(m), out);
    }
    struct jinja_list *l;
    TRY(jinja_list_new(r->arena, a->n, JINJA_SEQUENCE_TUPLE, &l));
    for (size_t i = 0; i < a->n; i++) TRY(jinja_list_push(r->arena, l, a->at[i]));
    return jinja_format_percent(r, s, jinja_of_list(l), out);
}

static const struct jinja_builtin table[] = {
    {"string", filter_string, "", 0},
    {"safe", filter_safe, "", 0},
    {"escape", filter_escape, "", 0},
    {"e", filter_escape, "", 0},
    {"forceescape", filter_forceescape, "", 0},
    {"trim", filter_trim, "chars", 0},
    {"upper", filter_upper, "", 0},
    {"lower", filter_lower, "", 0},
    {"capitalize", filter_capitalize, "", 0},
    {"title", filter_title, "", 0},
    {"replace", filter_replace, "old new count", 2},
    {"indent", filter_indent, "width first blank", 0},
    {"center", filter_center, "width", 0},
    {"truncate", filter_truncate, "length killwords end leeway", 0},
    {"wordcount", filter_wordcount, "", 0},
    {"urlencode", filter_urlencode, "", 0},
    {"tojson", filter_tojson, "ensure_ascii indent separators sort_keys", 0},
    {"format", filter_format, NULL, 0},
};
const struct jinja_builtin_table jinja_text_filters = {table, sizeof table / sizeof table[0]};
