// The list of stored tensors: growth, checks on names and places, order and search by name.
#include "checkpoint/tensors.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void tensor_list_init(struct tensor_list *l) {
    *l = (struct tensor_list){0};
    arena_init(&l->names, (size_t)TENSORS_MAX * (TENSOR_NAME_MAX + 16));
}

void tensor_list_fini(struct tensor_list *l) {
    mem_free(l->items);
    arena_fini(&l->names);
    *l = (struct tensor_list){0};
}

static enum status check_name(const char *path, const char *name, size_t n, struct err *e) {
    if (n == 0) return err_set(e, STATUS_INVALID, "%s: a tensor has an empty name", path);
    if (n > TENSOR_NAME_MAX) {
        return err_set(e, STATUS_INVALID, "%s: tensor \"%.40s...\": a name of %zu bytes is over the limit of %d", path,
                       utf8_valid(name, 40) ? name : "", n, TENSOR_NAME_MAX);
    }
    if (!utf8_valid(name, n)) return err_set(e, STATUS_INVALID, "%s: a tensor's name is not UTF-8", path);
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (uint8_t)name[i];
        if (c >= 0x20 && c != 0x7f) continue;
        return err_set(e, STATUS_INVALID, "%s: tensor \"%.*s...\": its name holds control character 0x%02x", path,
                       (int)i, name, c);
    }
    return STATUS_OK;
}

enum status tensor_list_add(struct tensor_list *l, const char *path, const char *name, size_t n, struct tensor **out,
                            struct err *e) {
    TRY(check_name(path, name, n, e));
    if (l->n == TENSORS_MAX) return err_set(e, STATUS_TOO_LARGE, "%s: more than %d tensors", path, TENSORS_MAX);
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct tensor *items = mem_resize(l->items, cap, sizeof *items);
        if (!items) return err_set(e, STATUS_NO_MEMORY, "%s: no memory for %zu tensors", path, cap);
        l->items = items;
        l->cap = cap;
    }
    char *copy = arena_string(&l->names, name, n);
    if (!copy) return err_set(e, STATUS_NO_MEMORY, "%s: no memory for the names of its tensors", path);
    *out = &l->items[l->n++];
    **out = (struct tensor){.name = copy};
    return STATUS_OK;
}

bool tensor_elements(const struct tensor *t, uint64_t *n) {
    *n = 1;
    for (uint32_t i = 0; i < t->n_dims; i++) {
        if (__builtin_mul_overflow(*n, t->shape[i], n)) return false;
    }
    return true;
}

static int compare_places(const void *a, const void *b) {
    const struct tensor *x = a, *y = b;
    if (x->data != y->data) return x->data < y->data ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); // empty tensors before the one that starts where they lie
}

enum status tensor_list_check_places(struct tensor_list *l, size_t first, const char *path, const uint8_t *data,
                                     uint64_t n, uint64_t step, struct err *e) {
    if (l->n > first) qsort(l->items + first, l->n - first, sizeof *l->items, compare_places);
    uint64_t end = 0; // of the tensors so far
    for (size_t i = first; i < l->n; i++) {
        const struct tensor *t = &l->items[i];
        uint64_t start = (uint64_t)(t->data - data), expected = (end + step - 1) & ~(step - 1);
        if (start < end) {
            return err_set(e, STATUS_INVALID,
                           "%s: tensor \"%s\" starts at byte %" PRIu64
                           " of the data, inside \"%s\" which ends at %" PRIu64,
                           path, t->name, start, t[-1].name, end);
        }
        if (start != expected) {
            return err_set(e, STATUS_INVALID,
                           "%s: tensor \"%s\" starts at byte %" PRIu64 " of the data where %" PRIu64
                           " was due: the gap belongs to no tensor",
                           path, t->name, start, expected);
        }
        end = start + t->bytes;
    }
    if (n - end < step) return STATUS_OK; // step 1: exactly at the end
    return err_set(e, STATUS_INVALID, "%s: %" PRIu64 " bytes at its end, after %s%s%s, belong to no tensor", path,
                   n - end, l->n > first ? "tensor \"" : "the header", l->n > first ? l->items[l->n - 1].name : "",
                   l->n > first ? "\"" : "");
}

static int compare_names(const void *a, const void *b) {
    const struct tensor *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->file > y->file) - (x->file < y->file);
}

void tensor_list_sort(struct tensor_list *l) {
    if (l->n) qsort(l->items, l->n, sizeof *l->items, compare_names);
}

static int compare_name_to(const void *name, const void *item) {
    return strcmp(name, ((const struct tensor *)item)->name);
}

const struct tensor *tensor_list_find(const struct tensor_list *l, const char *name) {
    return l->n ? bsearch(name, l->items, l->n, sizeof *l->items, compare_name_to) : NULL;
}
