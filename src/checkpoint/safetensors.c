// Reads and checks the header of a safetensors file.
#include "checkpoint/safetensors.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };

// One file while its header is read.
struct reader {
    struct tensor_list *list;
    const char *path;
    uint32_t file;
    const uint8_t *data;
    uint64_t data_bytes;
    struct err *e;
};

static uint64_t read_u64(const uint8_t *p) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

static enum status refuse(struct reader *r, const struct tensor *t, const char *what) {
    return err_set(r->e, STATUS_INVALID, "%s: tensor \"%s\": %s", r->path, t->name, what);
}

static enum status read_dtype(struct reader *r, yyjson_val *entry, struct tensor *t) {
    yyjson_val *v = yyjson_obj_get(entry, "dtype");
    if (!yyjson_is_str(v)) return refuse(r, t, "\"dtype\" is missing or no string");
    // Block formats are GGUF's: a safetensors file has no name for them.
    if (dtype_find(yyjson_get_str(v), yyjson_get_len(v), &t->dtype) && dtype_block(t->dtype) == 1) return STATUS_OK;
    return err_set(r->e, STATUS_UNSUPPORTED, "%s: tensor \"%s\": dtype \"%.20s\" is not known", r->path, t->name,
                   yyjson_get_str(v));
}

static enum status read_shape(struct reader *r, yyjson_val *entry, struct tensor *t) {
    yyjson_val *v = yyjson_obj_get(entry, "shape"), *dim;
    size_t i, n;
    if (!yyjson_is_arr(v)) return refuse(r, t, "\"shape\" is missing or no list");
    if (yyjson_arr_size(v) > TENSOR_DIMS_MAX) {
        return err_set(r->e, STATUS_UNSUPPORTED, "%s: tensor \"%s\": %zu dimensions are over the limit of %d", r->path,
                       t->name, yyjson_arr_size(v), TENSOR_DIMS_MAX);
    }
    yyjson_arr_foreach(v, i, n, dim) {
        if (!yyjson_is_uint(dim)) return refuse(r, t, "\"shape\" holds something other than whole numbers >= 0");
        t->shape[i] = yyjson_get_uint(dim);
    }
    t->n_dims = (uint32_t)yyjson_arr_size(v);
    return STATUS_OK;
}

static enum status read_offsets(struct reader *r, yyjson_val *entry, struct tensor *t) {
    yyjson_val *v = yyjson_obj_get(entry, "data_offsets");
    yyjson_val *from = yyjson_arr_get(v, 0), *to = yyjson_arr_get(v, 1);
    if (yyjson_arr_size(v) != 2 || !yyjson_is_uint(from) || !yyjson_is_uint(to)) {
        return refuse(r, t, "\"data_offsets\" is missing or no pair of whole numbers >= 0");
    }
    uint64_t start = yyjson_get_uint(from), end = yyjson_get_uint(to), elements, bytes;
    if (start > end) {
        return err_set(r->e, STATUS_INVALID, "%s: tensor \"%s\": data_offsets [%" PRIu64 ", %" PRIu64 "] are reversed",
                       r->path, t->name, start, end);
    }
    if (end > r->data_bytes) {
        return err_set(r->e, STATUS_INVALID,
                       "%s: tensor \"%s\" ends at byte %" PRIu64 " of the data, but the file has %" PRIu64
                       " (is it cut short?)",
                       r->path, t->name, end, r->data_bytes);
    }
    if (!tensor_elements(t, &elements) || !dtype_bytes(t->dtype, elements, &bytes)) {
        return refuse(r, t, "the product of its shape overflows");
    }
    if (bytes != end - start) {
        return err_set(r->e, STATUS_INVALID,
                       "%s: tensor \"%s\": its shape in %s takes %" PRIu64 " bytes, its data_offsets span %" PRIu64,
                       r->path, t->name, dtype_name(t->dtype), bytes, end - start);
    }
    t->data = r->data + start;
    t->bytes = bytes;
    return STATUS_OK;
}

static enum status read_entry(struct reader *r, yyjson_val *key, yyjson_val *entry) {
    struct tensor *t;
    TRY(tensor_list_add(r->list, r->path, yyjson_get_str(key), yyjson_get_len(key), &t, r->e));
    t->file = r->file;
    if (!yyjson_is_obj(entry)) return refuse(r, t, "its header entry is no object");
    TRY(read_dtype(r, entry, t));
    TRY(read_shape(r, entry, t));
    return read_offsets(r, entry, t);
}

// Free text about the file; nothing in it is used, but a file that breaks its form was not written by a known tool.
static enum status check_metadata(struct reader *r, yyjson_val *v) {
    size_t i, n;
    yyjson_val *key, *value;
    if (yyjson_is_null(v)) return STATUS_OK;
    if (!yyjson_is_obj(v)) return err_set(r->e, STATUS_INVALID, "%s: key \"__metadata__\": not an object", r->path);
    yyjson_obj_foreach(v, i, n, key, value) {
        if (yyjson_is_str(value)) continue;
        return err_set(r->e, STATUS_INVALID, "%s: key \"__metadata__\": value %zu is not a string", r->path, i);
    }
    return STATUS_OK;
}

static enum status read_entries(struct reader *r, yyjson_val *root) {
    size_t i, n;
    yyjson_val *key, *value;
    if (!yyjson_is_obj(root)) return err_set(r->e, STATUS_INVALID, "%s: its header is no JSON object", r->path);
    yyjson_obj_foreach(root, i, n, key, value) {
        if (yyjson_equals_str(key, "__metadata__"))
            TRY(check_metadata(r, value));
        else
            TRY(read_entry(r, key, value));
    }
    return STATUS_OK;
}

enum status safetensors_read(struct tensor_list *l, const char *path, uint32_t file, const uint8_t *bytes, size_t n,
                             struct err *e) {
    if (n < LENGTH_BYTES) {
        return err_set(e, STATUS_INVALID, "%s: %zu bytes are too few for a safetensors file", path, n);
    }
    uint64_t header = read_u64(bytes);
    if (header > SAFETENSORS_HEADER_MAX) {
        return err_set(e, STATUS_TOO_LARGE, "%s: header length %" PRIu64 " is over the limit of %d bytes", path, header,
                       SAFETENSORS_HEADER_MAX);
    }
    if (header > n - LENGTH_BYTES) {
        return err_set(e, STATUS_INVALID, "%s: header length %" PRIu64 " leads past the end of the file (%zu bytes)",
                       path, header, n);
    }
    const char *text = (const char *)bytes + LENGTH_BYTES;
    if (header == 0 || text[0] != '{') {
        return err_set(e, STATUS_INVALID, "%s: header of %" PRIu64 " bytes does not start with '{'", path, header);
    }
    yyjson_doc *doc;
    enum status status = json_parse("header", text, (size_t)header, &doc, e);
    if (status != STATUS_OK) {
        err_prefix(e, "%s", path);
        return status;
    }
    struct reader r = {.list = l, .path = path, .file = file, .e = e};
    r.data = bytes + LENGTH_BYTES + header;
    r.data_bytes = n - LENGTH_BYTES - header;
    size_t first = l->n;
    status = read_entries(&r, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    TRY(status);
    return tensor_list_check_places(l, first, path, r.data, r.data_bytes, 1, e);
}
