// One GGUF file: its metadata as settings, its tensors checked against the bytes that are there.
#ifndef TF_CHECKPOINT_GGUF_H
#define TF_CHECKPOINT_GGUF_H

#include "checkpoint/setting.h"
#include "checkpoint/tensors.h"

enum {
    GGUF_KEYS_MAX = 1 << 16,
    GGUF_KEY_MAX = 256,          // bytes of a key
    GGUF_ELEMENTS_MAX = 1 << 22, // strings in arrays and inner arrays, all keys together
    GGUF_NESTING_MAX = 4,        // arrays inside arrays
};

struct gguf_meta; // points into the file image, which must outlive it

// Reads the file image bytes[0..n): GGUF version 2 or 3, little-endian. Adds its tensors to `l` (file index 0) and
// gives the metadata, to be freed with gguf_meta_free. Layout: magic, version, counts, metadata, tensor descriptions,
// padding to the alignment, then the data that offsets count from, every tensor at the next multiple of the alignment.
enum status gguf_read(struct tensor_list *l, const char *path, const uint8_t *bytes, size_t n, struct gguf_meta **out,
                      struct err *e) TF_MUST_CHECK;
void gguf_meta_free(struct gguf_meta *m);

// The value of `key`; SETTING_NONE when absent. Costs a binary search.
struct setting gguf_meta_find(const struct gguf_meta *m, const char *key);

// Element i of an array (i < array->n) that gguf_meta_find gave, in constant time.
struct setting gguf_meta_at(const struct setting *array, size_t i);

// Within the reader: a place in the file image that never moves past its end.
struct gguf_cursor {
    const char *path;
    const uint8_t *bytes;
    size_t n, at;
    struct err *e;
};

// `what` says in a message what was being read, "tensor" or "key", and `name` which one.
enum status gguf_take_u32(struct gguf_cursor *c, const char *what, const char *name, uint32_t *v) TF_MUST_CHECK;
enum status gguf_take_u64(struct gguf_cursor *c, const char *what, const char *name, uint64_t *v) TF_MUST_CHECK;
enum status gguf_take_text(struct gguf_cursor *c, const char *what, const char *name, const char **text,
                           size_t *n) TF_MUST_CHECK;
enum status gguf_skip(struct gguf_cursor *c, const char *what, const char *name, uint64_t n,
                      uint64_t size) TF_MUST_CHECK;

// Reads n_keys keys and values at the cursor.
enum status gguf_meta_read(struct gguf_cursor *c, uint64_t n_keys, struct gguf_meta **out) TF_MUST_CHECK;

#endif
