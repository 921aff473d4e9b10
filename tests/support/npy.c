// A .npy reader: ten fixed bytes, a one-line header in Python's spelling, then the values.
#include "tests/support/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_header(FILE *f, struct npy *out) {
    uint8_t start[10];
    char text[1024];
    if (fread(start, 1, sizeof start, f) != sizeof start || memcmp(start, "\x93NUMPY\x01", 7) != 0) return false;
    size_t n = (size_t)start[8] | (size_t)start[9] << 8;
    if (n >= sizeof text || fread(text, 1, n, f) != n) return false;
    text[n] = 0;
    const char *shape = strstr(text, "'shape': (");
    if (!shape || !strstr(text, "'<f4'") || !strstr(text, "'fortran_order': False")) return false;
    return sscanf(shape, "'shape': (%zu, %zu)", &out->rows, &out->columns) == 2;
}

bool npy_read(const char *path, struct npy *out) {
    *out = (struct npy){0};
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    bool good = read_header(f, out) && out->rows < 1 << 20 && out->columns < 1 << 20;
    if (good) out->data = calloc(out->rows * out->columns, sizeof(float));
    good = out->data && fread(out->data, out->columns * sizeof(float), out->rows, f) == out->rows;
    fclose(f);
    if (!good) npy_free(out);
    return good;
}

void npy_free(struct npy *a) {
    free(a->data);
    *a = (struct npy){0};
}
