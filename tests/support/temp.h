// A temporary folder for a test: files written into it, everything removed at the end.
#ifndef TF_TESTS_SUPPORT_TEMP_H
#define TF_TESTS_SUPPORT_TEMP_H

#include <stddef.h>

enum { TEMP_PATH_MAX = 512 };

struct temp {
    char folder[TEMP_PATH_MAX / 2];
};

// Makes a fresh folder; ends the test program when it cannot.
struct temp temp_new(void);
void temp_remove(const struct temp *t); // with all that is in it

// folder/name into `out`, which it returns. `name` may hold slashes.
const char *temp_path(const struct temp *t, const char *name, char out[TEMP_PATH_MAX]);
void temp_write(const struct temp *t, const char *name, const void *bytes, size_t n);
void temp_text(const struct temp *t, const char *name, const char *text);

#endif
