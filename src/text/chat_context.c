// The variables of a chat template, and the day that it is told.
#include "text/chat_context.h"

#include "text/chat_switches.h"
#include "text/jinja_json.h"

#include <string.h>

struct day {
    int64_t seconds; // since 1970, at midnight
    bool read;
};

static int64_t tell_day(void *context) {
    struct day *d = context;
    d->read = true;
    return d->seconds;
}

// Days since 1970-01-01 of a day in the Gregorian calendar, by counting from 1 March of year 0.
static int64_t days_since_1970(int year, int month, int day) {
    int y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    return (int64_t)y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool digits(const char *text, int n, int *out) {
    *out = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return true;
}

static bool read_day(const char *text, struct day *out) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    bool ok = strlen(text) == 10 && text[4] == '-' && text[7] == '-' && digits(text, 4, &year) &&
              digits(text + 5, 2, &month) && digits(text + 8, 2, &day);
    if (ok) ok = year >= 1 && month >= 1 && month <= 12 && day >= 1;
    if (ok) {
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        ok = day <= lengths[month - 1] + (month == 2 && leap);
    }
    if (ok) out->seconds = days_since_1970(year, month, day) * 86400;
    return ok;
}

bool chat_context_is_day(const char *text) {
    struct day day;
    return read_day(text, &day);
}

static enum status put_token(struct arena *a, struct jinja_mapping *root, const char *name, const char *token) {
    struct jinja_value v;
    if (!token[0]) return STATUS_OK;
    TRY(jinja_string_borrow(a, token, strlen(token), false, &v));
    return jinja_mapping_put(a, root, name, v);
}

// Tools and documents are always there, perhaps as none; a special token that the tokenizer lacks is not there at all.
static enum status put_variables(const struct chat_context *c, struct arena *a, const struct chat_values *v,
                                 struct jinja_mapping *root) {
    TRY(jinja_mapping_put(a, root, "messages", v->messages));
    TRY(jinja_mapping_put(a, root, "tools", v->tools));
    TRY(jinja_mapping_put(a, root, "documents", jinja_none()));
    TRY(jinja_mapping_put(a, root, "add_generation_prompt", jinja_bool(v->add_generation_prompt)));
    TRY(put_token(a, root, "bos_token", c->bos));
    return put_token(a, root, "eos_token", c->eos);
}

static enum status put_kwargs(struct arena *a, yyjson_val *kwargs, struct jinja_mapping *root, struct err *e) {
    static const char *const ours[] = {"messages", "tools", "add_generation_prompt"};
    size_t i, n;
    yyjson_val *key, *value;
    if (!kwargs || yyjson_is_null(kwargs)) return STATUS_OK;
    if (!yyjson_is_obj(kwargs)) return err_set(e, STATUS_INVALID, "chat_template_kwargs: must be an object");
    yyjson_obj_foreach(kwargs, i, n, key, value) {
        struct jinja_value name, v;
        for (size_t k = 0; k < sizeof ours / sizeof ours[0]; k++) {
            if (!yyjson_equals_str(key, ours[k])) continue;
            return err_set(e, STATUS_INVALID, "chat_template_kwargs.%s: is given by the request itself", ours[k]);
        }
        TRY(jinja_value_from_json(a, value, true, &v, e));
        TRY(jinja_string_copy(a, yyjson_get_str(key), yyjson_get_len(key), true, &name));
        TRY(jinja_mapping_set(a, root, name, v));
    }
    return STATUS_OK;
}

enum status chat_context_render(const struct chat_context *c, struct arena *a, const struct chat_values *v,
                                const struct jinja_options *limits, struct jinja_output *out, bool *read_date,
                                struct err *e) {
    struct day day = {0};
    struct jinja_clock clock = {tell_day, &day};
    struct jinja_options options = limits ? *limits : (struct jinja_options){0};
    struct jinja_mapping *root;
    if (v->date && !read_day(v->date, &day)) {
        return err_set(e, STATUS_INVALID, "date: \"%.20s\" is no day of the form YYYY-MM-DD", v->date);
    }
    options.clock = v->date ? &clock : NULL;
    enum status s = jinja_mapping_new(a, 16, &root);
    if (s == STATUS_OK) s = put_variables(c, a, v, root);
    if (s == STATUS_OK) s = put_kwargs(a, v->kwargs, root, e);
    if (s == STATUS_OK) s = chat_switches_put(v->switches, v->kwargs, a, root);
    if (s != STATUS_OK) return err_set(e, s, "the messages of a chat need more than %zu bytes", a->limit_bytes);
    struct jinja_value globals = jinja_of_mapping(root);
    s = jinja_render(c->jinja, &globals, &options, out, e);
    if (s != STATUS_OK) err_prefix(e, "chat template");
    *read_date = day.read;
    return s;
}
