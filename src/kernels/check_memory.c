// Guarded, poisoned memory for checks.
//
// The address range and the first faulting address are process-wide: a signal handler has no other way to find them.
#include "kernels/check_memory.h"

#include "base/mem.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
static const size_t RESERVED_BYTES = (size_t)2 << 30;

static _Atomic uintptr_t range_begin, range_end;
static _Atomic uintptr_t first_fault; // 0 = none since the last reset
static struct sigaction before;

// Only system calls and atomics: safe in a signal handler.
static void on_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    uintptr_t address = (uintptr_t)info->si_addr, none = 0;
    if (info->si_code <= 0 || address < atomic_load(&range_begin) || address >= atomic_load(&range_end)) {
        sigaction(number, &before, NULL); // not ours: the faulting instruction runs into the earlier handler
        return;
    }
    atomic_compare_exchange_strong(&first_fault, &none, address);
    mprotect((void *)(address & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

enum status check_memory_open(struct check_memory *m, struct err *e) {
    *m = (struct check_memory){.base = mem_map(RESERVED_BYTES), .bytes = RESERVED_BYTES};
    if (!m->base) return err_set(e, STATUS_NO_MEMORY, "kcheck: no address space for %zu bytes", m->bytes);
    atomic_store(&range_begin, (uintptr_t)m->base);
    atomic_store(&range_end, (uintptr_t)m->base + m->bytes);
    atomic_store(&first_fault, 0);
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, &ours, &before);
    return STATUS_OK;
}

void check_memory_close(struct check_memory *m) {
    sigaction(SIGSEGV, &before, NULL);
    atomic_store(&range_end, 0);
    mem_unmap(m->base, m->bytes);
    *m = (struct check_memory){0};
}

static void fill(uint8_t *from, uint8_t *to) {
    static const uint32_t poison = CHECK_POISON;
    for (uint8_t *p = from; p < to; p += sizeof poison) memcpy(p, &poison, sizeof poison);
}

void *check_memory_new(struct check_memory *m, size_t bytes, size_t align) {
    size_t body = (bytes + align + PAGE - 1) / PAGE * PAGE; // at least a few bytes before the piece
    if (m->n_pieces == CHECK_MEMORY_PIECES || bytes > m->bytes / 2 || m->used + body + 2 * PAGE > m->bytes)
        return NULL;
    uint8_t *guard = m->base + m->used; // the guard behind this piece is the guard before the next one
    struct check_piece *p = &m->piece[m->n_pieces++];
    *p = (struct check_piece){.body = guard + PAGE, .end = guard + PAGE + body, .bytes = bytes};
    p->start = (uint8_t *)((uintptr_t)(p->end - bytes) & ~(uintptr_t)(align - 1));
    m->used += PAGE + body;
    fill(p->body, p->end);
    mprotect(guard, PAGE, PROT_NONE);
    mprotect(p->end, PAGE, PROT_NONE);
    return p->start;
}

// The first byte of [from, to) that lost its poison, or NULL. Poison words start at the piece's page.
static const uint8_t *changed(const uint8_t *from, const uint8_t *to) {
    static const uint32_t poison = CHECK_POISON;
    for (const uint8_t *p = from; p < to; p++) {
        if (*p != ((const uint8_t *)&poison)[(uintptr_t)p % sizeof poison]) return p;
    }
    return NULL;
}

static void describe(const struct check_memory *m, const uint8_t *at, const char *verb, char *text, size_t n) {
    for (uint32_t i = 0; i < m->n_pieces; i++) {
        const struct check_piece *p = &m->piece[i];
        if (at < p->body - PAGE || at >= p->end + PAGE) continue;
        bool behind = at >= p->start + p->bytes;
        if (!behind && at >= p->start) continue;
        if (behind || i == 0 || at >= p->body) {
            snprintf(text, n, "%s memory %td bytes %s buffer %u of %zu bytes", verb,
                     behind ? at - p->start - (ptrdiff_t)p->bytes : p->start - at,
                     behind ? "past the end of" : "before the start of", i + 1, p->bytes);
            return;
        }
    }
    snprintf(text, n, "%s memory outside every buffer", verb);
}

bool check_memory_reset(struct check_memory *m, char *text, size_t n) {
    const uint8_t *fault = (const uint8_t *)atomic_exchange(&first_fault, 0);
    if (fault) describe(m, fault, "touches", text, n);
    const uint8_t *written = NULL;
    for (uint32_t i = 0; !fault && !written && i < m->n_pieces; i++) {
        const struct check_piece *p = &m->piece[i];
        written = changed(p->body, p->start);
        if (!written) written = changed(p->start + p->bytes, p->end);
        if (written) describe(m, written, "writes", text, n);
    }
    mprotect(m->base, m->used + PAGE, PROT_READ | PROT_WRITE);
    madvise(m->base, m->used + PAGE, MADV_DONTNEED);
    m->used = 0;
    m->n_pieces = 0;
    return !fault && !written;
}
