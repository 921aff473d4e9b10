// The one table of stored number formats: name, block length, block bytes.
#ifndef TF_BASE_DTYPE_H
#define TF_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// X(name, text, elements a block, bytes a block)
#define DTYPE_LIST(X)                                                                              \
    X(F32, "F32", 1, 4)                                                                            \
    X(F16, "F16", 1, 2)                                                                            \
    X(BF16, "BF16", 1, 2)                                                                          \
    X(F64, "F64", 1, 8)                                                                            \
    X(I8, "I8", 1, 1)                                                                              \
    X(I16, "I16", 1, 2)                                                                            \
    X(I32, "I32", 1, 4)                                                                            \
    X(I64, "I64", 1, 8)                                                                            \
    X(U8, "U8", 1, 1)                                                                              \
    X(U16, "U16", 1, 2)                                                                            \
    X(U32, "U32", 1, 4)                                                                            \
    X(U64, "U64", 1, 8)                                                                            \
    X(BOOL, "BOOL", 1, 1)                                                                          \
    X(F8_E4M3, "F8_E4M3", 1, 1)                                                                    \
    X(F8_E5M2, "F8_E5M2", 1, 1)                                                                    \
    X(F8_E8M0, "F8_E8M0", 1, 1)                                                                    \
    X(Q4_0, "Q4_0", 32, 18)                                                                        \
    X(Q4_1, "Q4_1", 32, 20)                                                                        \
    X(Q8_0, "Q8_0", 32, 34)

enum dtype {
#define X(name, text, elements, bytes) DTYPE_##name,
    DTYPE_LIST(X)
#undef X
        DTYPE_COUNT
};

const char *dtype_name(enum dtype t);

// Finds a dtype by its safetensors or GGUF name; false when it is unknown.
bool dtype_find(const char *name, size_t n, enum dtype *out);

uint32_t dtype_block(enum dtype t);       // elements a block
uint32_t dtype_block_bytes(enum dtype t); // bytes a block

// Bytes of n elements; false when n is no whole number of blocks or the product overflows.
bool dtype_bytes(enum dtype t, uint64_t n, uint64_t *bytes);

#endif
