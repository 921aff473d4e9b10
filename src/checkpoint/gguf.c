// Reads and checks the header of a GGUF file: counts, metadata, tensor descriptions.
#include "checkpoint/gguf.h"

#include <inttypes.h>
#include <string.h>

enum { MAGIC_BYTES = 4, GGUF_DIMS_MAX = 4, ALIGNMENT_DEFAULT = 32, KEY_BYTES_MIN = 13, TENSOR_BYTES_MIN = 33 };

// Tensor types by their number in the file; `dtype` is DTYPE_COUNT for those that cannot be read.
static const struct {
    uint32_t number;
    const char *name;
    enum dtype dtype;
} types[] = {
    {0, "F32", DTYPE_F32},       {1, "F16", DTYPE_F16},        {2, "Q4_0", DTYPE_Q4_0},
    {3, "Q4_1", DTYPE_Q4_1},     {6, "Q5_0", DTYPE_COUNT},     {7, "Q5_1", DTYPE_COUNT},
    {8, "Q8_0", DTYPE_Q8_0},     {9, "Q8_1", DTYPE_COUNT},     {10, "Q2_K", DTYPE_COUNT},
    {11, "Q3_K", DTYPE_COUNT},   {12, "Q4_K", DTYPE_COUNT},    {13, "Q5_K", DTYPE_COUNT},
    {14, "Q6_K", DTYPE_COUNT},   {15, "Q8_K", DTYPE_COUNT},    {16, "IQ2_XXS", DTYPE_COUNT},
    {17, "IQ2_XS", DTYPE_COUNT}, {18, "IQ3_XXS", DTYPE_COUNT}, {19, "IQ1_S", DTYPE_COUNT},
    {20, "IQ4_NL", DTYPE_COUNT}, {21, "IQ3_S", DTYPE_COUNT},   {22, "IQ2_S", DTYPE_COUNT},
    {23, "IQ4_XS", DTYPE_COUNT}, {24, "I8", DTYPE_COUNT},      {25, "I16", DTYPE_COUNT},
    {26, "I32", DTYPE_COUNT},    {27, "I64", DTYPE_COUNT},     {28, "F64", DTYPE_COUNT},
    {29, "IQ1_M", DTYPE_COUNT},  {30, "BF16", DTYPE_BF16},     {34, "TQ1_0", DTYPE_COUNT},
    {35, "TQ2_0", DTYPE_COUNT},  {39, "MXFP4", DTYPE_COUNT},   {40, "NVFP4", DTYPE_COUNT},
};

// The next n bytes; NULL, with the error set, when the file ends before.
static const uint8_t *take(struct gguf_cursor *c, const char *what, const char *name, uint64_t n) {
    if (n > c->n - c->at) {
        err_set(c->e, STATUS_INVALID,
                "%s: %s \"%s\": %" PRIu64 " bytes at byte %zu lead past the end of the file (%zu bytes)", c->path, what,
                name, n, c->at, c->n);
        return NULL;
    }
    const uint8_t *p = c->bytes + c->at;
    c->at += (size_t)n;
    return p;
}

static uint64_t read_le(const uint8_t *p, int n) {
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

enum status gguf_take_u32(struct gguf_cursor *c, const char *what, const char *name, uint32_t *v) {
    const uint8_t *p = take(c, what, name, 4);
    if (!p) return STATUS_INVALID;
    *v = (uint32_t)read_le(p, 4);
    return STATUS_OK;
}

enum status gguf_take_u64(struct gguf_cursor *c, const char *what, const char *name, uint64_t *v) {
    const uint8_t *p = take(c, what, name, 8);
    if (!p) return STATUS_INVALID;
    *v = read_le(p, 8);
    return STATUS_OK;
}

enum status gguf_take_text(struct gguf_cursor *c, const char *what, const char *name, const char **text, size_t *n) {
    uint64_t bytes;
    TRY(gguf_take_u64(c, what, name, &bytes));
    const uint8_t *p = take(c, what, name, bytes);
    if (!p) return STATUS_INVALID;
    *text = (const char *)p;
    *n = (size_t)bytes;
    return STATUS_OK;
}

enum status gguf_skip(struct gguf_cursor *c, const char *what, const char *name, uint64_t n, uint64_t size) {
    uint64_t bytes;
    if (!__builtin_mul_overflow(n, size, &bytes)) return take(c, what, name, bytes) ? STATUS_OK : STATUS_INVALID;
    return err_set(c->e, STATUS_INVALID, "%s: %s \"%s\": %" PRIu64 " values of %" PRIu64 " bytes overflow", c->path,
                   what, name, n, size);
}

static enum status read_type(struct gguf_cursor *c, struct tensor *t) {
    uint32_t number;
    TRY(gguf_take_u32(c, "tensor", t->name, &number));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].number != number) continue;
        t->dtype = types[i].dtype;
        if (t->dtype != DTYPE_COUNT) return STATUS_OK;
        return err_set(c->e, STATUS_UNSUPPORTED,
                       "%s: tensor \"%s\": type %s cannot be read; F32, F16, BF16, Q4_0, Q4_1 and Q8_0 can", c->path,
                       t->name, types[i].name);
    }
    return err_set(c->e, STATUS_UNSUPPORTED, "%s: tensor \"%s\": type number %" PRIu32 " is not known", c->path,
                   t->name, number);
}

static enum status read_shape(struct gguf_cursor *c, struct tensor *t) {
    TRY(gguf_take_u32(c, "tensor", t->name, &t->n_dims));
    if (t->n_dims < 1 || t->n_dims > GGUF_DIMS_MAX) {
        return err_set(c->e, STATUS_INVALID, "%s: tensor \"%s\": %" PRIu32 " dimensions; 1 to %d are possible", c->path,
                       t->name, t->n_dims, GGUF_DIMS_MAX);
    }
    for (uint32_t i = t->n_dims; i-- > 0;) { // the file has the innermost first
        TRY(gguf_take_u64(c, "tensor", t->name, &t->shape[i]));
        if (t->shape[i] > 0) continue;
        return err_set(c->e, STATUS_INVALID, "%s: tensor \"%s\": dimension %" PRIu32 " is 0", c->path, t->name, i);
    }
    return STATUS_OK;
}

static enum status check_bytes(struct gguf_cursor *c, struct tensor *t) {
    uint64_t elements, inner = t->shape[t->n_dims - 1];
    if (inner % dtype_block(t->dtype)) {
        return err_set(c->e, STATUS_INVALID,
                       "%s: tensor \"%s\": rows of %" PRIu64 " are no multiple of %s's block of %" PRIu32, c->path,
                       t->name, inner, dtype_name(t->dtype), dtype_block(t->dtype));
    }
    if (tensor_elements(t, &elements) && dtype_bytes(t->dtype, elements, &t->bytes)) return STATUS_OK;
    return err_set(c->e, STATUS_INVALID, "%s: tensor \"%s\": the product of its shape overflows", c->path, t->name);
}

// Descriptions give each tensor's offset; where the data begins is known only after the last of them, so the offsets
// are first kept in `data` as places counted from the start of the file image.
static enum status read_tensor(struct gguf_cursor *c, struct tensor_list *l, const char *before, uint64_t alignment) {
    const char *name;
    size_t n;
    uint64_t offset;
    struct tensor *t;
    TRY(gguf_take_text(c, "tensor after", before, &name, &n));
    TRY(tensor_list_add(l, c->path, name, n, &t, c->e));
    TRY(read_shape(c, t));
    TRY(read_type(c, t));
    TRY(check_bytes(c, t));
    TRY(gguf_take_u64(c, "tensor", t->name, &offset));
    if (offset % alignment) {
        return err_set(c->e, STATUS_INVALID,
                       "%s: tensor \"%s\": offset %" PRIu64 " is no multiple of the alignment %" PRIu64, c->path,
                       t->name, offset, alignment);
    }
    uint64_t end;
    if (__builtin_add_overflow(offset, t->bytes, &end) || end > c->n) {
        return err_set(c->e, STATUS_INVALID,
                       "%s: tensor \"%s\": %" PRIu64 " bytes at offset %" PRIu64
                       " lead past the end of the file (%zu bytes; is it cut short?)",
                       c->path, t->name, t->bytes, offset, c->n);
    }
    t->data = c->bytes + offset;
    return STATUS_OK;
}

static enum status place_tensors(struct gguf_cursor *c, struct tensor_list *l, size_t first, uint64_t alignment) {
    uint64_t start = ((uint64_t)c->at + alignment - 1) & ~(alignment - 1);
    if (l->n == first) return STATUS_OK;
    if (start > c->n) return err_set(c->e, STATUS_INVALID, "%s: ends before the data of its tensors", c->path);
    uint64_t data_bytes = c->n - start;
    for (size_t i = first; i < l->n; i++) {
        struct tensor *t = &l->items[i];
        uint64_t end = (uint64_t)(t->data - c->bytes) + t->bytes;
        if (end > data_bytes) {
            return err_set(c->e, STATUS_INVALID,
                           "%s: tensor \"%s\" ends at byte %" PRIu64 " of the data, but the file has %" PRIu64
                           " (is it cut short?)",
                           c->path, t->name, end, data_bytes);
        }
        t->data += start;
    }
    return tensor_list_check_places(l, first, c->path, c->bytes + start, data_bytes, alignment, c->e);
}

static enum status read_alignment(struct gguf_cursor *c, const struct gguf_meta *m, uint64_t *alignment) {
    struct setting s = gguf_meta_find(m, "general.alignment");
    *alignment = s.kind == SETTING_NONE ? ALIGNMENT_DEFAULT : s.whole;
    bool whole = s.kind == SETTING_NONE || s.kind == SETTING_WHOLE;
    if (whole && *alignment > 0 && *alignment <= UINT32_MAX && (*alignment & (*alignment - 1)) == 0) return STATUS_OK;
    return err_set(c->e, STATUS_INVALID, "%s: key \"general.alignment\": %" PRIu64 " is no power of two", c->path,
                   s.whole);
}

// A file of several lacks tensors, which would be reported one by one later.
static enum status check_split(struct gguf_cursor *c, const struct gguf_meta *m) {
    struct setting s = gguf_meta_find(m, "split.count");
    if (s.kind != SETTING_WHOLE || s.whole <= 1) return STATUS_OK;
    return err_set(c->e, STATUS_UNSUPPORTED,
                   "%s: key \"split.count\": one of %" PRIu64 " parts; join them into one file first", c->path,
                   s.whole);
}

static enum status read_counts(struct gguf_cursor *c, uint64_t *n_tensors, uint64_t *n_keys) {
    uint32_t version;
    if (c->n < MAGIC_BYTES || memcmp(c->bytes, "GGUF", MAGIC_BYTES) != 0) {
        return err_set(c->e, STATUS_INVALID, "%s: does not start with \"GGUF\"", c->path);
    }
    c->at = MAGIC_BYTES;
    TRY(gguf_take_u32(c, "field", "version", &version));
    if (version != 2 && version != 3) {
        bool swapped = version > 0 && (version & 0xffffff) == 0;
        return err_set(c->e, STATUS_UNSUPPORTED, "%s: GGUF version %" PRIu32 "%s; 2 and 3 can be read", c->path,
                       version, swapped ? " (a big-endian file?)" : "");
    }
    TRY(gguf_take_u64(c, "field", "tensor count", n_tensors));
    TRY(gguf_take_u64(c, "field", "key count", n_keys));
    uint64_t left = c->n - c->at;
    if (*n_keys > left / KEY_BYTES_MIN || *n_tensors > left / TENSOR_BYTES_MIN) {
        return err_set(c->e, STATUS_INVALID, "%s: %" PRIu64 " keys and %" PRIu64 " tensors do not fit into %zu bytes",
                       c->path, *n_keys, *n_tensors, c->n);
    }
    return STATUS_OK;
}

static enum status read_tensors(struct gguf_cursor *c, struct tensor_list *l, const struct gguf_meta *m, uint64_t n) {
    uint64_t alignment;
    size_t first = l->n;
    TRY(check_split(c, m));
    TRY(read_alignment(c, m, &alignment));
    for (uint64_t i = 0; i < n; i++) TRY(read_tensor(c, l, i > 0 ? l->items[l->n - 1].name : "", alignment));
    return place_tensors(c, l, first, alignment);
}

enum status gguf_read(struct tensor_list *l, const char *path, const uint8_t *bytes, size_t n, struct gguf_meta **out,
                      struct err *e) {
    struct gguf_cursor c = {.path = path, .bytes = bytes, .n = n, .e = e};
    uint64_t n_tensors, n_keys;
    *out = NULL;
    TRY(read_counts(&c, &n_tensors, &n_keys));
    struct gguf_meta *m;
    TRY(gguf_meta_read(&c, n_keys, &m));
    enum status status = read_tensors(&c, l, m, n_tensors);
    if (status != STATUS_OK) {
        gguf_meta_free(m);
        return status;
    }
    *out = m;
    return STATUS_OK;
}
