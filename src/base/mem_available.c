// How much memory the machine, or the control group this process is in, still has to give.
#include "base/mem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The first number after `label` in a small file of /proc or /sys, whose size is not known before it is read.
static bool read_number(const char *path, const char *label, uint64_t *out) {
    char text[8192], *end;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    const char *at = strstr(text, label);
    if (!at) return false;
    at += strlen(label);
    *out = strtoull(at, &end, 10);
    return end != at;
}

static bool read_under(const char *root, const char *path, const char *label, uint64_t *out) {
    char full[512];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    return n > 0 && (size_t)n < sizeof full && read_number(full, label, out);
}

// What the control group has left. Its use counts file pages, which are dropped when memory runs short.
static bool read_group(const char *root, uint64_t *left) {
    static const char *const labels[] = {"\ninactive_file ", "\nactive_file "};
    uint64_t limit, used, pages, files = 0;
    if (!read_under(root, "/sys/fs/cgroup/memory.max", "", &limit)) return false;
    if (!read_under(root, "/sys/fs/cgroup/memory.current", "", &used)) return false;
    for (size_t i = 0; i < 2; i++) {
        if (read_under(root, "/sys/fs/cgroup/memory.stat", labels[i], &pages)) files += pages;
    }
    used -= files < used ? files : used;
    *left = limit > used ? limit - used : 0;
    return true;
}

uint64_t mem_available_under(const char *root) {
    uint64_t kib, left, bytes = 0;
    if (read_under(root, "/proc/meminfo", "MemAvailable:", &kib)) bytes = kib << 10;
    if (read_group(root, &left) && (bytes == 0 || left < bytes)) bytes = left;
    return bytes;
}

uint64_t mem_available(void) { return mem_available_under(""); }
