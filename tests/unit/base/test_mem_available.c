// Free memory, read from files as the kernel writes them.
#include "base/mem.h"
#include "tests/support/temp.h"
#include "tests/support/test.h"

#include <sys/stat.h>

#define MEMINFO "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    8000000 kB\n"
#define GIB ((uint64_t)1 << 30)

static void make_folders(const struct temp *t) {
    static const char *const folders[] = {"proc", "sys", "sys/fs", "sys/fs/cgroup"};
    char path[TEMP_PATH_MAX];
    for (size_t i = 0; i < 4; i++) CHECK_INT(0, mkdir(temp_path(t, folders[i], path), 0700));
}

static void takes_the_smaller_of_machine_and_group(void) {
    struct temp t = temp_new();
    make_folders(&t);
    CHECK_INT(0, mem_available_under(t.folder));
    temp_text(&t, "proc/meminfo", MEMINFO);
    CHECK_INT((uint64_t)8000000 << 10, mem_available_under(t.folder));
    temp_text(&t, "sys/fs/cgroup/memory.current", "268435456\n");
    temp_text(&t, "sys/fs/cgroup/memory.max", "max\n");
    CHECK_INT((uint64_t)8000000 << 10, mem_available_under(t.folder));
    temp_text(&t, "sys/fs/cgroup/memory.max", "1073741824\n");
    CHECK_INT(GIB / 4 * 3, mem_available_under(t.folder));
    temp_remove(&t);
}

// A group that has read much is full of pages that it can drop.
static void counts_file_pages_of_the_group_as_free(void) {
    struct temp t = temp_new();
    make_folders(&t);
    temp_text(&t, "proc/meminfo", MEMINFO);
    temp_text(&t, "sys/fs/cgroup/memory.max", "1073741824\n");
    temp_text(&t, "sys/fs/cgroup/memory.current", "1073741824\n");
    temp_text(&t, "sys/fs/cgroup/memory.stat",
              "anon 268435456\nfile 805306368\ninactive_anon 1\ninactive_file 536870912\nactive_file 268435456\n");
    CHECK_INT(GIB / 4 * 3, mem_available_under(t.folder));
    temp_text(&t, "sys/fs/cgroup/memory.current", "1000\n"); // read a moment apart, figures may disagree
    CHECK_INT(GIB, mem_available_under(t.folder));
    temp_remove(&t);
}

static const struct test_case cases[] = {
    {"takes the smaller of what machine and control group leave", takes_the_smaller_of_machine_and_group},
    {"counts file pages of the control group as free", counts_file_pages_of_the_group_as_free},
};
TEST_MAIN("base/mem_available", cases)
