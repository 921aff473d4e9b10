// Values of the template language: built in one arena, immutable but for namespaces; strings know their data bytes.
#ifndef TF_TEXT_JINJA_VALUE_H
#define TF_TEXT_JINJA_VALUE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum jinja_type {
    JINJA_ABSENT, // an argument that was not given; never seen by a template
    JINJA_UNDEFINED,
    JINJA_NONE,
    JINJA_BOOL,
    JINJA_INT,
    JINJA_FLOAT,
    JINJA_STRING,
    JINJA_LIST, // every kind of sequence: enum jinja_sequence
    JINJA_MAPPING,
    JINJA_NAMESPACE,
    JINJA_CALLABLE,
    JINJA_LOOP
};

struct jinja_value {
    enum jinja_type type;
    union {
        bool truth;
        int64_t integer;
        double real;
        const struct jinja_string *string;
        struct jinja_list *list;
        struct jinja_mapping *mapping; // of a namespace too
        const struct jinja_callable *callable;
        const struct jinja_undefined *undefined;
        struct jinja_loop *loop;
    };
};

// Bytes [begin, end) of a string that came out of data.
struct jinja_span {
    size_t begin, end;
};

// UTF-8 text, not terminated. A part cut out of a string and strings joined keep their marks byte by byte; any other
// transformation of a string with marks is marked as a whole, because text from people must never become a control
// token.
struct jinja_string {
    const char *text;
    size_t n;
    const struct jinja_span *marks; // rising, apart from each other
    size_t n_marks;
    bool safe; // went through `safe` or `escape`: what is added to it by + gets escaped
};

// The kinds behave alike but for their printed text and for what Python forbids on some of them.
enum jinja_sequence {
    JINJA_SEQUENCE_LIST,
    JINJA_SEQUENCE_GROUP, // of groupby: a tuple whose two items have names
    JINJA_SEQUENCE_TUPLE,
    JINJA_SEQUENCE_GENERATOR, // no length, no index, gone once it was iterated over
    JINJA_SEQUENCE_RANGE,
    JINJA_SEQUENCE_KEYS,
    JINJA_SEQUENCE_VALUES,
    JINJA_SEQUENCE_ITEMS
};

struct jinja_list {
    struct jinja_value *at;
    size_t n, cap;
    enum jinja_sequence kind;
};

struct jinja_entry {
    struct jinja_value key, value;
    uint64_t hash;
};

// Entries in the order of their first insertion.
struct jinja_mapping {
    struct jinja_entry *at;
    size_t n, cap;
    uint32_t *slots; // open addressing, n_slots a power of two; entry + 1, 0 = free; NULL while there are few entries
    size_t n_slots;
};

// Why a value is undefined; jinja_undefined_message words it as jinja2 does.
struct jinja_undefined {
    const char *hint;       // the whole message where it is a fixed one
    const char *owner;      // type text of what was looked into, NULL for a plain name
    struct jinja_value key; // the name, attribute or index
    bool unsafe;            // it exists, but the sandbox forbids it
};

// Constructors return STATUS_TOO_LARGE without a message when the arena is full.

static inline struct jinja_value jinja_none(void) { return (struct jinja_value){.type = JINJA_NONE}; }
static inline struct jinja_value jinja_bool(bool b) { return (struct jinja_value){.type = JINJA_BOOL, .truth = b}; }
static inline struct jinja_value jinja_int(int64_t i) { return (struct jinja_value){.type = JINJA_INT, .integer = i}; }
static inline struct jinja_value jinja_float(double d) { return (struct jinja_value){.type = JINJA_FLOAT, .real = d}; }
static inline struct jinja_value jinja_of_list(struct jinja_list *l) {
    return (struct jinja_value){.type = JINJA_LIST, .list = l};
}
static inline struct jinja_value jinja_of_mapping(struct jinja_mapping *m) {
    return (struct jinja_value){.type = JINJA_MAPPING, .mapping = m};
}

// A string over text that outlives the arena's values (it is not copied). `marked` says that all of it is data.
enum status jinja_string_borrow(struct arena *a, const char *text, size_t n, bool marked,
                                struct jinja_value *out) TF_MUST_CHECK;
// The same over a copy.
enum status jinja_string_copy(struct arena *a, const char *text, size_t n, bool marked,
                              struct jinja_value *out) TF_MUST_CHECK;

// An empty sequence with room for `cap` values.
enum status jinja_list_new(struct arena *a, size_t cap, enum jinja_sequence kind,
                           struct jinja_list **out) TF_MUST_CHECK;
enum status jinja_list_push(struct arena *a, struct jinja_list *l, struct jinja_value v) TF_MUST_CHECK;

enum status jinja_mapping_new(struct arena *a, size_t cap, struct jinja_mapping **out) TF_MUST_CHECK;
// Sets or replaces. `key` must be hashable (jinja_is_key).
enum status jinja_mapping_set(struct arena *a, struct jinja_mapping *m, struct jinja_value key,
                              struct jinja_value value) TF_MUST_CHECK;
// Sets a key given as a terminated string that outlives the arena's values.
enum status jinja_mapping_put(struct arena *a, struct jinja_mapping *m, const char *key,
                              struct jinja_value value) TF_MUST_CHECK;

bool jinja_is_key(struct jinja_value v); // none, bool, int, float or string
// NULL when the key is not there.
const struct jinja_value *jinja_mapping_find(const struct jinja_mapping *m, struct jinja_value key);
const struct jinja_value *jinja_mapping_text(const struct jinja_mapping *m, const char *key, size_t n);

// Python's `==` between two hashable values.
bool jinja_key_equal(struct jinja_value a, struct jinja_value b);

// int or float or bool as a double; exact comparison of two numbers: -1, 0, 1, or 2 when one is NaN.
bool jinja_is_number(struct jinja_value v);
double jinja_to_double(struct jinja_value v);
int jinja_number_compare(struct jinja_value a, struct jinja_value b);

bool jinja_truth(struct jinja_value v);
const char *jinja_type_name(struct jinja_value v); // Python's: "str", "dict", ...

static inline bool jinja_is_text(struct jinja_value v, const char *text, size_t n) {
    return v.type == JINJA_STRING && v.string->n == n && (n == 0 || __builtin_memcmp(v.string->text, text, n) == 0);
}

#endif
