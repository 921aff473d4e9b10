// How much memory the machine, or the control group this process is in, still has to give.
#include "base/file.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_FILE = 1 << 16 };

// The first number after `label` in a small text file; false when either is missing.
static bool read_number(const char *path, const char *label, uint64_t *out) {
    char *text;
    size_t n;
    if (file_read(path, SMALL_FILE, &text, &n, NULL) != STATUS_OK) return false;
    const char *at = strstr(text, label);
    char *end = NULL;
    if (at) *out = strtoull(at + strlen(label), &end, 10);
    bool found = at && end != at + strlen(label);
    mem_free(text);
    return found;
}

uint64_t mem_available(void) {
    uint64_t kib, bytes = 0, limit, used;
    if (read_number("/proc/meminfo", "MemAvailable:", &kib)) bytes = kib << 10;
    if (read_number("/sys/fs/cgroup/memory.max", "", &limit) && read_number("/sys/fs/cgroup/memory.current", "", &used)) {
        uint64_t left = limit > used ? limit - used : 0;
        if (bytes == 0 || left < bytes) bytes = left;
    }
    return bytes;
}
