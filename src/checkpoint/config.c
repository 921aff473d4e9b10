// Settings by key over a JSON document or GGUF metadata, with typed getters.
#include "checkpoint/config.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "checkpoint/gguf.h"
#include "checkpoint/setting.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONFIG_BYTES_MAX = 16 << 20 };

struct config {
    char *path;
    yyjson_doc *doc;        // NULL for GGUF
    struct gguf_meta *meta; // NULL for JSON; owned
};

static enum status create(const char *path, yyjson_doc *doc, struct gguf_meta *meta, struct config **out,
                          struct err *e) {
    struct config *c = mem_new(1, sizeof *c);
    char *copy = mem_string(path, strlen(path));
    if (!c || !copy) {
        mem_free(c);
        mem_free(copy);
        return err_set(e, STATUS_NO_MEMORY, "%s: no memory", path);
    }
    *c = (struct config){.path = copy, .doc = doc, .meta = meta};
    *out = c;
    return STATUS_OK;
}

enum status config_over_gguf(const char *path, struct gguf_meta *meta, struct config **out, struct err *e) {
    *out = NULL;
    return create(path, NULL, meta, out, e);
}

enum status config_parse(const char *path, const char *text, size_t n, struct config **out, struct err *e) {
    yyjson_doc *doc;
    *out = NULL;
    TRY(json_parse(path, text, n, &doc, e));
    enum status status = STATUS_OK;
    if (!yyjson_is_obj(yyjson_doc_get_root(doc))) status = err_set(e, STATUS_INVALID, "%s: not a JSON object", path);
    if (status == STATUS_OK) status = create(path, doc, NULL, out, e);
    if (status != STATUS_OK) yyjson_doc_free(doc);
    return status;
}

enum status config_read(const char *path, struct config **out, struct err *e) {
    char *text;
    size_t n;
    *out = NULL;
    TRY(file_read(path, CONFIG_BYTES_MAX, &text, &n, e));
    enum status status = config_parse(path, text, n, out, e);
    mem_free(text);
    return status;
}

void config_free(struct config *c) {
    if (!c) return;
    yyjson_doc_free(c->doc);
    gguf_meta_free(c->meta);
    mem_free(c->path);
    mem_free(c);
}

const char *config_file(const struct config *c) { return c->path; }
bool config_is_gguf(const struct config *c) { return c->meta != NULL; }

static struct setting from_json(yyjson_val *v) {
    if (!v || yyjson_is_null(v)) return (struct setting){.kind = SETTING_NONE};
    if (yyjson_is_bool(v)) return (struct setting){.kind = SETTING_BOOL, .truth = yyjson_get_bool(v)};
    if (yyjson_is_uint(v)) {
        uint64_t u = yyjson_get_uint(v);
        return (struct setting){.kind = SETTING_WHOLE, .whole = u, .real = (double)u};
    }
    if (yyjson_is_sint(v)) return (struct setting){.kind = SETTING_NEGATIVE, .real = (double)yyjson_get_sint(v)};
    if (yyjson_is_real(v)) return (struct setting){.kind = SETTING_REAL, .real = yyjson_get_real(v)};
    if (yyjson_is_str(v))
        return (struct setting){.kind = SETTING_TEXT, .text = yyjson_get_str(v), .n = yyjson_get_len(v)};
    if (yyjson_is_arr(v)) return (struct setting){.kind = SETTING_ARRAY, .n = yyjson_arr_size(v), .array = v};
    return (struct setting){.kind = SETTING_OBJECT};
}

// Steps into objects along the dots. A step into something that is no object is told from an absent key, so that a
// setting in an unexpected form is refused and not replaced by a default.
static struct setting find_json(const struct config *c, const char *key) {
    yyjson_val *v = yyjson_doc_get_root(c->doc);
    for (const char *dot; v && !yyjson_is_null(v); key = dot + 1) {
        if (!yyjson_is_obj(v)) return (struct setting){.kind = SETTING_MISPLACED};
        dot = strchr(key, '.');
        v = yyjson_obj_getn(v, key, dot ? (size_t)(dot - key) : strlen(key));
        if (!dot) return from_json(v);
    }
    return (struct setting){.kind = SETTING_NONE};
}

static struct setting find(const struct config *c, const char *key) {
    return c->meta ? gguf_meta_find(c->meta, key) : find_json(c, key);
}

bool config_has(const struct config *c, const char *key) { return find(c, key).kind != SETTING_NONE; }

// Writes what was found, for a message.
static void describe(const struct setting *s, char out[64]) {
    static const char *const fixed[] = {
        [SETTING_NONE] = "null",
        [SETTING_OBJECT] = "an object",
        [SETTING_MISPLACED] = "a value where an object is due",
    };
    if (s->kind == SETTING_BOOL) snprintf(out, 64, "%s", s->truth ? "true" : "false");
    else if (s->kind == SETTING_WHOLE) snprintf(out, 64, "%" PRIu64, s->whole);
    else if (s->kind == SETTING_NEGATIVE || s->kind == SETTING_REAL) snprintf(out, 64, "%.17g", s->real);
    else if (s->kind == SETTING_TEXT) snprintf(out, 64, "a text of %zu bytes", s->n);
    else if (s->kind == SETTING_ARRAY) snprintf(out, 64, "a list of %zu", s->n);
    else snprintf(out, 64, "%s", fixed[s->kind]);
}

// Where a setting stands, for messages: a key, or one element of its list.
struct place {
    const struct config *c;
    const char *key;
    size_t i;
    bool element;
};

static enum status refuse(const struct place *p, const struct setting *s, const char *expected, struct err *e) {
    char found[64], at[32] = "";
    if (s->kind == SETTING_NONE && !p->element) {
        return err_set(e, STATUS_NOT_FOUND, "%s: key \"%s\" is missing", p->c->path, p->key);
    }
    describe(s, found);
    if (p->element) snprintf(at, sizeof at, "[%zu]", p->i);
    return err_set(e, STATUS_INVALID, "%s: key \"%s\"%s: expected %s, found %s", p->c->path, p->key, at, expected,
                   found);
}

static bool to_whole(const struct setting *s, uint64_t *out) {
    if (s->kind == SETTING_WHOLE)
        *out = s->whole;
    else if (s->kind == SETTING_REAL && s->real >= 0 && s->real < 0x1p64 && floor(s->real) == s->real) {
        *out = (uint64_t)s->real;
    } else
        return false;
    return true;
}

static enum status get_u64(const struct place *p, const struct setting *s, uint64_t *out, struct err *e) {
    return to_whole(s, out) ? STATUS_OK : refuse(p, s, "a whole number >= 0", e);
}

static enum status get_f64(const struct place *p, const struct setting *s, double *out, struct err *e) {
    bool number = s->kind == SETTING_WHOLE || s->kind == SETTING_NEGATIVE || s->kind == SETTING_REAL;
    if (!number || !isfinite(s->real)) return refuse(p, s, "a finite number", e);
    *out = s->real;
    return STATUS_OK;
}

static enum status get_text(const struct place *p, const struct setting *s, const char **out, size_t *n,
                            struct err *e) {
    if (s->kind != SETTING_TEXT) return refuse(p, s, "a text", e);
    *out = s->text;
    *n = s->n;
    return STATUS_OK;
}

enum status config_u64(const struct config *c, const char *key, uint64_t *out, struct err *e) {
    struct setting s = find(c, key);
    return get_u64(&(struct place){.c = c, .key = key}, &s, out, e);
}

enum status config_f64(const struct config *c, const char *key, double *out, struct err *e) {
    struct setting s = find(c, key);
    return get_f64(&(struct place){.c = c, .key = key}, &s, out, e);
}

enum status config_bool(const struct config *c, const char *key, bool *out, struct err *e) {
    struct setting s = find(c, key);
    if (s.kind != SETTING_BOOL) return refuse(&(struct place){.c = c, .key = key}, &s, "true or false", e);
    *out = s.truth;
    return STATUS_OK;
}

enum status config_text(const struct config *c, const char *key, const char **out, size_t *n, struct err *e) {
    struct setting s = find(c, key);
    return get_text(&(struct place){.c = c, .key = key}, &s, out, n, e);
}

static enum status find_array(const struct config *c, const char *key, struct setting *s, struct err *e) {
    *s = find(c, key);
    return s->kind == SETTING_ARRAY ? STATUS_OK : refuse(&(struct place){.c = c, .key = key}, s, "a list", e);
}

enum status config_n(const struct config *c, const char *key, size_t *n, struct err *e) {
    struct setting s;
    TRY(find_array(c, key, &s, e));
    *n = s.n;
    return STATUS_OK;
}

static struct setting element(const struct config *c, const struct setting *array, size_t i) {
    return c->meta ? gguf_meta_at(array, i) : from_json(yyjson_arr_get((yyjson_val *)(uintptr_t)array->array, i));
}

static enum status find_at(const struct config *c, const char *key, size_t i, struct setting *s, struct err *e) {
    struct setting array;
    TRY(find_array(c, key, &array, e));
    if (i >= array.n) {
        return err_set(e, STATUS_INVALID, "%s: key \"%s\": element %zu of a list of %zu", c->path, key, i, array.n);
    }
    *s = element(c, &array, i);
    return STATUS_OK;
}

enum status config_u64_at(const struct config *c, const char *key, size_t i, uint64_t *out, struct err *e) {
    struct setting s;
    TRY(find_at(c, key, i, &s, e));
    return get_u64(&(struct place){c, key, i, true}, &s, out, e);
}

enum status config_f64_at(const struct config *c, const char *key, size_t i, double *out, struct err *e) {
    struct setting s;
    TRY(find_at(c, key, i, &s, e));
    return get_f64(&(struct place){c, key, i, true}, &s, out, e);
}

enum status config_text_at(const struct config *c, const char *key, size_t i, const char **out, size_t *n,
                           struct err *e) {
    struct setting s;
    TRY(find_at(c, key, i, &s, e));
    return get_text(&(struct place){c, key, i, true}, &s, out, n, e);
}

static enum status get_id(const struct place *p, const struct setting *s, int32_t *out, struct err *e) {
    uint64_t v;
    if (!to_whole(s, &v) || v > INT32_MAX) return refuse(p, s, "a token id", e);
    *out = (int32_t)v;
    return STATUS_OK;
}

enum status config_ids(const struct config *c, const char *key, int32_t *ids, size_t cap, size_t *n, struct err *e) {
    struct setting s = find(c, key);
    *n = 0;
    if (s.kind == SETTING_NONE) return STATUS_OK;
    size_t count = s.kind == SETTING_ARRAY ? s.n : 1;
    if (count > cap) {
        return err_set(e, STATUS_TOO_LARGE, "%s: key \"%s\": %zu ids are over the limit of %zu", c->path, key, count,
                       cap);
    }
    if (s.kind != SETTING_ARRAY) TRY(get_id(&(struct place){.c = c, .key = key}, &s, ids, e));
    for (size_t i = 0; s.kind == SETTING_ARRAY && i < count; i++) {
        struct setting v = element(c, &s, i);
        TRY(get_id(&(struct place){c, key, i, true}, &v, &ids[i], e));
    }
    *n = count;
    return STATUS_OK;
}
