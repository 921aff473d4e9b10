// Building values, finding keys, truth and number comparison.
#include "text/jinja_value.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

enum { FEW_ENTRIES = 8 }; // a mapping this small is searched in order

enum status jinja_string_borrow(struct arena *a, const char *text, size_t n, bool marked, struct jinja_value *out) {
    struct jinja_string *s = arena_new(a, 1, sizeof *s);
    if (!s) return STATUS_TOO_LARGE;
    *s = (struct jinja_string){.text = text, .n = n};
    if (marked && n) {
        struct jinja_span *all = arena_new(a, 1, sizeof *all);
        if (!all) return STATUS_TOO_LARGE;
        *all = (struct jinja_span){0, n};
        s->marks = all;
        s->n_marks = 1;
    }
    *out = (struct jinja_value){.type = JINJA_STRING, .string = s};
    return STATUS_OK;
}

enum status jinja_string_copy(struct arena *a, const char *text, size_t n, bool marked, struct jinja_value *out) {
    const char *copy = arena_string(a, text, n);
    if (!copy) return STATUS_TOO_LARGE;
    return jinja_string_borrow(a, copy, n, marked, out);
}

// Room for one more of `n` elements of `size` bytes in an arena array.
static enum status grow(struct arena *a, void **at, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return STATUS_OK;
    size_t more = *cap ? *cap * 2 : 4;
    void *bigger = arena_new(a, more, size);
    if (!bigger) return STATUS_TOO_LARGE;
    if (n) memcpy(bigger, *at, n * size);
    *at = bigger;
    *cap = more;
    return STATUS_OK;
}

enum status jinja_list_new(struct arena *a, size_t cap, enum jinja_sequence kind, struct jinja_list **out) {
    struct jinja_list *l = arena_new(a, 1, sizeof *l);
    if (!l) return STATUS_TOO_LARGE;
    *l = (struct jinja_list){.cap = cap, .kind = kind};
    if (cap && !(l->at = arena_new(a, cap, sizeof *l->at))) return STATUS_TOO_LARGE;
    *out = l;
    return STATUS_OK;
}

enum status jinja_list_push(struct arena *a, struct jinja_list *l, struct jinja_value v) {
    void *at = l->at;
    TRY(grow(a, &at, l->n, &l->cap, sizeof *l->at));
    l->at = at;
    l->at[l->n++] = v;
    return STATUS_OK;
}

bool jinja_is_key(struct jinja_value v) {
    return v.type == JINJA_NONE || v.type == JINJA_STRING || jinja_is_number(v);
}

static uint64_t hash_key(struct jinja_value v) {
    if (v.type == JINJA_STRING) {
        uint64_t h = 0xcbf29ce484222325u;
        for (size_t i = 0; i < v.string->n; i++) h = (h ^ (uint8_t)v.string->text[i]) * 0x100000001b3u;
        return h ^ (h >> 32);
    }
    if (v.type == JINJA_NONE) return 0;
    // Equal numbers must meet whatever their type; a double holds them all closely enough for a hash.
    double d = jinja_to_double(v) + 0.0;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    bits *= 0x9e3779b97f4a7c15u;
    return bits ^ (bits >> 32);
}

bool jinja_key_equal(struct jinja_value a, struct jinja_value b) {
    if (a.type == JINJA_STRING) return b.type == JINJA_STRING && jinja_is_text(a, b.string->text, b.string->n);
    if (jinja_is_number(a)) return jinja_is_number(b) && jinja_number_compare(a, b) == 0;
    return a.type == b.type && a.type == JINJA_NONE;
}

enum status jinja_mapping_new(struct arena *a, size_t cap, struct jinja_mapping **out) {
    struct jinja_mapping *m = arena_new(a, 1, sizeof *m);
    if (!m) return STATUS_TOO_LARGE;
    m->cap = cap;
    if (cap && !(m->at = arena_new(a, cap, sizeof *m->at))) return STATUS_TOO_LARGE;
    *out = m;
    return STATUS_OK;
}

static void put_slot(struct jinja_mapping *m, size_t entry) {
    size_t i = m->at[entry].hash & (m->n_slots - 1);
    while (m->slots[i]) i = (i + 1) & (m->n_slots - 1);
    m->slots[i] = (uint32_t)entry + 1;
}

static enum status rehash(struct arena *a, struct jinja_mapping *m) {
    size_t n_slots = m->n_slots ? m->n_slots * 2 : (size_t)FEW_ENTRIES * 4;
    uint32_t *slots = arena_new(a, n_slots, sizeof *slots);
    if (!slots || m->n >= UINT32_MAX - 1) return STATUS_TOO_LARGE;
    m->slots = slots;
    m->n_slots = n_slots;
    for (size_t i = 0; i < m->n; i++) put_slot(m, i);
    return STATUS_OK;
}

static struct jinja_entry *find_entry(const struct jinja_mapping *m, struct jinja_value key, uint64_t hash) {
    if (!m->slots) {
        for (size_t i = 0; i < m->n; i++) {
            if (m->at[i].hash == hash && jinja_key_equal(m->at[i].key, key)) return &m->at[i];
        }
        return NULL;
    }
    for (size_t i = hash & (m->n_slots - 1); m->slots[i]; i = (i + 1) & (m->n_slots - 1)) {
        struct jinja_entry *e = &m->at[m->slots[i] - 1];
        if (e->hash == hash && jinja_key_equal(e->key, key)) return e;
    }
    return NULL;
}

enum status jinja_mapping_set(struct arena *a, struct jinja_mapping *m, struct jinja_value key,
                              struct jinja_value value) {
    uint64_t hash = hash_key(key);
    struct jinja_entry *e = find_entry(m, key, hash);
    if (e) {
        e->value = value;
        return STATUS_OK;
    }
    void *at = m->at;
    TRY(grow(a, &at, m->n, &m->cap, sizeof *m->at));
    m->at = at;
    m->at[m->n++] = (struct jinja_entry){key, value, hash};
    if (m->n > FEW_ENTRIES && m->n * 2 > m->n_slots) return rehash(a, m);
    if (m->slots) put_slot(m, m->n - 1);
    return STATUS_OK;
}

enum status jinja_mapping_put(struct arena *a, struct jinja_mapping *m, const char *key, struct jinja_value value) {
    struct jinja_value name;
    TRY(jinja_string_borrow(a, key, strlen(key), false, &name));
    return jinja_mapping_set(a, m, name, value);
}

const struct jinja_value *jinja_mapping_find(const struct jinja_mapping *m, struct jinja_value key) {
    const struct jinja_entry *e = find_entry(m, key, hash_key(key));
    return e ? &e->value : NULL;
}

const struct jinja_value *jinja_mapping_text(const struct jinja_mapping *m, const char *key, size_t n) {
    struct jinja_string s = {.text = key, .n = n};
    return jinja_mapping_find(m, (struct jinja_value){.type = JINJA_STRING, .string = &s});
}

bool jinja_is_number(struct jinja_value v) {
    return v.type == JINJA_INT || v.type == JINJA_FLOAT || v.type == JINJA_BOOL;
}

static int64_t to_integer(struct jinja_value v) { return v.type == JINJA_BOOL ? v.truth : v.integer; }

double jinja_to_double(struct jinja_value v) {
    return v.type == JINJA_FLOAT ? v.real : (double)to_integer(v);
}

// An integer and a double compare exactly: within +-2^63 the double's whole part fits, beyond it the sign decides.
static int compare_mixed(int64_t i, double d) {
    if (isnan(d)) return 2;
    if (d >= 0x1p63) return -1;
    if (d < -0x1p63) return 1;
    int64_t whole = (int64_t)d;
    if (i != whole) return i < whole ? -1 : 1;
    double rest = d - (double)whole;
    return rest > 0 ? -1 : rest < 0;
}

int jinja_number_compare(struct jinja_value a, struct jinja_value b) {
    bool a_float = a.type == JINJA_FLOAT, b_float = b.type == JINJA_FLOAT;
    if (a_float && b_float) {
        if (isnan(a.real) || isnan(b.real)) return 2;
        return a.real < b.real ? -1 : a.real > b.real;
    }
    if (b_float) return compare_mixed(to_integer(a), b.real);
    if (a_float) {
        int order = compare_mixed(to_integer(b), a.real);
        return order == 2 ? 2 : -order;
    }
    int64_t x = to_integer(a), y = to_integer(b);
    return x < y ? -1 : x > y;
}

bool jinja_truth(struct jinja_value v) {
    switch (v.type) {
    case JINJA_ABSENT:
    case JINJA_UNDEFINED:
    case JINJA_NONE: return false;
    case JINJA_BOOL: return v.truth;
    case JINJA_INT: return v.integer != 0;
    case JINJA_FLOAT: return v.real != 0;
    case JINJA_STRING: return v.string->n != 0;
    case JINJA_LIST: return v.list->n != 0 || v.list->kind == JINJA_SEQUENCE_GENERATOR;
    case JINJA_MAPPING: return v.mapping->n != 0;
    case JINJA_NAMESPACE:
    case JINJA_CALLABLE:
    case JINJA_LOOP: break;
    }
    return true;
}

static const char *sequence_name(enum jinja_sequence kind) {
    static const char *const names[] = {"list",      "_GroupTuple", "tuple",     "generator", "range",
                                        "dict_keys", "dict_values", "dict_items"};
    return names[kind];
}

const char *jinja_type_name(struct jinja_value v) {
    switch (v.type) {
    case JINJA_ABSENT:
    case JINJA_UNDEFINED: return "Undefined";
    case JINJA_NONE: return "NoneType";
    case JINJA_BOOL: return "bool";
    case JINJA_INT: return "int";
    case JINJA_FLOAT: return "float";
    case JINJA_STRING: return v.string->safe ? "Markup" : "str";
    case JINJA_LIST: return sequence_name(v.list->kind);
    case JINJA_MAPPING: return "dict";
    case JINJA_NAMESPACE: return "Namespace";
    case JINJA_CALLABLE: return "function";
    case JINJA_LOOP: return "LoopContext";
    }
    return "object";
}
