// Python's two ways to put values into a text: "%s" % values and "{}".format(values).
#include "text/jinja_format_spec.h"
#include "text/jinja_numbers.h"

#include <math.h>
#include <string.h>

static enum status end_formatted(struct jinja_sink *k, const struct jinja_string *format, struct jinja_value *out) {
    if (format->n_marks) jinja_sink_mark_all(k); // a text from people must not become a frame for control text
    return jinja_sink_end(k, out);
}

static void add_plain(struct jinja_sink *k, const struct jinja_string *s, size_t begin, size_t end) {
    jinja_sink_add(k, s->text + begin, end - begin, false);
}

// str() or repr() of a value as a string.
static enum status as_text(struct jinja_run *r, struct jinja_value v, bool repr, const struct jinja_string **out) {
    struct jinja_sink k;
    struct jinja_value text;
    if (!repr) return jinja_to_string(r, v, out);
    jinja_sink_init(&k, r->arena, r->output_limit);
    TRY(jinja_print_repr(&k, v, r->e));
    TRY(jinja_sink_end(&k, &text));
    *out = text.string;
    return STATUS_OK;
}

// What % takes its values from: a mapping by name, a tuple one by one, or one single value.
struct percent_values {
    struct jinja_value from;
    size_t taken;
};

static enum status next_value(struct jinja_run *r, struct percent_values *values, struct jinja_value *out) {
    struct jinja_value v = values->from;
    bool tuple = v.type == JINJA_LIST && v.list->kind == JINJA_SEQUENCE_TUPLE;
    if (values->taken >= (tuple ? v.list->n : 1)) return jinja_fail(r, "not enough arguments for format string");
    *out = tuple ? v.list->at[values->taken] : v;
    values->taken++;
    return STATUS_OK;
}

static enum status named_value(struct jinja_run *r, const struct jinja_string *f, size_t *at,
                               struct percent_values *values, struct jinja_value *out) {
    size_t begin = *at + 1;
    const char *close = memchr(f->text + begin, ')', f->n - begin);
    if (!close) return jinja_fail(r, "incomplete format key");
    *at = (size_t)(close - f->text) + 1;
    if (values->from.type != JINJA_MAPPING) return jinja_fail(r, "format requires a mapping");
    const struct jinja_value *v = jinja_mapping_text(values->from.mapping, f->text + begin, *at - 1 - begin);
    if (!v) return jinja_fail(r, "the mapping lacks a key of the format");
    *out = *v;
    values->taken = 1;
    return STATUS_OK;
}

static enum status percent_integer(struct jinja_run *r, struct jinja_sink *k, struct jinja_value v,
                                   struct jinja_format_spec *spec) {
    if (spec->type == 'i' || spec->type == 'u') spec->type = 'd';
    spec->precision = -1;
    if (v.type == JINJA_FLOAT && spec->type == 'd' && v.real > -0x1p63 && v.real < 0x1p63) {
        return jinja_format_integer(r, k, (int64_t)v.real, spec);
    }
    if (v.type != JINJA_INT && v.type != JINJA_BOOL) {
        return jinja_fail(r, "%%%c format: a real number is required, not %s", spec->type, jinja_type_name(v));
    }
    return jinja_format_integer(r, k, v.type == JINJA_INT ? v.integer : v.truth, spec);
}

static enum status percent_value(struct jinja_run *r, struct jinja_sink *k, struct jinja_value v,
                                 struct jinja_format_spec *spec) {
    const struct jinja_string *s;
    switch (spec->type) {
    case 's':
    case 'r':
    case 'a':
        TRY(as_text(r, v, spec->type != 's', &s));
        spec->type = 's';
        spec->zero = false;
        if (!spec->align) spec->align = '>';
        return jinja_format_text(r, k, s, spec);
    case 'c':
        if (v.type == JINJA_STRING && jinja_text_length(v.string) == 1) {
            spec->type = 's';
            spec->align = spec->align ? spec->align : '>';
            return jinja_format_text(r, k, v.string, spec);
        }
        return percent_integer(r, k, v, spec);
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': return percent_integer(r, k, v, spec);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        if (!jinja_is_number(v)) return jinja_fail(r, "must be real number, not %s", jinja_type_name(v));
        return jinja_format_float(r, k, jinja_to_double(v), spec);
    default: return jinja_fail(r, "unsupported format character");
    }
}

// Flags, width and precision behind a %, up to the letter.
static enum status percent_spec(struct jinja_run *r, const struct jinja_string *f, size_t *at,
                                struct jinja_format_spec *out) {
    *out = (struct jinja_format_spec){.precision = -1};
    for (; *at < f->n && strchr("-+ 0#", f->text[*at]) && f->text[*at]; ++*at) {
        char c = f->text[*at];
        if (c == '-') out->align = '<';
        else if (c == '0') out->zero = true;
        else if (c == '#') out->alternate = true;
        else if (out->sign != '+') out->sign = c;
    }
    if (out->align) out->zero = false;
    out->width = jinja_format_number(f->text, f->n, at);
    if (*at < f->n && f->text[*at] == '.') {
        ++*at;
        out->precision = jinja_format_number(f->text, f->n, at);
    }
    if (*at < f->n && f->text[*at] == '*') return jinja_fail(r, "a width or precision of * is not supported");
    if (*at >= f->n) return jinja_fail(r, "incomplete format");
    out->type = f->text[(*at)++];
    return STATUS_OK;
}

enum status jinja_format_percent(struct jinja_run *r, const struct jinja_string *f, struct jinja_value from,
                                 struct jinja_value *out) {
    struct percent_values values = {.from = from};
    struct jinja_sink k;
    jinja_sink_init(&k, r->arena, r->output_limit);
    for (size_t at = 0; at < f->n && k.failed == STATUS_OK;) {
        const char *percent = memchr(f->text + at, '%', f->n - at);
        size_t next = percent ? (size_t)(percent - f->text) : f->n;
        add_plain(&k, f, at, next);
        at = next + 1;
        if (!percent) break;
        struct jinja_format_spec spec;
        struct jinja_value v = {.type = JINJA_ABSENT};
        TRY(jinja_steps(r, 1));
        if (at < f->n && f->text[at] == '(') TRY(named_value(r, f, &at, &values, &v));
        TRY(percent_spec(r, f, &at, &spec));
        if (spec.type == '%') {
            jinja_sink_plain(&k, "%");
            continue;
        }
        if (v.type == JINJA_ABSENT) TRY(next_value(r, &values, &v));
        TRY(percent_value(r, &k, v, &spec));
    }
    bool tuple = from.type == JINJA_LIST && from.list->kind == JINJA_SEQUENCE_TUPLE;
    // What can be indexed counts as a mapping, and that may go unused.
    bool indexable = from.type == JINJA_MAPPING || from.type == JINJA_LIST || from.type == JINJA_UNDEFINED;
    if (values.taken < (tuple ? from.list->n : indexable ? 0 : 1)) {
        return jinja_fail(r, "not all arguments converted during string formatting");
    }
    return end_formatted(&k, f, out);
}

// The field name of braces: "", "0" or "name", then .attribute and [index] parts.
struct field {
    const char *text;
    size_t n;
    size_t next; // number of the next unnamed one
    bool numbered; // one had a number
};

static enum status field_base(struct jinja_run *r, struct field *f, const struct jinja_arguments *a, size_t n,
                              struct jinja_value *out) {
    struct jinja_string name = {.text = f->text, .n = n};
    int64_t place = 0;
    bool fits = true;
    if (n == 0 || jinja_read_integer(&name, 10, &place, &fits)) {
        if (n == 0) place = (int64_t)f->next++;
        else f->numbered = true;
        if (f->numbered && f->next) return jinja_fail(r, "numbered and automatic fields are mixed");
        if (!fits || place < 0 || (uint64_t)place >= a->n) {
            return jinja_fail(r, "Replacement index %lld out of range for positional args tuple", (long long)place);
        }
        *out = a->at[place];
        return STATUS_OK;
    }
    for (size_t i = 0; i < a->n_named; i++) {
        if (jinja_text_compare(a->named[i].name, &name) != 0) continue;
        *out = a->named[i].value;
        return STATUS_OK;
    }
    return jinja_fail(r, "'%.*s'", n > 60 ? 60 : (int)n, f->text);
}

static enum status field_value(struct jinja_run *r, struct field *f, const struct jinja_arguments *a,
                               struct jinja_value *out) {
    size_t at = 0;
    while (at < f->n && f->text[at] != '.' && f->text[at] != '[') at++;
    TRY(field_base(r, f, a, at, out));
    while (at < f->n) {
        bool bracket = f->text[at] == '[';
        size_t begin = ++at;
        while (at < f->n && (bracket ? f->text[at] != ']' : f->text[at] != '.' && f->text[at] != '[')) at++;
        struct jinja_value part;
        int64_t number;
        bool fits;
        if (at == begin) return jinja_fail(r, "Empty attribute in format string");
        TRY(jinja_string_borrow(r->arena, f->text + begin, at - begin, false, &part));
        if (bracket && jinja_read_integer(part.string, 10, &number, &fits) && fits) part = jinja_int(number);
        if (bracket) TRY(jinja_item(r, *out, part, out));
        else TRY(jinja_attribute(r, *out, part.string, out));
        at += bracket;
    }
    return STATUS_OK;
}

static enum status put_field(struct jinja_run *r, struct jinja_sink *k, struct jinja_value v, char conversion,
                             const struct jinja_string *spec_text) {
    struct jinja_format_spec spec;
    const struct jinja_string *s;
    TRY(jinja_format_spec_read(r, spec_text->text, spec_text->n, &spec));
    if (conversion || !spec_text->n) {
        TRY(as_text(r, v, conversion == 'r' || conversion == 'a', &s));
        return jinja_format_text(r, k, s, &spec);
    }
    if (v.type == JINJA_STRING) return jinja_format_text(r, k, v.string, &spec);
    if (v.type == JINJA_FLOAT) return jinja_format_float(r, k, v.real, &spec);
    if (jinja_is_number(v)) return jinja_format_integer(r, k, v.type == JINJA_INT ? v.integer : v.truth, &spec);
    return jinja_fail(r, "unsupported format string passed to %s.__format__", jinja_type_name(v));
}

// One replacement between braces: name, !conversion, :specification.
static enum status put_braces(struct jinja_run *r, struct jinja_sink *k, struct field *f,
                              const struct jinja_arguments *a) {
    const char *text = f->text;
    size_t n = f->n;
    const char *colon = memchr(text, ':', n), *bang = memchr(text, '!', colon ? (size_t)(colon - text) : n);
    size_t end = bang ? (size_t)(bang - text) : colon ? (size_t)(colon - text) : n;
    struct jinja_string spec = {.text = text + n};
    struct jinja_value v;
    if (memchr(text, '{', n)) return jinja_fail(r, "a format field inside a format field is not supported");
    if (colon) spec = (struct jinja_string){.text = colon + 1, .n = n - (size_t)(colon + 1 - text)};
    char conversion = bang && end + 1 < n ? bang[1] : 0;
    if (bang && conversion != 's' && conversion != 'r' && conversion != 'a') {
        return jinja_fail(r, "Unknown conversion specifier in a format string");
    }
    f->n = end;
    TRY(field_value(r, f, a, &v));
    return put_field(r, k, v, conversion, &spec);
}

enum status jinja_format_braces(struct jinja_run *r, const struct jinja_string *format,
                                const struct jinja_arguments *a, struct jinja_value *out) {
    struct field f = {0};
    struct jinja_sink k;
    const char *text = format->text;
    jinja_sink_init(&k, r->arena, r->output_limit);
    for (size_t at = 0; at < format->n && k.failed == STATUS_OK;) {
        size_t begin = at;
        while (at < format->n && text[at] != '{' && text[at] != '}') at++;
        add_plain(&k, format, begin, at);
        if (at == format->n) break;
        TRY(jinja_steps(r, 1));
        if (at + 1 < format->n && text[at + 1] == text[at]) { // a doubled brace stands for itself
            add_plain(&k, format, at, at + 1);
            at += 2;
            continue;
        }
        const char *close = text[at] == '{' ? memchr(text + at, '}', format->n - at) : NULL;
        if (!close) return jinja_fail(r, "Single '%c' encountered in format string", text[at]);
        f.text = text + at + 1;
        f.n = (size_t)(close - f.text);
        TRY(put_braces(r, &k, &f, a));
        at = (size_t)(close - text) + 1;
    }
    return end_formatted(&k, format, out);
}
