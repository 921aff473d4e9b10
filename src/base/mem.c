// Allocation with overflow checks, a guard for the round loop and a switch for failing on purpose.
#include "base/mem.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local uint64_t count;
static _Thread_local uint64_t fail_at;
static _Thread_local uint32_t guards;

// True when this allocation may go on.
static bool admit(void) {
#ifdef TF_DEBUG
    if (guards > 0) abort(); // an allocation inside the round loop is a fault of ours
#endif
    count++;
    return fail_at == 0 || --fail_at != 0;
}

void *mem_new(size_t n, size_t size) {
    size_t bytes;
    if (!admit() || !checked_mul(n, size, &bytes)) return NULL;
    return calloc(bytes ? bytes : 1, 1);
}

void *mem_resize(void *p, size_t n, size_t size) {
    size_t bytes;
    if (!admit() || !checked_mul(n, size, &bytes)) return NULL;
    return realloc(p, bytes ? bytes : 1);
}

void mem_free(void *p) { free(p); }

char *mem_string(const char *text, size_t n) {
    size_t bytes;
    if (!checked_add(n, 1, &bytes)) return NULL;
    char *copy = mem_new(bytes, 1);
    if (copy && n) memcpy(copy, text, n);
    return copy;
}

void *mem_map(size_t bytes) {
    if (!admit()) return NULL;
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void mem_unmap(void *p, size_t bytes) {
    if (p) munmap(p, bytes ? bytes : 1);
}

void mem_prefer_large_pages(void *p, size_t bytes) { (void)madvise(p, bytes, MADV_HUGEPAGE); }

void mem_guard_begin(void) { guards++; }
void mem_guard_end(void) { guards--; }
void mem_fail_after(uint64_t n) { fail_at = n; }
uint64_t mem_count(void) { return count; }
