// Parsing of id lists.
#include "cli/id_list.h"

#include "base/json.h"

#include <stdint.h>
#include <string.h>

enum { ID_FILE_BYTES_MAX = 256 << 20 };

enum status id_list_from_json(yyjson_val *list, const char *what, struct ids *out, struct err *e) {
    if (!yyjson_is_arr(list)) return err_set(e, STATUS_INVALID, "%s is not a list of token ids", what);
    size_t i, n;
    yyjson_val *v;
    yyjson_arr_foreach(list, i, n, v) {
        if (!yyjson_is_uint(v) || yyjson_get_uint(v) > INT32_MAX) {
            return err_set(e, STATUS_INVALID, "%s: entry %zu is not a token id", what, i);
        }
        TRY(ids_push(out, (int32_t)yyjson_get_uint(v), e));
    }
    return STATUS_OK;
}

static enum status read_file(const char *path, struct ids *out, struct err *e) {
    yyjson_doc *doc;
    TRY(json_read(path, ID_FILE_BYTES_MAX, &doc, e));
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (yyjson_is_obj(root)) root = yyjson_obj_get(root, "prompt");
    enum status s = id_list_from_json(root, path, out, e);
    yyjson_doc_free(doc);
    return s;
}

static enum status parse_inline(const char *text, struct ids *out, struct err *e) {
    for (const char *at = text;; at++) {
        size_t digits = strspn(at, "0123456789");
        uint64_t id = 0;
        for (size_t i = 0; i < digits && id <= INT32_MAX; i++) id = id * 10 + (uint64_t)(at[i] - '0');
        if (digits == 0 || id > INT32_MAX || (at[digits] != ',' && at[digits] != '\0')) {
            return err_set(e, STATUS_INVALID, "expected token ids as 1,2,3 or @FILE, not %s", text);
        }
        TRY(ids_push(out, (int32_t)id, e));
        at += digits;
        if (*at == '\0') return STATUS_OK;
    }
}

enum status id_list_parse(const char *argument, struct ids *out, bool *usage, struct err *e) {
    *usage = argument[0] != '@';
    if (*usage) return parse_inline(argument, out, e);
    TRY(read_file(argument + 1, out, e));
    return out->n ? STATUS_OK : err_set(e, STATUS_INVALID, "%s holds no token ids", argument + 1);
}
