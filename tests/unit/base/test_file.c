// Mappings that outlive their file's length, and whole small files.
#include "base/file.h"
#include "base/mem.h"
#include "tests/support/temp.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = 10 * 4096 + 100 };

// A file of FILE_BYTES ones, mapped.
static struct file_map *map_ones(const struct temp *t, char path[TEMP_PATH_MAX]) {
    char ones[FILE_BYTES];
    struct file_map *m = NULL;
    struct err e = {0};
    memset(ones, 1, sizeof ones);
    temp_write(t, "ones", ones, sizeof ones);
    CHECK_INT(STATUS_OK, file_map_open(temp_path(t, "ones", path), &m, &e));
    CHECK_TEXT("", e.message);
    return m;
}

static uint64_t sum_of(const struct file_map *m) {
    const volatile uint8_t *p = file_map_data(m);
    uint64_t sum = 0;
    for (size_t i = 0; i < file_map_bytes(m); i++) sum += p[i];
    return sum;
}

static void maps_a_whole_file(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct file_map *m = map_ones(&t, path);
    CHECK_INT(FILE_BYTES, file_map_bytes(m));
    CHECK_TEXT(path, file_map_path(m));
    CHECK_INT(FILE_BYTES, sum_of(m));
    file_map_release(m, 5000, 10000);
    CHECK_INT(FILE_BYTES, sum_of(m));
    CHECK(!file_map_damaged(m));
    file_map_close(m);
    temp_remove(&t);
}

static void survives_a_file_cut_to_nothing(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct file_map *m = map_ones(&t, path);
    CHECK_INT(0, truncate(path, 0));
    CHECK_INT(0, sum_of(m));
    CHECK(file_map_damaged(m));
    file_map_close(m);
    temp_remove(&t);
}

static void reads_zeros_past_the_cut(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct file_map *m = map_ones(&t, path);
    CHECK_INT(FILE_BYTES, sum_of(m));
    CHECK_INT(0, truncate(path, 3 * 4096));
    CHECK_INT(3 * 4096, sum_of(m));
    CHECK(file_map_damaged(m));
    file_map_close(m);
    temp_remove(&t);
}

static void notices_a_cut_inside_the_last_page(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct file_map *m = map_ones(&t, path);
    CHECK_INT(0, truncate(path, FILE_BYTES - 1));
    CHECK(file_map_damaged(m));
    file_map_close(m);
    temp_remove(&t);
}

static void notices_a_file_cut_and_written_anew(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct file_map *m = map_ones(&t, path);
    struct timespec later[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = 4000000000}};
    CHECK_INT(0, utimensat(AT_FDCWD, path, later, 0));
    CHECK(file_map_damaged(m));
    file_map_close(m);
    temp_remove(&t);
}

static void damages_only_the_mapping_that_was_cut(void) {
    struct temp t = temp_new(), u = temp_new();
    char path[TEMP_PATH_MAX], other[TEMP_PATH_MAX];
    struct file_map *m = map_ones(&t, path), *n = map_ones(&u, other);
    CHECK_INT(0, truncate(path, 0));
    CHECK_INT(0, sum_of(m));
    CHECK_INT(FILE_BYTES, sum_of(n));
    CHECK(!file_map_damaged(n));
    file_map_close(m);
    file_map_close(n);
    temp_remove(&t);
    temp_remove(&u);
}

static void *open_cut_read_close(void *unused) {
    (void)unused;
    for (int i = 0; i < 50; i++) {
        struct temp t = temp_new();
        char path[TEMP_PATH_MAX];
        struct file_map *m = map_ones(&t, path);
        if (truncate(path, 4096) != 0) test_fail(__FILE__, __LINE__, "cannot cut %s", path);
        if (sum_of(m) != 4096) test_fail(__FILE__, __LINE__, "expected 4096 ones after the cut");
        file_map_close(m);
        temp_remove(&t);
    }
    return NULL;
}

static void survives_cuts_in_many_threads(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK_INT(0, pthread_create(&threads[i], NULL, open_cut_read_close, NULL));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void exit_with_seven(int number) {
    (void)number;
    _exit(7);
}

// Ours is not installed yet in this program: run first.
static void passes_foreign_bus_errors_on(void) {
    pid_t child = fork();
    if (child == 0) {
        struct temp t = temp_new();
        char path[TEMP_PATH_MAX];
        signal(SIGBUS, exit_with_seven);
        struct file_map *m = map_ones(&t, path);
        temp_remove(&t);
        raise(SIGBUS);
        file_map_close(m);
        _exit(0);
    }
    int how = 0;
    waitpid(child, &how, 0);
    CHECK(WIFEXITED(how));
    CHECK_INT(7, WEXITSTATUS(how));
}

static void foreign_bus_errors_end_the_process_by_default(void) {
    pid_t child = fork();
    if (child == 0) {
        struct temp t = temp_new();
        char path[TEMP_PATH_MAX];
        signal(SIGBUS, SIG_DFL);
        struct file_map *m = map_ones(&t, path);
        temp_remove(&t);
        raise(SIGBUS);
        file_map_close(m);
        _exit(0);
    }
    int how = 0;
    waitpid(child, &how, 0);
    CHECK(WIFSIGNALED(how));
    CHECK_INT(SIGBUS, WTERMSIG(how));
}

static void refuses_what_is_no_regular_file(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct file_map *m = NULL;
    struct err e = {0};
    CHECK_INT(STATUS_INVALID, file_map_open(t.folder, &m, &e));
    CHECK(strstr(e.message, t.folder) != NULL);
    err_clear(&e);
    CHECK_INT(0, mkfifo(temp_path(&t, "pipe", path), 0600));
    CHECK_INT(STATUS_INVALID, file_map_open(path, &m, &e));
    err_clear(&e);
    CHECK_INT(STATUS_NOT_FOUND, file_map_open(temp_path(&t, "none", path), &m, &e));
    CHECK(strstr(e.message, path) != NULL);
    CHECK(m == NULL);
    temp_remove(&t);
}

static void maps_an_empty_file(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX];
    struct file_map *m = NULL;
    temp_text(&t, "empty", "");
    CHECK_INT(STATUS_OK, file_map_open(temp_path(&t, "empty", path), &m, NULL));
    CHECK_INT(0, file_map_bytes(m));
    CHECK(file_map_data(m) == NULL);
    CHECK(!file_map_damaged(m));
    file_map_close(m);
    temp_remove(&t);
}

static void reads_a_small_file_whole(void) {
    struct temp t = temp_new();
    char path[TEMP_PATH_MAX], *text = NULL;
    size_t n = 0;
    struct err e = {0};
    temp_text(&t, "f", "hello");
    CHECK_INT(STATUS_OK, file_read(temp_path(&t, "f", path), 5, &text, &n, &e));
    CHECK_INT(5, n);
    CHECK_TEXT("hello", text);
    mem_free(text);
    CHECK_INT(STATUS_TOO_LARGE, file_read(path, 4, &text, &n, &e));
    CHECK(strstr(e.message, "5 bytes") != NULL);
    CHECK(text == NULL);
    CHECK(file_exists(path) && !file_is_folder(path));
    CHECK(!file_exists(t.folder) && file_is_folder(t.folder));
    temp_remove(&t);
}

static const struct test_case cases[] = {
    {"passes foreign bus errors on", passes_foreign_bus_errors_on},
    {"foreign bus errors end the process by default", foreign_bus_errors_end_the_process_by_default},
    {"maps a whole file", maps_a_whole_file},
    {"survives a file cut to nothing", survives_a_file_cut_to_nothing},
    {"reads zeros past the cut", reads_zeros_past_the_cut},
    {"notices a cut inside the last page", notices_a_cut_inside_the_last_page},
    {"notices a file cut and written anew", notices_a_file_cut_and_written_anew},
    {"damages only the mapping that was cut", damages_only_the_mapping_that_was_cut},
    {"survives cuts in many threads", survives_cuts_in_many_threads},
    {"refuses what is no regular file", refuses_what_is_no_regular_file},
    {"maps an empty file", maps_an_empty_file},
    {"reads a small file whole", reads_a_small_file_whole},
};
TEST_MAIN("base/file", cases)
