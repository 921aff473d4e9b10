// Runs the registered kernels and planted faults through their gates and reports.
#include "kernels/kcheck.h"

#include "base/mem.h"
#include "kernels/check_state.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <fenv.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define X(name) extern const struct check_family name##_check;
#include "kernels/check.def"
#undef X

static const struct check_family *const families[] = {
#define X(name) &name##_check,
#include "kernels/check.def"
#undef X
};

enum { THREADS = 3 };

static const char *const gate_names[CHECK_GATE_COUNT] = {"bits",      "accuracy",    "rows",
                                                         "partition", "composition", "edges"};

static bool is_name(const char *text, size_t n, const char *name) {
    return strlen(name) == n && memcmp(text, name, n) == 0;
}

enum status kcheck_parse_isas(const char *list, uint32_t *isas, struct err *e) {
    *isas = 0;
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        int isa = 0;
        while (isa < ISA_COUNT && !is_name(p, n, isa_name((enum isa)isa))) isa++;
        if (isa == ISA_COUNT) {
            return err_set(e, STATUS_INVALID, "--isa: %.*s is unknown; use ref, avx2 or avx512", (int)n, p);
        }
        *isas |= 1u << isa;
        p += n + (p[n] == ',');
    }
    return STATUS_OK;
}

// The pattern matches the whole name, or names a whole leading part of it ("linear" takes linear.Q4_0.avx2 in).
static bool chosen(const struct kcheck_options *o, const char *name) {
    if (!o->op || fnmatch(o->op, name, FNM_CASEFOLD) == 0) return true;
    size_t n = strlen(o->op);
    return strncasecmp(o->op, name, n) == 0 && name[n] == '.';
}

static uint64_t mix(uint64_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

// True while the upper halves of vector registers hold something: then every SSE instruction is slow until they are
// cleared, so a kernel has to clear them on its way out. The processor tells (XGETBV with ECX = 1).
// Clears them, so that the next kernel is judged alone.
static bool upper_halves_left_in_use(void) {
#ifdef __x86_64__
    unsigned a, b, c, d;
    if (!__get_cpuid_count(0xd, 1, &a, &b, &c, &d) || !(a >> 2 & 1)) return false;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    if (!(a >> 2 & 1)) return false;
    __asm__ volatile("vzeroupper");
    return true;
#else
    return false;
#endif
}

// Runs one gate; true when it held. c->message has the reason when it did not.
static bool run_gate(struct check *c, const struct check_family *f, int gate, const void *variant) {
    c->failed = false;
    c->random = mix(mix(c->options->seed ^ 0xcbf29ce484222325u, c->name), gate_names[gate]);
    f->gate[gate](c, variant);
    if (upper_halves_left_in_use()) c->upper_halves = true;
    check_forget(c);
    return !c->failed;
}

// What no kernel may do: allocate, or leave another rounding mode, flushed subnormals or used upper halves behind.
static bool within_limits(struct check *c, uint64_t allocations_before) {
    volatile float smallest = 0x1p-126f, half = 0.5f;
    uint64_t allocations = mem_count() - allocations_before;
    bool flushed = smallest * half == 0, rounding = fegetround() != FE_TONEAREST;
    if (allocations) check_line(c, "LIMIT   %s: made %llu allocations", c->name, (unsigned long long)allocations);
    if (flushed) check_line(c, "LIMIT   %s: left subnormal numbers flushed to zero", c->name);
    if (rounding) check_line(c, "LIMIT   %s: left another rounding mode", c->name);
    if (c->upper_halves) check_line(c, "LIMIT   %s: left upper halves of vector registers in use", c->name);
    return !allocations && !flushed && !rounding && !c->upper_halves;
}

static void check_kernel(struct check *c, const struct check_family *f, const void *variant,
                         struct kcheck_summary *s) {
    char passed[96] = "";
    uint64_t allocations = mem_count();
    c->upper_halves = false;
    for (int gate = 0; gate < CHECK_GATE_COUNT; gate++) {
        if (!f->gate[gate]) continue;
        if (!run_gate(c, f, gate, variant)) {
            check_line(c, "FAIL    %s: %s: %s", c->name, gate_names[gate], c->message);
            s->failed++;
            return;
        }
        size_t used = strlen(passed);
        snprintf(passed + used, sizeof passed - used, " %s", gate_names[gate]);
    }
    if (!within_limits(c, allocations)) s->limits++;
    check_line(c, "pass    %s:%s", c->name, passed);
    s->passed++;
}

static void visit_kernel(struct check *c, const struct check_family *f, const struct check_kernel *k,
                         struct kcheck_summary *s) {
    const struct kcheck_options *o = c->options;
    const char *name = c->name;
    snprintf(c->name, sizeof c->name, "%s.%s.%s", f->name, k->name, isa_name(k->isa));
    if (!chosen(o, name) || (o->isas && !(o->isas >> k->isa & 1))) return;
    s->visited++;
    if (o->list) {
        check_line(c, "%-36s %s", name, f->domain);
    } else if (!isa_available(k->isa)) {
        check_line(c, "skip    %s: this processor lacks %s", name, isa_name(k->isa));
        s->skipped++;
    } else if (!o->bench) {
        check_kernel(c, f, k->variant, s);
    } else if (f->bench) {
        c->failed = false;
        f->bench(c, k->variant);
        check_forget(c);
        if (c->failed) check_line(c, "%s: %s", name, c->message);
    }
}

static void visit_fault(struct check *c, const struct check_family *f, const struct check_fault *fault,
                        struct kcheck_summary *s) {
    const char *name = c->name;
    snprintf(c->name, sizeof c->name, "%s.fault.%s", f->name, fault->name);
    if (c->options->bench || !chosen(c->options, name)) return;
    s->visited++;
    if (c->options->list) {
        check_line(c, "%-36s planted: %s; %s must go red", name, fault->does, gate_names[fault->gate]);
    } else if (run_gate(c, f, (int)fault->gate, fault->variant)) {
        check_line(c, "MISSED  %s: %s, and %s stayed green", name, fault->does, gate_names[fault->gate]);
        s->missed++;
    } else {
        check_line(c, "red     %s: %s: %s", name, gate_names[fault->gate], c->message);
        s->red++;
    }
}

static void visit_all(struct check *c, struct kcheck_summary *s) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct check_family *f = families[i];
        for (size_t j = 0; j < f->n_kernels; j++) visit_kernel(c, f, &f->kernels[j], s);
        for (size_t j = 0; j < f->n_faults; j++) visit_fault(c, f, &f->faults[j], s);
    }
    if (c->options->bench || c->options->list) return;
    check_line(c, "SUMMARY %u kernels: %u pass, %u fail; %u controls: %u red as planted, %u missed; %u limit problems",
               s->passed + s->failed, s->passed, s->failed, s->red + s->missed, s->red, s->missed, s->limits);
}

enum status kcheck_run(const struct kcheck_options *o, struct kcheck_summary *s, struct err *e) {
    struct check c = {.options = o};
    *s = (struct kcheck_summary){0};
    TRY(pool_open(THREADS, &c.pool, e));
    enum status status = check_memory_open(&c.memory, e);
    if (status == STATUS_OK) {
        visit_all(&c, s);
        check_memory_close(&c.memory);
    }
    pool_close(c.pool);
    return status;
}
