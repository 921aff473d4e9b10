// NumPy files of float32 rows, written row by row in any order.
#ifndef TF_CLI_NPY_H
#define TF_CLI_NPY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct npy {
    int fd;
    const char *path; // borrowed
    uint64_t rows, columns;
    uint64_t data_at; // where row 0 begins
    bool is_file;     // a regular file: a device or a pipe must outlive a failure
};

// Creates `path` (an existing file is replaced) for a C-ordered array [rows, columns] of little-endian float32.
enum status npy_create(struct npy *npy, const char *path, uint64_t rows, uint64_t columns, struct err *e) TF_MUST_CHECK;
enum status npy_write_row(const struct npy *npy, uint64_t row, const float *values, struct err *e) TF_MUST_CHECK;
enum status npy_close(struct npy *npy, struct err *e) TF_MUST_CHECK;

// Closes and removes an unfinished file; what is no regular file is left alone.
void npy_abandon(struct npy *npy);

#endif
