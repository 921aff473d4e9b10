// The only place that takes memory from the system, so that allocation can be counted, failed and forbidden.
#ifndef TF_BASE_MEM_H
#define TF_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

// n * size zeroed bytes aligned for any type; NULL when it overflows or there is none. Free with mem_free.
void *mem_new(size_t n, size_t size);

// Grows or shrinks to n * size bytes; new bytes are not zeroed. NULL leaves `p` as it was.
void *mem_resize(void *p, size_t n, size_t size);

void mem_free(void *p); // mem_free(NULL) is legal

char *mem_string(const char *text, size_t n); // a terminated copy of n bytes; NULL when there is none

// Page-aligned zeroed memory that counts as used only where it is touched. Free with mem_unmap.
void *mem_map(size_t bytes);
void mem_unmap(void *p, size_t bytes);

// Asks for large pages in mapped memory that will be filled as a whole and streamed through. A hint.
void mem_prefer_large_pages(void *p, size_t bytes);

// Bytes that this process can still take without pushing others out: what the kernel estimates, and no more than its
// control group leaves beside file pages. 0 when the system does not say. Tests: /proc and /sys lie under `root`.
uint64_t mem_available(void);
uint64_t mem_available_under(const char *root);

// While the guard is on in this thread, a debug build (TF_DEBUG) aborts on any allocation here. Nests.
void mem_guard_begin(void);
void mem_guard_end(void);

// Tests: the n-th allocation from now on in this thread fails (1 = the next); 0 switches it off.
void mem_fail_after(uint64_t n);

// Allocations made by this thread so far.
uint64_t mem_count(void);

#endif
