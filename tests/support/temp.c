// Temporary folders for tests.
#include "tests/support/temp.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

struct temp temp_new(void) {
    struct temp t;
    const char *base = getenv("TMPDIR");
    snprintf(t.folder, sizeof t.folder, "%s/tensorfold-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(t.folder)) give_up(t.folder);
    return t;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk) {
    (void)about;
    (void)kind;
    (void)walk;
    return remove(path);
}

void temp_remove(const struct temp *t) { nftw(t->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

const char *temp_path(const struct temp *t, const char *name, char out[TEMP_PATH_MAX]) {
    snprintf(out, TEMP_PATH_MAX, "%s/%s", t->folder, name);
    return out;
}

void temp_write(const struct temp *t, const char *name, const void *bytes, size_t n) {
    char path[TEMP_PATH_MAX];
    FILE *f = fopen(temp_path(t, name, path), "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) give_up(path);
}

void temp_text(const struct temp *t, const char *name, const char *text) { temp_write(t, name, text, strlen(text)); }
