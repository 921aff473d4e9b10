// JSON documents: strict parsing, bounded depth, duplicate keys refused, and quoting of strings.
#include "base/json.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SHOWN = 80 };

// A key with its hash, so that sorting seldom compares text.
struct hashed_key {
    uint64_t hash;
    yyjson_val *key;
};

static enum status refuse_at(const char *name, const char *text, size_t n, size_t at, const char *what, struct err *e) {
    size_t line = 0, column = 0, character = 0;
    if (!yyjson_locate_pos(text, n, at, &line, &column, &character)) {
        return err_set(e, STATUS_INVALID, "%s: %s at byte %zu", name, what, at);
    }
    return err_set(e, STATUS_INVALID, "%s: line %zu, column %zu: %s", name, line, column, what);
}

enum bound { BOUND_DEPTH, BOUND_VALUES };

static enum status refuse_bound(const char *name, const char *text, size_t n, size_t at, enum bound bound,
                                struct err *e) {
    char what[64];
    if (bound == BOUND_DEPTH)
        snprintf(what, sizeof what, "nested deeper than %d levels", JSON_DEPTH_MAX);
    else
        snprintf(what, sizeof what, "more than %d values", JSON_VALUES_MAX);
    return refuse_at(name, text, n, at, what, e);
}

// Counts brackets and separators outside strings before anything is built, so that no later walk can meet a deeper
// nesting and no document can ask for more memory than its bound on values allows.
static enum status check_bounds(const char *name, const char *text, size_t n, struct err *e) {
    size_t depth = 0, values = 1;
    bool in_string = false;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            values++;
            if (++depth > JSON_DEPTH_MAX) return refuse_bound(name, text, n, i, BOUND_DEPTH, e);
        } else if (c == ']' || c == '}') {
            if (depth > 0) depth--;
        } else if (c == ',' || c == ':') {
            if (++values > JSON_VALUES_MAX) return refuse_bound(name, text, n, i, BOUND_VALUES, e);
        }
    }
    return STATUS_OK;
}

// FNV-1a; a document made of collisions costs comparisons of text, no more.
static uint64_t hash_text(const char *text, size_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)text[i]) * 0x100000001b3u;
    return h;
}

static int compare_keys(const void *a, const void *b) {
    const struct hashed_key *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    size_t nx = yyjson_get_len(x->key), ny = yyjson_get_len(y->key);
    if (nx != ny) return nx < ny ? -1 : 1;
    return memcmp(yyjson_get_str(x->key), yyjson_get_str(y->key), nx);
}

static enum status refuse_duplicate(const char *name, yyjson_val *key, struct err *e) {
    char shown[KEY_SHOWN + 1];
    size_t n = yyjson_get_len(key) < KEY_SHOWN ? yyjson_get_len(key) : KEY_SHOWN;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (uint8_t)yyjson_get_str(key)[i];
        shown[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    shown[n] = '\0';
    return err_set(e, STATUS_INVALID, "%s: key \"%s\" appears twice in one object", name, shown);
}

// Scratch room for the keys of one object, grown to the largest met.
struct key_room {
    struct hashed_key *keys;
    size_t cap;
};

static enum status check_keys(const char *name, yyjson_val *object, struct key_room *room, struct err *e) {
    size_t n = yyjson_obj_size(object), i, n_seen;
    if (n < 2) return STATUS_OK;
    if (n > room->cap) {
        size_t cap = n < room->cap * 2 ? room->cap * 2 : n;
        struct hashed_key *keys = mem_resize(room->keys, cap, sizeof *keys);
        if (!keys) return err_set(e, STATUS_NO_MEMORY, "%s: no memory for an object of %zu keys", name, n);
        *room = (struct key_room){keys, cap};
    }
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, n_seen, key, value) {
        room->keys[i] = (struct hashed_key){hash_text(yyjson_get_str(key), yyjson_get_len(key)), key};
    }
    qsort(room->keys, n, sizeof *room->keys, compare_keys);
    for (i = 1; i < n; i++) {
        if (compare_keys(&room->keys[i - 1], &room->keys[i]) == 0) return refuse_duplicate(name, room->keys[i].key, e);
    }
    return STATUS_OK;
}

// A read document keeps its values in one array in document order, so every object is met without recursion.
static enum status check_objects(const char *name, yyjson_doc *doc, struct err *e) {
    struct key_room room = {0};
    yyjson_val *values = yyjson_doc_get_root(doc);
    size_t n = yyjson_doc_get_val_count(doc);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        if (yyjson_is_obj(&values[i])) status = check_keys(name, &values[i], &room, e);
    }
    mem_free(room.keys);
    return status;
}

static void *take(void *context, size_t bytes) {
    (void)context;
    return mem_new(bytes, 1);
}

static void *retake(void *context, void *p, size_t old_bytes, size_t bytes) {
    (void)context;
    (void)old_bytes;
    return mem_resize(p, bytes, 1);
}

static void give(void *context, void *p) {
    (void)context;
    mem_free(p);
}

enum status json_parse(const char *name, const char *text, size_t n, yyjson_doc **out, struct err *e) {
    static const yyjson_alc memory = {.malloc = take, .realloc = retake, .free = give};
    *out = NULL;
    while (n > 0 && memchr(" \t\r\n", text[n - 1], 4)) n--; // padding would be copied for nothing
    TRY(check_bounds(name, text, n, e));
    if (n == 0) return err_set(e, STATUS_INVALID, "%s: empty where a JSON document is expected", name);
    yyjson_read_err fault = {0};
    // The cast is yyjson's interface; without its in-place flag it does not write to the text.
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text, n, YYJSON_READ_NOFLAG, &memory, &fault);
    if (!doc && fault.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
        return err_set(e, STATUS_NO_MEMORY, "%s: no memory for a JSON document of %zu bytes", name, n);
    }
    if (!doc) return refuse_at(name, text, n, fault.pos, fault.msg, e);
    enum status status = check_objects(name, doc, e);
    if (status != STATUS_OK) {
        yyjson_doc_free(doc);
        return status;
    }
    *out = doc;
    return STATUS_OK;
}

enum status json_read(const char *path, size_t limit, yyjson_doc **out, struct err *e) {
    char *text;
    size_t n;
    *out = NULL;
    TRY(file_read(path, limit, &text, &n, e));
    enum status status = json_parse(path, text, n, out, e);
    mem_free(text);
    return status;
}

void json_quote(struct buf *out, const char *text, size_t n) {
    size_t from = 0; // bytes before it are written
    buf_byte(out, '"');
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (uint8_t)text[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        buf_append(out, text + from, i - from);
        from = i + 1;
        switch (c) {
        case '"':
            buf_text(out, "\\\"");
            break;
        case '\\':
            buf_text(out, "\\\\");
            break;
        case '\n':
            buf_text(out, "\\n");
            break;
        case '\r':
            buf_text(out, "\\r");
            break;
        case '\t':
            buf_text(out, "\\t");
            break;
        default:
            buf_printf(out, "\\u%04x", c);
        }
    }
    buf_append(out, text + from, n - from);
    buf_byte(out, '"');
}
