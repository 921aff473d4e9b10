// Oniguruma's syntax to PCRE2's: what both spell alike is copied, classes and borders are spelled out.
#include "text/regex.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "text/regex_class.h"
#include "text/unicode.h"

#include <string.h>

enum { GROUPS_MAX = 64, SHARED_MAX = 64, SMALL = 8 };

struct translation {
    struct regex_reader in;
    struct buf *out;
    bool shared;
    struct buf defined;                // the classes that are called by number, one after another
    size_t defined_at[SHARED_MAX + 2]; // where each begins, and where the next would
    size_t n_defined;
    bool dot_all[GROUPS_MAX]; // by depth of groups
    size_t depth;
    bool may_repeat; // something stands before that a quantifier can follow
};

static void write_set(struct buf *out, const struct char_set *set) {
    buf_byte(out, '[');
    for (size_t i = 0; i < set->n; i++) {
        buf_printf(out, "\\x{%x}", set->ranges[i].first);
        if (set->ranges[i].last > set->ranges[i].first) buf_printf(out, "-\\x{%x}", set->ranges[i].last);
    }
    buf_byte(out, ']');
}

// The number of that class among the shared ones; a new one is defined. 0 when there are too many.
static size_t share(struct translation *t, const struct char_set *set) {
    size_t begin = t->defined.n;
    write_set(&t->defined, set);
    if (t->defined.failed != STATUS_OK) return 0;
    size_t n = t->defined.n - begin;
    for (size_t i = 0; i < t->n_defined; i++) {
        if (t->defined_at[i + 1] - t->defined_at[i] != n) continue;
        if (memcmp(t->defined.data + t->defined_at[i], t->defined.data + begin, n) != 0) continue;
        t->defined.n = begin;
        return i + 1;
    }
    if (t->n_defined == SHARED_MAX) {
        t->defined.n = begin;
        return 0;
    }
    t->defined_at[++t->n_defined] = t->defined.n;
    return t->n_defined;
}

static void put_set(struct translation *t, const struct char_set *set) {
    size_t number = t->shared && set->n > SMALL ? share(t, set) : 0;
    if (set->n == 0) buf_text(t->out, "(?!)");
    else if (number) buf_printf(t->out, "(?%zu)", number);
    else write_set(t->out, set);
}

static void put_char(struct translation *t, uint32_t c) {
    char bytes[4];
    if (c < 0x80 && !(unicode_class(c) & UNICODE_WORD)) buf_printf(t->out, "\\x{%x}", c);
    else buf_append(t->out, bytes, utf8_put(c, bytes));
}

static enum status no_memory(struct translation *t) {
    return err_set(t->in.e, STATUS_NO_MEMORY, "no memory for a regular expression");
}

// \b and \B out of looks to both sides.
static enum status put_border(struct translation *t, bool border) {
    static const char *const looks[2][4] = {{"(?:(?<=", ")(?=", ")|(?<!", ")(?!"},
                                            {"(?:(?<=", ")(?!", ")|(?<!", ")(?="}};
    struct char_set word = {0};
    bool enough = regex_add_word(&word, false);
    for (size_t i = 0; i < 4 && enough; i++) {
        buf_text(t->out, looks[border][i]);
        put_set(t, &word);
    }
    buf_text(t->out, "))");
    char_set_fini(&word);
    return enough ? STATUS_OK : no_memory(t);
}

static enum status escape(struct translation *t) {
    size_t from = t->in.at - 1;
    uint32_t c = regex_peek(&t->in);
    t->may_repeat = !(c == 'A' || c == 'z' || c == 'Z' || c == 'b' || c == 'B');
    if (!t->may_repeat) {
        regex_take(&t->in);
        if (c == 'b' || c == 'B') return put_border(t, c == 'b');
        buf_printf(t->out, "\\%c", (char)c);
        return STATUS_OK;
    }
    if (c >= '0' && c <= '9') {
        regex_take(&t->in);
        return regex_refuse(&t->in, from);
    }
    struct char_set set = {0};
    bool is_set = false;
    enum status status = regex_escape(&t->in, false, &set, &is_set, &c);
    if (status == STATUS_OK && is_set) put_set(t, &set);
    if (status == STATUS_OK && !is_set) put_char(t, c);
    char_set_fini(&set);
    return status;
}

static enum status class(struct translation *t) {
    struct char_set set = {0};
    enum status status = regex_class(&t->in, &set, 0);
    if (status == STATUS_OK) put_set(t, &set);
    char_set_fini(&set);
    t->may_repeat = true;
    return status;
}

static enum status any_char(struct translation *t) {
    struct char_set none = {0};
    bool enough = t->dot_all[t->depth] || char_set_add(&none, '\n', '\n');
    enough = enough && char_set_invert(&none);
    if (enough) put_set(t, &none);
    char_set_fini(&none);
    t->may_repeat = true;
    return enough ? STATUS_OK : no_memory(t);
}

static enum status enter_group(struct translation *t, size_t from, bool dot_all) {
    if (t->depth + 1 == GROUPS_MAX) return regex_refuse(&t->in, from);
    t->dot_all[++t->depth] = dot_all;
    return STATUS_OK;
}

// (?im-im) or (?im-im: after the question mark. Alone it counts up to the end of the group; Oniguruma and PCRE2 agree
// on that only where the group begins with it.
static enum status options(struct translation *t, size_t from) {
    bool on = true, dot_all = t->dot_all[t->depth], first = from == 0 || t->in.pattern[from - 1] == '(';
    uint32_t c;
    buf_text(t->out, "(?");
    while ((c = regex_take(&t->in)) != ')' && c != ':') {
        if (c == 'm') dot_all = on;
        else if (c != 'i' && !(c == '-' && on)) return regex_refuse(&t->in, from);
        if (c == '-') on = false;
        if (c != 'm') buf_byte(t->out, (char)c);
    }
    buf_byte(t->out, (char)c);
    if (c == ':') return enter_group(t, from, dot_all);
    t->dot_all[t->depth] = dot_all;
    return first ? STATUS_OK : regex_refuse(&t->in, from);
}

// Groups that capture capture nothing here: no back-reference is supported.
static enum status open_group(struct translation *t) {
    static const char *const kinds[] = {"?:", "?=", "?!", "?<=", "?<!", "?>"};
    enum { N_KINDS = sizeof kinds / sizeof kinds[0] };
    size_t from = t->in.at - 1, kind = 0;
    t->may_repeat = false;
    if (regex_peek(&t->in) == '?') {
        while (kind < N_KINDS && !regex_accept(&t->in, kinds[kind])) kind++;
        if (kind == N_KINDS) {
            regex_take(&t->in);
            return options(t, from);
        }
    }
    buf_printf(t->out, "(%s", kinds[kind]);
    return enter_group(t, from, t->dot_all[t->depth]);
}

// The digits of a number below 1000; -1 for none.
static int number(struct regex_reader *r) {
    int value = -1;
    for (uint32_t c; (c = regex_peek(r)) >= '0' && c <= '9' && value < 100; regex_take(r))
        value = (value < 0 ? 0 : value) * 10 + (int)(c - '0');
    return value;
}

// {n}, {n,}, {,m} or {n,m} after the brace; false when it is none, and then the brace stands for itself.
static bool interval(struct translation *t) {
    struct regex_reader at = t->in;
    int least = number(&at), most = least;
    if (regex_accept(&at, ",")) most = number(&at);
    else if (least < 0) return false;
    if (!regex_accept(&at, "}") || (least < 0 && most < 0)) return false;
    bool comma = t->in.pattern[at.at - 2] == ',' || most != least;
    buf_printf(t->out, "{%d", least < 0 ? 0 : least);
    if (comma) buf_byte(t->out, ',');
    if (comma && most >= 0) buf_printf(t->out, "%d", most);
    buf_byte(t->out, '}');
    t->in = at;
    return true;
}

// What may follow a quantifier: ? for the fewest, + for no giving back.
static enum status after_quantifier(struct translation *t, bool counted, size_t from) {
    if (regex_accept(&t->in, "?")) buf_byte(t->out, '?');
    else if (!counted && regex_accept(&t->in, "+")) buf_byte(t->out, '+');
    t->may_repeat = false;
    uint32_t next = regex_peek(&t->in);
    if (next != '*' && next != '+' && next != '?') return STATUS_OK;
    regex_take(&t->in);
    return regex_refuse(&t->in, from);
}

static enum status close_group(struct translation *t, size_t from) {
    if (t->depth == 0) return regex_refuse(&t->in, from);
    t->depth--;
    t->may_repeat = true;
    buf_byte(t->out, ')');
    return STATUS_OK;
}

static enum status item(struct translation *t) {
    size_t from = t->in.at;
    uint32_t c = regex_take(&t->in);
    switch (c) {
    case '\\': return escape(t);
    case '[': return class(t);
    case '.': return any_char(t);
    case '(': return open_group(t);
    case ')': return close_group(t, from);
    case '|':
        t->may_repeat = false;
        buf_byte(t->out, '|');
        return STATUS_OK;
    case '^':
    case '$': // of a line
        t->may_repeat = false;
        buf_printf(t->out, "(?m:%c)", (char)c);
        return STATUS_OK;
    case '*':
    case '+':
    case '?':
        if (!t->may_repeat) return regex_refuse(&t->in, from);
        buf_byte(t->out, (char)c);
        return after_quantifier(t, false, from);
    case '{':
        if (t->may_repeat && interval(t)) return after_quantifier(t, true, from);
        break;
    default: break;
    }
    put_char(t, c);
    t->may_repeat = true;
    return STATUS_OK;
}

static enum status translate(struct translation *t, struct buf *out) {
    while (t->in.at < t->in.n) TRY(item(t));
    if (t->depth) return regex_refuse(&t->in, 0);
    if (t->n_defined) buf_text(out, "(?(DEFINE)");
    for (size_t i = 0; i < t->n_defined; i++) {
        buf_byte(out, '(');
        buf_append(out, t->defined.data + t->defined_at[i], t->defined_at[i + 1] - t->defined_at[i]);
        buf_byte(out, ')');
    }
    if (t->n_defined) buf_byte(out, ')');
    if (t->out->n) buf_append(out, t->out->data, t->out->n);
    return STATUS_OK;
}

enum status regex_translate(const char *pattern, size_t n, bool shared, struct buf *out, struct err *e) {
    struct buf body;
    struct translation t = {.in = {.pattern = pattern, .n = n, .e = e}, .out = &body, .shared = shared};
    buf_init(&body, out->limit);
    buf_init(&t.defined, out->limit);
    enum status status = translate(&t, out), failed = body.failed != STATUS_OK ? body.failed : t.defined.failed;
    if (failed == STATUS_OK) failed = out->failed;
    buf_fini(&body);
    buf_fini(&t.defined);
    if (status != STATUS_OK || failed == STATUS_OK) return status;
    return err_set(e, failed, "a regular expression of %zu bytes is too large", n);
}
