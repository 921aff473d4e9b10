// Runs a fuzz target over stored inputs: files, or folders of files in name order; a slow input fails.
//
// With -v every input is named before it runs, so that the last name is the one that crashed.
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_BYTES_MAX = 16 << 20, PATH_BYTES_MAX = 4096 };

static const double seconds_max = 5;
static bool verbose;

static bool run_file(const char *path) {
    char *data;
    size_t n;
    struct err e = {0};
    struct clock clock = clock_system();
    if (file_read(path, INPUT_BYTES_MAX, &data, &n, &e) != STATUS_OK) {
        printf("FAIL %s\n", e.message);
        return false;
    }
    // An exact copy, so that a sanitizer sees a read past the end.
    uint8_t *exact = mem_resize(NULL, n, 1);
    if (exact && n) memcpy(exact, data, n);
    mem_free(data);
    uint64_t start = clock_now_ns(&clock);
    if (exact) LLVMFuzzerTestOneInput(exact, n);
    double seconds = clock_ms_between(start, clock_now_ns(&clock)) * 1e-3;
    mem_free(exact);
    if (seconds > seconds_max) printf("FAIL %s: took %.1f s, at most %.0f s are due\n", path, seconds, seconds_max);
    return seconds <= seconds_max;
}

static void run_folder(const char *folder, int *passed, int *failed) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) {
        printf("FAIL %s: no such folder\n", folder);
        (*failed)++;
    }
    for (int i = 0; i < n; i++) {
        char path[PATH_BYTES_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (file_exists(path)) {
            if (verbose) printf("%s\n", path);
            if (run_file(path))
                (*passed)++;
            else
                (*failed)++;
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

int main(int argc, char **argv) {
    int passed = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            verbose = true;
        else if (file_is_folder(argv[i]))
            run_folder(argv[i], &passed, &failed);
        else if (run_file(argv[i]))
            passed++;
        else
            failed++;
    }
    if (passed + failed == 0) {
        printf("FAIL no inputs\n");
        failed = 1;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
