// The header of one safetensors file: tensors by name, checked against the bytes that are there.
#ifndef TF_CHECKPOINT_SAFETENSORS_H
#define TF_CHECKPOINT_SAFETENSORS_H

#include "checkpoint/tensors.h"

enum { SAFETENSORS_HEADER_MAX = 100000000 }; // bytes; the format's own limit

// Adds the tensors of a file image bytes[0..n) to `l`, pointing into it, with `file` as their file index. Layout:
// 8 bytes little-endian header length, a JSON header that starts with '{', then the data that offsets count from.
// Any start is fine for a tensor, but together they must cover the data exactly.
enum status safetensors_read(struct tensor_list *l, const char *path, uint32_t file, const uint8_t *bytes, size_t n,
                             struct err *e) TF_MUST_CHECK;

#endif
