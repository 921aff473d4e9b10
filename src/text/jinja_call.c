// Calls: evaluating arguments, running macros, sorting a builtin's arguments into its parameters.
#include "text/jinja_run.h"

#include <stdio.h>
#include <string.h>

static enum status spread_arguments(struct jinja_run *r, const struct jinja_node *n, struct jinja_list *all) {
    struct jinja_value v;
    const struct jinja_list *more;
    if (!n) return STATUS_OK;
    TRY(jinja_eval(r, n, &v));
    TRY(jinja_iterate(r, v, &more));
    for (size_t i = 0; i < more->n; i++) TRY(jinja_list_push(r->arena, all, more->at[i]));
    return STATUS_OK;
}

static enum status keyword_arguments(struct jinja_run *r, const struct jinja_call_arguments *from,
                                     struct jinja_mapping *all) {
    for (const struct jinja_keyword *k = from->keywords; k; k = k->next) {
        struct jinja_value v, name = {.type = JINJA_STRING, .string = k->name};
        TRY(jinja_eval(r, k->value, &v));
        TRY(jinja_mapping_set(r->arena, all, name, v));
    }
    if (!from->spread_keywords) return STATUS_OK;
    struct jinja_value v;
    TRY(jinja_eval(r, from->spread_keywords, &v));
    if (v.type != JINJA_MAPPING) {
        return jinja_fail(r, "argument after ** must be a mapping, not %s", jinja_type_name(v));
    }
    for (size_t i = 0; i < v.mapping->n; i++) {
        struct jinja_value key = v.mapping->at[i].key;
        if (key.type != JINJA_STRING) return jinja_fail(r, "keywords must be strings");
        if (jinja_mapping_find(all, key)) return jinja_fail(r, "got multiple values for a keyword argument");
        TRY(jinja_mapping_set(r->arena, all, key, v.mapping->at[i].value));
    }
    return STATUS_OK;
}

enum status jinja_eval_arguments(struct jinja_run *r, const struct jinja_call_arguments *from,
                                 struct jinja_arguments *out) {
    struct jinja_list *all;
    struct jinja_mapping *named;
    *out = (struct jinja_arguments){0};
    TRY(jinja_list_new(r->arena, from->positional.n, JINJA_SEQUENCE_TUPLE, &all));
    for (const struct jinja_node *n = from->positional.first; n; n = n->next) {
        struct jinja_value v;
        TRY(jinja_eval(r, n, &v));
        TRY(jinja_list_push(r->arena, all, v));
    }
    TRY(spread_arguments(r, from->spread, all));
    out->at = all->at;
    out->n = all->n;
    if (!from->keywords && !from->spread_keywords) return STATUS_OK;
    TRY(jinja_mapping_new(r->arena, 0, &named));
    TRY(keyword_arguments(r, from, named));
    struct jinja_named *list = arena_new(r->arena, named->n, sizeof *list);
    if (!list) return STATUS_TOO_LARGE;
    for (size_t i = 0; i < named->n; i++) list[i] = (struct jinja_named){named->at[i].key.string, named->at[i].value};
    out->named = list;
    out->n_named = named->n;
    return STATUS_OK;
}

enum status jinja_macro_new(struct jinja_run *r, const struct jinja_macro_definition *d, struct jinja_value *out) {
    struct jinja_macro *m = arena_new(r->arena, 1, sizeof *m);
    struct jinja_callable *c = arena_new(r->arena, 1, sizeof *c);
    if (!m || !c) return STATUS_TOO_LARGE;
    *m = (struct jinja_macro){d, r->scope};
    c->macro = m;
    *out = (struct jinja_value){.type = JINJA_CALLABLE, .callable = c};
    return STATUS_OK;
}

static const struct jinja_value *find_named(const struct jinja_arguments *a, const struct jinja_string *name,
                                            size_t *used) {
    for (size_t i = 0; i < a->n_named; i++) {
        if (a->named[i].name->n != name->n || memcmp(a->named[i].name->text, name->text, name->n) != 0) continue;
        ++*used;
        return &a->named[i].value;
    }
    return NULL;
}

static enum status missing_parameter(struct jinja_run *r, const struct jinja_string *name, struct jinja_value *out) {
    static const char format[] = "parameter '%.*s' was not provided";
    char *hint = arena_new(r->arena, name->n + sizeof format, 1);
    if (!hint) return STATUS_TOO_LARGE;
    snprintf(hint, name->n + sizeof format, format, (int)name->n, name->text);
    return jinja_undefined_hint(r, hint, out);
}

// Binds parameter number `i`: by place, by keyword, by its default, else undefined. *used counts keywords taken.
static enum status bind_parameter(struct jinja_run *r, const struct jinja_macro_definition *d,
                                  const struct jinja_arguments *a, size_t i, const struct jinja_node *name,
                                  size_t *used) {
    struct jinja_value v;
    if (i < a->n) return jinja_bind(r, name->name, a->at[i]);
    const struct jinja_value *named = find_named(a, name->name, used);
    if (named) return jinja_bind(r, name->name, *named);
    size_t first_default = d->parameters.n - d->defaults.n;
    if (i >= first_default) {
        const struct jinja_node *value = d->defaults.first;
        for (size_t k = first_default; k < i; k++) value = value->next;
        TRY(jinja_eval(r, value, &v));
    } else {
        TRY(missing_parameter(r, name->name, &v));
    }
    return jinja_bind(r, name->name, v);
}

// Whether a keyword gave a parameter its value: one that got it by place already leaves the keyword over.
static bool is_taken(const struct jinja_macro_definition *d, const struct jinja_arguments *a,
                     const struct jinja_string *name) {
    size_t place = 0;
    for (const struct jinja_node *n = d->parameters.first; n; n = n->next, place++) {
        if (place >= a->n && n->name->n == name->n && memcmp(n->name->text, name->text, name->n) == 0) return true;
    }
    return false;
}

// What is left over after the parameters: caller, varargs and kwargs where the macro mentions them, else a fault.
static enum status bind_rest(struct jinja_run *r, const struct jinja_macro_definition *d,
                             const struct jinja_arguments *a, size_t used) {
    struct jinja_list *more;
    struct jinja_mapping *rest;
    struct jinja_value v;
    if (d->caller) {
        const struct jinja_value *caller = find_named(a, d->caller, &used);
        if (caller) v = *caller;
        else TRY(jinja_undefined_hint(r, "No caller defined", &v));
        TRY(jinja_bind(r, d->caller, v));
    }
    if (!d->varargs && a->n > d->parameters.n) {
        return jinja_fail(r, "macro '%.*s' takes not more than %zu argument(s)", (int)d->name->n, d->name->text,
                          d->parameters.n);
    }
    if (d->varargs) {
        TRY(jinja_list_new(r->arena, 0, JINJA_SEQUENCE_TUPLE, &more));
        for (size_t i = d->parameters.n; i < a->n; i++) TRY(jinja_list_push(r->arena, more, a->at[i]));
        TRY(jinja_bind(r, d->varargs, jinja_of_list(more)));
    }
    if (!d->kwargs && used == a->n_named) return STATUS_OK;
    TRY(jinja_mapping_new(r->arena, 0, &rest));
    for (size_t i = 0; i < a->n_named; i++) {
        const struct jinja_string *name = a->named[i].name;
        bool is_caller = d->caller && jinja_text_compare(name, d->caller) == 0;
        if (is_caller || is_taken(d, a, name)) continue;
        if (!d->kwargs) {
            return jinja_fail(r, "macro '%.*s' takes no keyword argument '%.*s'", (int)d->name->n, d->name->text,
                              name->n > 60 ? 60 : (int)name->n, name->text);
        }
        v = (struct jinja_value){.type = JINJA_STRING, .string = name};
        TRY(jinja_mapping_set(r->arena, rest, v, a->named[i].value));
    }
    return d->kwargs ? jinja_bind(r, d->kwargs, jinja_of_mapping(rest)) : STATUS_OK;
}

static enum status call_macro(struct jinja_run *r, const struct jinja_macro *m, const struct jinja_arguments *a,
                              struct jinja_value *out) {
    const struct jinja_macro_definition *d = m->definition;
    struct jinja_scope *present = r->scope;
    size_t i = 0, used = 0;
    TRY(jinja_open_scope(r, m->scope));
    for (const struct jinja_node *n = d->parameters.first; n; n = n->next) TRY(bind_parameter(r, d, a, i++, n, &used));
    TRY(bind_rest(r, d, a, used));
    struct jinja_sink inner, *outer = jinja_capture(r, &inner);
    TRY(jinja_eval_body(r, &d->body));
    r->sink = outer;
    r->scope = present;
    return jinja_sink_end(&inner, out);
}

enum status jinja_call_value(struct jinja_run *r, struct jinja_value callee, const struct jinja_arguments *a,
                             struct jinja_value *out) {
    if (callee.type == JINJA_UNDEFINED) return jinja_fail_undefined(r, callee);
    if (callee.type == JINJA_LOOP) return jinja_loop_call(r, callee.loop, a, out);
    if (callee.type != JINJA_CALLABLE) return jinja_fail(r, "'%s' object is not callable", jinja_type_name(callee));
    if (callee.callable->macro) return call_macro(r, callee.callable->macro, a, out);
    return jinja_builtin_call(r, callee.callable->builtin, callee.callable->self, a, out);
}

enum status jinja_eval_call(struct jinja_run *r, const struct jinja_node *n, struct jinja_value caller,
                            struct jinja_value *out) {
    static const struct jinja_string caller_name = {.text = "caller", .n = 6};
    struct jinja_value callee;
    struct jinja_arguments a;
    TRY(jinja_eval(r, n->call.of, &callee));
    TRY(jinja_eval_arguments(r, &n->call.arguments, &a));
    if (caller.type == JINJA_ABSENT) return jinja_call_value(r, callee, &a, out);
    struct jinja_named *named = arena_new(r->arena, a.n_named + 1, sizeof *named);
    if (!named) return STATUS_TOO_LARGE;
    if (a.n_named) memcpy(named, a.named, a.n_named * sizeof *named);
    named[a.n_named] = (struct jinja_named){&caller_name, caller};
    a.named = named;
    a.n_named++;
    return jinja_call_value(r, callee, &a, out);
}

const struct jinja_builtin *jinja_builtin_find(const struct jinja_builtin *table, size_t count, const char *name,
                                               size_t n) {
    for (size_t i = 0; i < count; i++) {
        if (strlen(table[i].name) == n && memcmp(table[i].name, name, n) == 0) return &table[i];
    }
    return NULL;
}

// Place of a name in "one two three", or -1.
static int parameter_place(const char *parameters, const struct jinja_string *name) {
    int place = 0;
    for (const char *at = parameters; *at; place++) {
        size_t n = strcspn(at, " ");
        if (n == name->n && memcmp(at, name->text, n) == 0) return place;
        at += n;
        at += *at == ' ';
    }
    return -1;
}

static size_t count_parameters(const char *parameters) {
    size_t n = *parameters != '\0';
    for (const char *at = parameters; *at; at++) n += *at == ' ';
    return n;
}

static enum status place_arguments(struct jinja_run *r, const struct jinja_builtin *b, const struct jinja_arguments *a,
                                   struct jinja_call *call) {
    size_t n = count_parameters(b->parameters);
    if (a->n > n) return jinja_fail(r, "%s() takes at most %zu argument(s), got %zu", b->name, n, a->n);
    for (size_t i = 0; i < a->n; i++) call->arg[i] = a->at[i];
    for (size_t i = 0; i < a->n_named; i++) {
        const struct jinja_string *name = a->named[i].name;
        int length = name->n > 60 ? 60 : (int)name->n, place = parameter_place(b->parameters, name);
        if (place < 0) {
            return jinja_fail(r, "%s() got an unexpected keyword argument '%.*s'", b->name, length, name->text);
        }
        if (call->arg[place].type != JINJA_ABSENT) {
            return jinja_fail(r, "%s() got multiple values for argument '%.*s'", b->name, length, name->text);
        }
        call->arg[place] = a->named[i].value;
    }
    for (size_t i = 0; i < b->required; i++) {
        if (call->arg[i].type == JINJA_ABSENT) return jinja_fail(r, "%s() misses a required argument", b->name);
    }
    return STATUS_OK;
}

enum status jinja_builtin_call(struct jinja_run *r, const struct jinja_builtin *b, struct jinja_value self,
                               const struct jinja_arguments *arguments, struct jinja_value *out) {
    struct jinja_call call = {.self = self, .raw = arguments};
    if (b->parameters) TRY(place_arguments(r, b, arguments, &call));
    return b->fn(r, &call, out);
}
