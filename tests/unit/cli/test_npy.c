// NumPy files: header, rows in any order, failures that name the file.
#include "cli/npy.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void writes_rows_in_any_order(void) {
    char path[] = "/tmp/tensorfold-npy-XXXXXX";
    close(mkstemp(path));
    const float rows[2][3] = {{1, 2, 3}, {-4, 5.5f, 6}};
    struct npy npy;
    CHECK_INT(STATUS_OK, npy_create(&npy, path, 2, 3, NULL));
    CHECK_INT(STATUS_OK, npy_write_row(&npy, 1, rows[1], NULL));
    CHECK_INT(STATUS_OK, npy_write_row(&npy, 0, rows[0], NULL));
    CHECK_INT(STATUS_OK, npy_close(&npy, NULL));
    unsigned char file[256] = {0};
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(file, 1, sizeof file, in) : 0;
    if (in) fclose(in);
    CHECK_INT(128 + sizeof rows, n);
    CHECK_BYTES("\x93NUMPY\x01\x00\x76\x00", file, 10);
    static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ";
    CHECK_BYTES(dictionary, file + 10, sizeof dictionary - 1);
    CHECK_INT('\n', file[127]);
    CHECK_BYTES(rows, file + 128, sizeof rows);
    unlink(path);
}

static void names_a_file_that_cannot_be_made(void) {
    struct npy npy;
    struct err e = {0};
    CHECK_INT(STATUS_IO, npy_create(&npy, "/nowhere/x.npy", 1, 1, &e));
    CHECK_TEXT("/nowhere/x.npy: cannot create: No such file or directory", e.message);
}

static void removes_an_abandoned_file(void) {
    char path[] = "/tmp/tensorfold-npy-XXXXXX";
    close(mkstemp(path));
    struct npy npy;
    CHECK_INT(STATUS_OK, npy_create(&npy, path, 1, 1, NULL));
    npy_abandon(&npy);
    CHECK(access(path, F_OK) != 0);
    npy_abandon(&npy); // a second time is harmless
}

static void leaves_what_is_no_file_alone(void) {
    char folder[] = "/tmp/tensorfold-npy-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK_INT(0, mkfifo(path, 0600));
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    struct npy npy;
    struct err e = {0};
    CHECK_INT(STATUS_IO, npy_create(&npy, path, 1, 1, &e)); // rows in any order need a file
    CHECK(strstr(e.message, path) != NULL);
    CHECK(access(path, F_OK) == 0);
    close(reader);
    unlink(path);
    rmdir(folder);
}

static const struct test_case cases[] = {
    {"writes rows in any order", writes_rows_in_any_order},
    {"names a file that cannot be made", names_a_file_that_cannot_be_made},
    {"removes an abandoned file", removes_an_abandoned_file},
    {"leaves a pipe or a device alone when it fails", leaves_what_is_no_file_alone},
};
TEST_MAIN("cli/npy", cases)
