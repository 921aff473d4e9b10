// GGUF metadata: keys and values read in one pass, strings of arrays indexed so that each is found at once.
#include "checkpoint/gguf.h"

#include "base/float16.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum gguf_type {
    GGUF_TYPE_U8,
    GGUF_TYPE_I8,
    GGUF_TYPE_U16,
    GGUF_TYPE_I16,
    GGUF_TYPE_U32,
    GGUF_TYPE_I32,
    GGUF_TYPE_F32,
    GGUF_TYPE_BOOL,
    GGUF_TYPE_STRING,
    GGUF_TYPE_ARRAY,
    GGUF_TYPE_U64,
    GGUF_TYPE_I64,
    GGUF_TYPE_F64,
    GGUF_TYPE_COUNT
};

// Bytes of a value; 0 where they vary.
static const uint8_t type_bytes[GGUF_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct entry {
    const char *key; // terminated, owned by the arena
    uint32_t type;   // of the value, or of an array's elements
    bool is_array;
    size_t n;             // an array's elements, or a string's bytes
    const uint8_t *data;  // the value, or an array's first element; a terminated copy of a string
    const uint64_t *ends; // array of strings: where each ends, counted from `data`
};

struct gguf_meta {
    struct entry *entries; // sorted by key
    size_t n;
    uint64_t n_elements; // strings in arrays and inner arrays met so far
    struct arena arena;
};

static enum status no_memory(struct gguf_cursor *c) {
    return err_set(c->e, STATUS_NO_MEMORY, "%s: no memory for its metadata", c->path);
}

static enum status check_type(struct gguf_cursor *c, const char *key, uint32_t type) {
    if (type < GGUF_TYPE_COUNT) return STATUS_OK;
    return err_set(c->e, STATUS_INVALID, "%s: key \"%s\": value type %" PRIu32 " is not known", c->path, key, type);
}

static enum status count_elements(struct gguf_cursor *c, struct gguf_meta *m, const char *key, uint64_t n) {
    // Each string or inner array takes at least 8 bytes, so a count beyond that is a lie; say so before walking.
    if (n > (c->n - c->at) / 8) {
        return err_set(c->e, STATUS_INVALID, "%s: key \"%s\": an array of %" PRIu64 " leads past the end of the file",
                       c->path, key, n);
    }
    if (n <= GGUF_ELEMENTS_MAX - m->n_elements) {
        m->n_elements += n;
        return STATUS_OK;
    }
    return err_set(c->e, STATUS_TOO_LARGE,
                   "%s: key \"%s\": %" PRIu64 " strings and inner arrays are over the limit of %d", c->path, key, n,
                   GGUF_ELEMENTS_MAX);
}

static enum status index_strings(struct gguf_cursor *c, struct gguf_meta *m, struct entry *v) {
    uint64_t *ends = arena_new(&m->arena, v->n, sizeof *ends);
    if (!ends) return no_memory(c);
    for (size_t i = 0; i < v->n; i++) {
        const char *text;
        size_t n;
        TRY(gguf_take_text(c, "key", v->key, &text, &n));
        ends[i] = (uint64_t)(c->bytes + c->at - v->data);
    }
    v->ends = ends;
    return STATUS_OK;
}

static enum status skip_array(struct gguf_cursor *c, struct gguf_meta *m, const char *key, uint32_t depth);

static enum status skip_elements(struct gguf_cursor *c, struct gguf_meta *m, const char *key, uint32_t type, uint64_t n,
                                 uint32_t depth) {
    if (type_bytes[type]) return gguf_skip(c, "key", key, n, type_bytes[type]);
    TRY(count_elements(c, m, key, n));
    for (uint64_t i = 0; i < n; i++) {
        const char *text;
        size_t bytes;
        if (type == GGUF_TYPE_ARRAY)
            TRY(skip_array(c, m, key, depth + 1));
        else
            TRY(gguf_take_text(c, "key", key, &text, &bytes));
    }
    return STATUS_OK;
}

static enum status skip_array(struct gguf_cursor *c, struct gguf_meta *m, const char *key, uint32_t depth) {
    uint32_t type;
    uint64_t n;
    if (depth > GGUF_NESTING_MAX) {
        return err_set(c->e, STATUS_INVALID, "%s: key \"%s\": arrays nested deeper than %d", c->path, key,
                       GGUF_NESTING_MAX);
    }
    TRY(gguf_take_u32(c, "key", key, &type));
    TRY(check_type(c, key, type));
    TRY(gguf_take_u64(c, "key", key, &n));
    return skip_elements(c, m, key, type, n, depth);
}

static enum status read_array(struct gguf_cursor *c, struct gguf_meta *m, struct entry *v) {
    uint64_t n;
    TRY(gguf_take_u32(c, "key", v->key, &v->type));
    TRY(check_type(c, v->key, v->type));
    TRY(gguf_take_u64(c, "key", v->key, &n));
    v->is_array = true;
    v->n = (size_t)n;
    v->data = c->bytes + c->at;
    if (v->type != GGUF_TYPE_STRING) return skip_elements(c, m, v->key, v->type, n, 1);
    TRY(count_elements(c, m, v->key, n));
    return index_strings(c, m, v);
}

static enum status read_value(struct gguf_cursor *c, struct gguf_meta *m, struct entry *v) {
    TRY(gguf_take_u32(c, "key", v->key, &v->type));
    TRY(check_type(c, v->key, v->type));
    if (v->type == GGUF_TYPE_ARRAY) return read_array(c, m, v);
    v->data = c->bytes + c->at;
    if (v->type != GGUF_TYPE_STRING) return gguf_skip(c, "key", v->key, 1, type_bytes[v->type]);
    const char *text;
    TRY(gguf_take_text(c, "key", v->key, &text, &v->n));
    v->data = (const uint8_t *)arena_string(&m->arena, text, v->n);
    return v->data ? STATUS_OK : no_memory(c);
}

static enum status read_key(struct gguf_cursor *c, struct gguf_meta *m, size_t i, struct entry *v) {
    const char *text, *last = i > 0 ? v[-1].key : "";
    size_t n;
    TRY(gguf_take_text(c, "key after", last, &text, &n));
    if (n == 0 || n > GGUF_KEY_MAX || !utf8_valid(text, n)) {
        return err_set(c->e, STATUS_INVALID, "%s: the name of key %zu, after \"%s\", has %zu bytes or is no UTF-8 text",
                       c->path, i, last, n);
    }
    for (size_t j = 0; j < n; j++) {
        if ((uint8_t)text[j] >= 0x20 && text[j] != 0x7f) continue;
        return err_set(c->e, STATUS_INVALID, "%s: key %zu, \"%.*s...\": its name holds a control character", c->path, i,
                       (int)j, text);
    }
    v->key = arena_string(&m->arena, text, n);
    return v->key ? STATUS_OK : no_memory(c);
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const struct entry *)a)->key, ((const struct entry *)b)->key);
}

static enum status read_entries(struct gguf_cursor *c, struct gguf_meta *m, size_t n) {
    m->entries = mem_new(n, sizeof *m->entries);
    if (!m->entries) return no_memory(c);
    for (size_t i = 0; i < n; i++) {
        TRY(read_key(c, m, i, &m->entries[i]));
        TRY(read_value(c, m, &m->entries[i]));
        m->n++;
    }
    if (n) qsort(m->entries, n, sizeof *m->entries, compare_entries);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(m->entries[i - 1].key, m->entries[i].key) != 0) continue;
        return err_set(c->e, STATUS_INVALID, "%s: key \"%s\" appears twice", c->path, m->entries[i].key);
    }
    return STATUS_OK;
}

enum status gguf_meta_read(struct gguf_cursor *c, uint64_t n_keys, struct gguf_meta **out) {
    *out = NULL;
    if (n_keys > GGUF_KEYS_MAX) {
        return err_set(c->e, STATUS_TOO_LARGE, "%s: %" PRIu64 " metadata keys are over the limit of %d", c->path,
                       n_keys, GGUF_KEYS_MAX);
    }
    struct gguf_meta *m = mem_new(1, sizeof *m);
    if (!m) return no_memory(c);
    arena_init(&m->arena, c->n + GGUF_ELEMENTS_MAX * sizeof(uint64_t) + GGUF_KEYS_MAX * 64);
    enum status status = read_entries(c, m, (size_t)n_keys);
    if (status != STATUS_OK) {
        gguf_meta_free(m);
        return status;
    }
    *out = m;
    return STATUS_OK;
}

void gguf_meta_free(struct gguf_meta *m) {
    if (!m) return;
    mem_free(m->entries);
    arena_fini(&m->arena);
    mem_free(m);
}

static struct setting signed_setting(int64_t v) {
    if (v < 0) return (struct setting){.kind = SETTING_NEGATIVE, .real = (double)v};
    return (struct setting){.kind = SETTING_WHOLE, .whole = (uint64_t)v, .real = (double)v};
}

static struct setting unsigned_setting(uint64_t v) {
    return (struct setting){.kind = SETTING_WHOLE, .whole = v, .real = (double)v};
}

static double double_from_bits(uint64_t u) {
    double f;
    memcpy(&f, &u, sizeof f);
    return f;
}

// A value of fixed size at p, little-endian.
static struct setting read_scalar(enum gguf_type type, const uint8_t *p) {
    uint64_t u = 0;
    for (int i = type_bytes[type] - 1; i >= 0; i--) u = u << 8 | p[i];
    switch (type) {
    case GGUF_TYPE_I8:
        return signed_setting((int8_t)u);
    case GGUF_TYPE_I16:
        return signed_setting((int16_t)u);
    case GGUF_TYPE_I32:
        return signed_setting((int32_t)u);
    case GGUF_TYPE_I64:
        return signed_setting((int64_t)u);
    case GGUF_TYPE_F32:
        return (struct setting){.kind = SETTING_REAL, .real = (double)float_from_bits((uint32_t)u)};
    case GGUF_TYPE_F64:
        return (struct setting){.kind = SETTING_REAL, .real = double_from_bits(u)};
    case GGUF_TYPE_BOOL:
        return (struct setting){.kind = SETTING_BOOL, .truth = u != 0};
    default:
        return unsigned_setting(u);
    }
}

static int compare_key(const void *key, const void *entry) { return strcmp(key, ((const struct entry *)entry)->key); }

struct setting gguf_meta_find(const struct gguf_meta *m, const char *key) {
    const struct entry *v = m->n ? bsearch(key, m->entries, m->n, sizeof *m->entries, compare_key) : NULL;
    if (!v) return (struct setting){.kind = SETTING_NONE};
    if (v->is_array) return (struct setting){.kind = SETTING_ARRAY, .n = v->n, .array = v};
    if (v->type == GGUF_TYPE_STRING) {
        return (struct setting){.kind = SETTING_TEXT, .text = (const char *)v->data, .n = v->n};
    }
    return read_scalar((enum gguf_type)v->type, v->data);
}

struct setting gguf_meta_at(const struct setting *array, size_t i) {
    const struct entry *v = array->array;
    if (v->type == GGUF_TYPE_ARRAY) return (struct setting){.kind = SETTING_ARRAY}; // an inner array: shown as empty
    if (v->type != GGUF_TYPE_STRING) return read_scalar((enum gguf_type)v->type, v->data + i * type_bytes[v->type]);
    uint64_t start = (i > 0 ? v->ends[i - 1] : 0) + sizeof(uint64_t); // past the length in front of the text
    return (struct setting){.kind = SETTING_TEXT, .text = (const char *)v->data + start, .n = v->ends[i] - start};
}
