// Compiling and rendering: the entry, and the evaluator's faults, budgets and scopes.
#include "text/jinja_run.h"

#include "base/mem.h"
#include "text/jinja_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COMPILE_BYTES = 256 << 20, OUTPUT_BYTES = 16 << 20, MEMORY_BYTES = 256 << 20, STEPS = 10 * 1000 * 1000 };

struct jinja {
    struct arena arena;
    struct jinja_nodes body;
};

enum status jinja_compile(const char *text, size_t n, struct jinja **out, struct err *e) {
    struct jinja *j = mem_new(1, sizeof *j);
    if (!j) return err_set(e, STATUS_NO_MEMORY, "no memory for a template");
    arena_init(&j->arena, COMPILE_BYTES);
    enum status status = jinja_parse(&j->arena, text, n, &j->body, e);
    if (status != STATUS_OK) {
        jinja_free(j);
        return status;
    }
    *out = j;
    return STATUS_OK;
}

void jinja_free(struct jinja *j) {
    if (!j) return;
    arena_fini(&j->arena);
    mem_free(j);
}

void jinja_output_fini(struct jinja_output *o) {
    mem_free(o->text);
    mem_free(o->pieces);
    *o = (struct jinja_output){0};
}

enum status jinja_fail(struct jinja_run *r, const char *format, ...) {
    char message[480];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return err_set(r->e, STATUS_INVALID, "%s", message);
}

enum status jinja_fail_undefined(struct jinja_run *r, struct jinja_value v) {
    struct jinja_sink k;
    struct jinja_value text;
    jinja_sink_init(&k, r->arena, r->output_limit);
    TRY(jinja_print_undefined(&k, v.undefined, r->e));
    TRY(jinja_sink_end(&k, &text));
    return jinja_fail(r, "%.*s", text.string->n > 400 ? 400 : (int)text.string->n, text.string->text);
}

enum status jinja_locate(struct jinja_run *r, const struct jinja_node *node, enum status status) {
    if (r->located) return status;
    r->located = true;
    err_set(r->e, status, "the template's values or output are too large");
    err_prefix(r->e, "line %u, column %u", node->line, node->column);
    return status;
}

enum status jinja_steps(struct jinja_run *r, size_t n) {
    if (n > r->steps_left) return err_set(r->e, STATUS_TOO_LARGE, "the template takes too many steps");
    r->steps_left -= n;
    return STATUS_OK;
}

enum status jinja_open_scope(struct jinja_run *r, struct jinja_scope *parent) {
    struct jinja_scope *s = arena_new(r->arena, 1, sizeof *s);
    if (!s) return STATUS_TOO_LARGE;
    s->parent = parent;
    r->scope = s;
    return STATUS_OK;
}

enum status jinja_bind(struct jinja_run *r, const struct jinja_string *name, struct jinja_value v) {
    for (struct jinja_binding *b = r->scope->first; b; b = b->next) {
        if (b->name != name) continue;
        b->value = v;
        return STATUS_OK;
    }
    struct jinja_binding *b = arena_new(r->arena, 1, sizeof *b);
    if (!b) return STATUS_TOO_LARGE;
    *b = (struct jinja_binding){name, v, r->scope->first};
    r->scope->first = b;
    return STATUS_OK;
}

static enum status lookup_builtin(struct jinja_run *r, const struct jinja_string *name, struct jinja_value *out) {
    const struct jinja_builtin *b = jinja_global_find(name->text, name->n);
    if (b && !r->clock && strcmp(b->name, "strftime_now") == 0) b = NULL;
    if (b) {
        struct jinja_callable *c = arena_new(r->arena, 1, sizeof *c);
        if (!c) return STATUS_TOO_LARGE;
        c->builtin = b;
        *out = (struct jinja_value){.type = JINJA_CALLABLE, .callable = c};
        return STATUS_OK;
    }
    struct jinja_undefined *u = arena_new(r->arena, 1, sizeof *u);
    if (!u) return STATUS_TOO_LARGE;
    u->key = (struct jinja_value){.type = JINJA_STRING, .string = name};
    *out = (struct jinja_value){.type = JINJA_UNDEFINED, .undefined = u};
    return STATUS_OK;
}

enum status jinja_lookup(struct jinja_run *r, const struct jinja_string *name, struct jinja_value *out) {
    for (const struct jinja_scope *s = r->scope; s; s = s->parent) {
        for (const struct jinja_binding *b = s->first; b; b = b->next) {
            if (b->name != name) continue;
            *out = b->value;
            return STATUS_OK;
        }
    }
    const struct jinja_value *v = jinja_mapping_text(r->globals, name->text, name->n);
    if (!v) return lookup_builtin(r, name, out);
    *out = *v;
    return STATUS_OK;
}

void jinja_callable_print(struct jinja_sink *k, const struct jinja_callable *c) {
    jinja_sink_plain(k, c->macro ? "<Macro '" : "<function ");
    if (c->macro) jinja_sink_string(k, c->macro->definition->name);
    else jinja_sink_plain(k, c->builtin->name);
    jinja_sink_plain(k, c->macro ? "'>" : ">");
}

struct jinja_sink *jinja_capture(struct jinja_run *r, struct jinja_sink *inner) {
    struct jinja_sink *outer = r->sink;
    jinja_sink_init(inner, r->arena, r->output_limit);
    r->sink = inner;
    return outer;
}

enum status jinja_to_string(struct jinja_run *r, struct jinja_value v, const struct jinja_string **out) {
    struct jinja_value text = v;
    if (v.type != JINJA_STRING) {
        struct jinja_sink k;
        jinja_sink_init(&k, r->arena, r->output_limit);
        TRY(jinja_print(&k, v, r->e));
        TRY(jinja_sink_end(&k, &text));
    }
    *out = text.string;
    return STATUS_OK;
}

enum status jinja_make_safe(struct jinja_run *r, struct jinja_value *v) {
    struct jinja_string *s = arena_new(r->arena, 1, sizeof *s);
    if (!s) return STATUS_TOO_LARGE;
    *s = *v->string;
    s->safe = true;
    v->string = s;
    return STATUS_OK;
}

// Copies the sink's text and turns its marks into pieces.
static enum status hand_over(const struct jinja_sink *k, struct jinja_output *out) {
    out->text = mem_string(k->text ? k->text : "", k->n);
    out->pieces = mem_new(2 * k->n_marks + 1, sizeof *out->pieces);
    if (!out->text || !out->pieces) return STATUS_NO_MEMORY;
    out->n = k->n;
    size_t at = 0;
    for (size_t i = 0; i < k->n_marks; i++) {
        struct jinja_span m = k->marks[i];
        if (m.begin > at) out->pieces[out->n_pieces++] = (struct jinja_piece){at, m.begin, false};
        out->pieces[out->n_pieces++] = (struct jinja_piece){m.begin, m.end, true};
        at = m.end;
    }
    if (at < k->n) out->pieces[out->n_pieces++] = (struct jinja_piece){at, k->n, false};
    return STATUS_OK;
}

enum status jinja_render(const struct jinja *j, const struct jinja_value *root, const struct jinja_options *options,
                         struct jinja_output *out, struct err *e) {
    struct jinja_options o = options ? *options : (struct jinja_options){0};
    struct err unheard = {0};
    struct arena arena;
    struct jinja_sink sink;
    size_t limit = o.output_bytes ? o.output_bytes : OUTPUT_BYTES;
    *out = (struct jinja_output){0};
    arena_init(&arena, o.memory_bytes ? o.memory_bytes : MEMORY_BYTES);
    jinja_sink_init(&sink, &arena, limit);
    struct jinja_run r = {.arena = &arena, .e = e ? e : &unheard, .sink = &sink, .output_limit = limit,
                          .globals = root->mapping, .clock = o.clock, .steps_left = o.steps ? o.steps : STEPS};
    enum status status = jinja_open_scope(&r, NULL);
    if (status == STATUS_OK) status = jinja_eval_body(&r, &j->body);
    if (status == STATUS_OK) status = hand_over(&sink, out);
    arena_fini(&arena);
    if (status == STATUS_OK) return status;
    jinja_output_fini(out);
    return err_set(r.e, status, "no memory to render a template");
}
