// File images of small checkpoints, put together piece by piece so that a test can put in what is wrong.
#ifndef TF_TESTS_SUPPORT_MODEL_BYTES_H
#define TF_TESTS_SUPPORT_MODEL_BYTES_H

#include "base/buf.h"

#include <stdint.h>

// Little-endian pieces.
void put_u32(struct buf *b, uint32_t v);
void put_u64(struct buf *b, uint64_t v);

// A safetensors image: the header's length, the header, n_data bytes of data (0, 1, 2, ...).
void put_safetensors(struct buf *b, const char *header, size_t n_data);

// GGUF pieces, in the order of the file.
void put_gguf_head(struct buf *b, uint32_t version, uint64_t n_tensors, uint64_t n_keys);
void put_gguf_text(struct buf *b, const char *text); // length, then bytes
void put_gguf_key_u32(struct buf *b, const char *key, uint32_t v);
void put_gguf_key_text(struct buf *b, const char *key, const char *text);
void put_gguf_key_array(struct buf *b, const char *key, uint32_t type, uint64_t n); // elements follow
// dims innermost first, as the file has them.
void put_gguf_tensor(struct buf *b, const char *name, uint32_t n_dims, const uint64_t *dims, uint32_t type,
                     uint64_t offset);
void put_gguf_data(struct buf *b, uint64_t alignment, size_t n_data); // padding, then data (0, 1, 2, ...)

#endif
