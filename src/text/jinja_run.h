// The evaluator's inside: the state of one rendering and what its files offer each other.
#ifndef TF_TEXT_JINJA_RUN_H
#define TF_TEXT_JINJA_RUN_H

#include "text/jinja.h"
#include "text/jinja_ast.h"
#include "text/jinja_builtins.h"
#include "text/jinja_print.h"

enum { JINJA_EVAL_DEPTH_MAX = 1000 }; // nested evaluations; bounds the C stack

struct jinja_binding {
    const struct jinja_string *name; // interned
    struct jinja_value value;
    struct jinja_binding *next;
};

// Names set inside a scope are seen by scopes inside it and end with it.
struct jinja_scope {
    struct jinja_scope *parent;
    struct jinja_binding *first;
};

// A macro together with the scope that it was defined in.
struct jinja_macro {
    const struct jinja_macro_definition *definition;
    struct jinja_scope *scope;
};

// Exactly one of `builtin` and `macro` is set; `self` is the object of a method.
struct jinja_callable {
    const struct jinja_builtin *builtin;
    const struct jinja_macro *macro;
    struct jinja_value self;
};

// A `for` loop that runs. Items pass the loop's filter only when they are reached or asked for.
struct jinja_loop {
    const struct jinja_node *node;
    struct jinja_scope *outer;
    const struct jinja_list *source;
    size_t taken;             // of `source`
    struct jinja_list *items; // what passed so far; the source itself where there is no filter
    size_t index;             // of the current item, from 0
    int64_t depth;            // of recursive calls, from 0
    struct jinja_value changed; // arguments of the last loop.changed()
};

enum jinja_jump { JINJA_JUMP_NONE, JINJA_JUMP_BREAK, JINJA_JUMP_CONTINUE };

struct jinja_run {
    struct arena *arena; // all values
    struct err *e;       // never NULL
    bool located;        // the message has its line already, or must have none
    struct jinja_sink *sink; // where printed text goes now
    size_t output_limit;
    struct jinja_scope *scope;
    const struct jinja_mapping *globals;
    const struct jinja_clock *clock; // NULL: strftime_now does not exist
    uint64_t steps_left;
    unsigned depth;
    enum jinja_jump jump; // a break or continue on its way to its loop
};

// jinja_run.c: faults, budgets, scopes.
enum status jinja_fail(struct jinja_run *r, const char *format, ...) TF_PRINTF(2, 3);
enum status jinja_fail_undefined(struct jinja_run *r, struct jinja_value v); // as jinja2 words it
enum status jinja_locate(struct jinja_run *r, const struct jinja_node *node, enum status status);
enum status jinja_steps(struct jinja_run *r, size_t n) TF_MUST_CHECK;
enum status jinja_open_scope(struct jinja_run *r, struct jinja_scope *parent) TF_MUST_CHECK;
enum status jinja_bind(struct jinja_run *r, const struct jinja_string *name, struct jinja_value v) TF_MUST_CHECK;
enum status jinja_lookup(struct jinja_run *r, const struct jinja_string *name, struct jinja_value *out) TF_MUST_CHECK;
void jinja_callable_print(struct jinja_sink *k, const struct jinja_callable *c);

// Sends printed text into `inner` until the sink that this returns is put back.
struct jinja_sink *jinja_capture(struct jinja_run *r, struct jinja_sink *inner);

// jinja_eval_expression.c
enum status jinja_eval(struct jinja_run *r, const struct jinja_node *n, struct jinja_value *out) TF_MUST_CHECK;
// A FILTER chain whose innermost input is `input`.
enum status jinja_eval_filters(struct jinja_run *r, const struct jinja_node *n, struct jinja_value input,
                               struct jinja_value *out) TF_MUST_CHECK;

// jinja_eval_statement.c and jinja_eval_loop.c
enum status jinja_eval_body(struct jinja_run *r, const struct jinja_nodes *body) TF_MUST_CHECK;
enum status jinja_assign(struct jinja_run *r, const struct jinja_node *target, struct jinja_value v) TF_MUST_CHECK;
enum status jinja_eval_for(struct jinja_run *r, const struct jinja_node *n) TF_MUST_CHECK;
enum status jinja_loop_attribute(struct jinja_run *r, struct jinja_loop *l, const struct jinja_string *name,
                                 struct jinja_value *out) TF_MUST_CHECK;
enum status jinja_loop_call(struct jinja_run *r, struct jinja_loop *l, const struct jinja_arguments *a,
                            struct jinja_value *out) TF_MUST_CHECK;

// jinja_call.c
enum status jinja_call_value(struct jinja_run *r, struct jinja_value callee, const struct jinja_arguments *a,
                             struct jinja_value *out) TF_MUST_CHECK;
// A CALL node; `caller` is passed as the keyword of that name unless it is absent.
enum status jinja_eval_call(struct jinja_run *r, const struct jinja_node *n, struct jinja_value caller,
                            struct jinja_value *out) TF_MUST_CHECK;
enum status jinja_eval_arguments(struct jinja_run *r, const struct jinja_call_arguments *from,
                                 struct jinja_arguments *out) TF_MUST_CHECK;
enum status jinja_macro_new(struct jinja_run *r, const struct jinja_macro_definition *d,
                            struct jinja_value *out) TF_MUST_CHECK;

// jinja_access.c
enum status jinja_attribute(struct jinja_run *r, struct jinja_value of, const struct jinja_string *name,
                            struct jinja_value *out) TF_MUST_CHECK;
// The same without looking at the keys of a mapping.
enum status jinja_attribute_only(struct jinja_run *r, struct jinja_value of, const struct jinja_string *name,
                                 struct jinja_value *out) TF_MUST_CHECK;
enum status jinja_item(struct jinja_run *r, struct jinja_value of, struct jinja_value index,
                       struct jinja_value *out) TF_MUST_CHECK;
enum status jinja_slice(struct jinja_run *r, struct jinja_value of, const struct jinja_value part[3],
                        struct jinja_value *out) TF_MUST_CHECK; // start, stop, step; none = left out
// Everything that a `for` would see, as a list that is not to be changed.
enum status jinja_iterate(struct jinja_run *r, struct jinja_value v, const struct jinja_list **out) TF_MUST_CHECK;
// (key, value) tuples of a mapping.
enum status jinja_items(struct jinja_run *r, const struct jinja_mapping *m, enum jinja_sequence kind,
                        struct jinja_list **out) TF_MUST_CHECK;
enum status jinja_length(struct jinja_run *r, struct jinja_value v, int64_t *out) TF_MUST_CHECK;
enum status jinja_undefined_hint(struct jinja_run *r, const char *hint, struct jinja_value *out) TF_MUST_CHECK;

// jinja_operators.c
enum status jinja_arithmetic(struct jinja_run *r, enum jinja_operator op, struct jinja_value a, struct jinja_value b,
                             struct jinja_value *out) TF_MUST_CHECK;
enum status jinja_negate(struct jinja_run *r, struct jinja_value v, bool plus, struct jinja_value *out) TF_MUST_CHECK;
// jinja_compare.c
enum status jinja_equal(struct jinja_run *r, struct jinja_value a, struct jinja_value b, bool *out) TF_MUST_CHECK;
// *out = a < b.
enum status jinja_less(struct jinja_run *r, struct jinja_value a, struct jinja_value b, bool *out) TF_MUST_CHECK;
enum status jinja_compare(struct jinja_run *r, enum jinja_operator op, struct jinja_value a, struct jinja_value b,
                          bool *out) TF_MUST_CHECK;
enum status jinja_contains(struct jinja_run *r, struct jinja_value in, struct jinja_value item,
                           bool *out) TF_MUST_CHECK;

// jinja_format.c: Python's % and str.format.
enum status jinja_format_percent(struct jinja_run *r, const struct jinja_string *format, struct jinja_value values,
                                 struct jinja_value *out) TF_MUST_CHECK;
enum status jinja_format_braces(struct jinja_run *r, const struct jinja_string *format,
                                const struct jinja_arguments *a, struct jinja_value *out) TF_MUST_CHECK;

// jinja_strftime.c: Python's strftime of `seconds` since 1970, with all names in English and no zone.
enum status jinja_strftime(struct jinja_run *r, const struct jinja_string *format, int64_t seconds,
                           struct jinja_value *out) TF_MUST_CHECK;

// Marks a string as escaped already.
enum status jinja_make_safe(struct jinja_run *r, struct jinja_value *v) TF_MUST_CHECK;
// str(v).
enum status jinja_to_string(struct jinja_run *r, struct jinja_value v, const struct jinja_string **out) TF_MUST_CHECK;

#endif
