// The list of stored tensors while headers are read: names checked, places in the file checked, then sorted by name.
#ifndef TF_CHECKPOINT_TENSORS_H
#define TF_CHECKPOINT_TENSORS_H

#include "base/arena.h"
#include "checkpoint/checkpoint.h"

enum { TENSOR_NAME_MAX = 256, TENSORS_MAX = 1 << 20 };

struct tensor_list {
    struct tensor *items;
    size_t n, cap;
    struct arena names;
};

void tensor_list_init(struct tensor_list *l);
void tensor_list_fini(struct tensor_list *l);

// Adds a tensor of which only the name is filled in. Refuses names that are empty, longer than TENSOR_NAME_MAX bytes,
// no UTF-8 or that hold control characters. `path` is what messages call the file. *out is good until the next call.
enum status tensor_list_add(struct tensor_list *l, const char *path, const char *name, size_t n, struct tensor **out,
                            struct err *e) TF_MUST_CHECK;

// Elements of the shape, each dimension from outside; false when the product overflows.
bool tensor_elements(const struct tensor *t, uint64_t *n);

// Checks that the tensors from `first` on lie in data[0..n) one behind another, each at the next multiple of `step`
// bytes (a power of two) from `data`, with no overlap and no bytes that belong to none. Reorders them.
enum status tensor_list_check_places(struct tensor_list *l, size_t first, const char *path, const uint8_t *data,
                                     uint64_t n, uint64_t step, struct err *e) TF_MUST_CHECK;

void tensor_list_sort(struct tensor_list *l);                                         // by name, then by file
const struct tensor *tensor_list_find(const struct tensor_list *l, const char *name); // sorted; NULL when absent

#endif
