// How much memory the machine, or the control group this process is in, still has to give.
#include "base/mem.h"

#include <fcntl.h>
#include <stdbool.h>
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

uint64_t mem_available(void) {
    uint64_t kib, bytes = 0, limit, used;
    if (read_number("/proc/meminfo", "MemAvailable:", &kib)) bytes = kib << 10;
    if (read_number("/sys/fs/cgroup/memory.max", "", &limit) &&
        read_number("/sys/fs/cgroup/memory.current", "", &used)) {
        uint64_t left = limit > used ? limit - used : 0;
        if (bytes == 0 || left < bytes) bytes = left;
    }
    return bytes;
}
