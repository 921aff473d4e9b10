// File images of small checkpoints.
#include "tests/support/model_bytes.h"

#include <string.h>

enum { GGUF_U32 = 4, GGUF_STRING = 8, GGUF_ARRAY = 9 };

static void put_le(struct buf *b, uint64_t v, int n) {
    for (int i = 0; i < n; i++) buf_byte(b, (char)(v >> (8 * i)));
}

void put_u32(struct buf *b, uint32_t v) { put_le(b, v, 4); }
void put_u64(struct buf *b, uint64_t v) { put_le(b, v, 8); }

static void put_data(struct buf *b, size_t n) {
    for (size_t i = 0; i < n; i++) buf_byte(b, (char)i);
}

void put_safetensors(struct buf *b, const char *header, size_t n_data) {
    put_u64(b, strlen(header));
    buf_text(b, header);
    put_data(b, n_data);
}

void put_gguf_head(struct buf *b, uint32_t version, uint64_t n_tensors, uint64_t n_keys) {
    buf_text(b, "GGUF");
    put_u32(b, version);
    put_u64(b, n_tensors);
    put_u64(b, n_keys);
}

void put_gguf_text(struct buf *b, const char *text) {
    put_u64(b, strlen(text));
    buf_text(b, text);
}

void put_gguf_key_u32(struct buf *b, const char *key, uint32_t v) {
    put_gguf_text(b, key);
    put_u32(b, GGUF_U32);
    put_u32(b, v);
}

void put_gguf_key_text(struct buf *b, const char *key, const char *text) {
    put_gguf_text(b, key);
    put_u32(b, GGUF_STRING);
    put_gguf_text(b, text);
}

void put_gguf_key_array(struct buf *b, const char *key, uint32_t type, uint64_t n) {
    put_gguf_text(b, key);
    put_u32(b, GGUF_ARRAY);
    put_u32(b, type);
    put_u64(b, n);
}

void put_gguf_tensor(struct buf *b, const char *name, uint32_t n_dims, const uint64_t *dims, uint32_t type,
                     uint64_t offset) {
    put_gguf_text(b, name);
    put_u32(b, n_dims);
    for (uint32_t i = 0; i < n_dims; i++) put_u64(b, dims[i]);
    put_u32(b, type);
    put_u64(b, offset);
}

void put_gguf_data(struct buf *b, uint64_t alignment, size_t n_data) {
    while (b->n % alignment) buf_byte(b, 0);
    put_data(b, n_data);
}
