// Reading .npy files of little-endian float32 in row order, as the golden folders hold them.
#ifndef TF_TESTS_SUPPORT_NPY_H
#define TF_TESTS_SUPPORT_NPY_H

#include <stdbool.h>
#include <stddef.h>

struct npy {
    float *data; // [rows][columns]; free with npy_free
    size_t rows, columns;
};

// False when the file is missing or is anything but a two-dimensional float32 array.
bool npy_read(const char *path, struct npy *out);
void npy_free(struct npy *a);

#endif
