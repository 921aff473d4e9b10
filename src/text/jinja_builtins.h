// Filters, tests, methods and global functions: tables of names, and how they take their arguments.
#ifndef TF_TEXT_JINJA_BUILTINS_H
#define TF_TEXT_JINJA_BUILTINS_H

#include "text/jinja_value.h"

struct jinja_run;

struct jinja_named {
    const struct jinja_string *name;
    struct jinja_value value;
};

// Arguments as they were written.
struct jinja_arguments {
    const struct jinja_value *at;
    size_t n;
    const struct jinja_named *named;
    size_t n_named;
};

enum { JINJA_PARAMETERS_MAX = 5 };

// What a builtin is called with: `arg` holds its parameters in order, JINJA_ABSENT where one was not given.
struct jinja_call {
    struct jinja_value self; // the filtered or tested value, the object of a method
    struct jinja_value arg[JINJA_PARAMETERS_MAX];
    const struct jinja_arguments *raw;
};

typedef enum status jinja_builtin_fn(struct jinja_run *r, const struct jinja_call *call, struct jinja_value *out);

struct jinja_builtin {
    const char *name;
    jinja_builtin_fn *fn;
    const char *parameters; // names with spaces between; NULL: it reads `raw` itself
    unsigned required;      // how many of them must be given
};

// NULL when there is none of that name.
const struct jinja_builtin *jinja_filter_find(const char *name, size_t n);
const struct jinja_builtin *jinja_test_find(const char *name, size_t n);
const struct jinja_builtin *jinja_global_find(const char *name, size_t n);
const struct jinja_builtin *jinja_method_find(struct jinja_value self, const char *name, size_t n);

// True for methods that exist in Python but change the object, which the sandbox forbids.
bool jinja_method_is_unsafe(struct jinja_value self, const char *name, size_t n);

// Sorts the arguments into parameters and calls.
enum status jinja_builtin_call(struct jinja_run *r, const struct jinja_builtin *b, struct jinja_value self,
                               const struct jinja_arguments *arguments, struct jinja_value *out) TF_MUST_CHECK;

const struct jinja_builtin *jinja_builtin_find(const struct jinja_builtin *table, size_t count, const char *name,
                                               size_t n);

// The tables that jinja_filter_find and jinja_method_find search, one a file.
struct jinja_builtin_table {
    const struct jinja_builtin *at;
    size_t n;
};
extern const struct jinja_builtin_table jinja_text_filters, jinja_list_filters, jinja_select_filters,
    jinja_number_filters, jinja_string_methods;

// An argument as a whole number, a flag, a text; `fallback` where it was not given (for a number: or is none).
enum status jinja_argument_int(struct jinja_run *r, struct jinja_value v, int64_t fallback, int64_t *out) TF_MUST_CHECK;
bool jinja_argument_flag(struct jinja_value v, bool fallback);
enum status jinja_argument_text(struct jinja_run *r, struct jinja_value v, const struct jinja_string *fallback,
                                const struct jinja_string **out) TF_MUST_CHECK;

#endif
