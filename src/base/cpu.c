// Processor features, counts and cache sizes.
#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <sched.h>
#include <string.h>
#include <unistd.h>

static const char *const names[ISA_COUNT] = {"ref", "avx2", "avx512"};

const char *isa_name(enum isa isa) { return names[isa]; }

#if defined(__x86_64__)
// clang 14 does not know this one by name.
static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

bool isa_available(enum isa isa) {
    if (isa == ISA_REF) return true;
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    if (isa == ISA_AVX2) return avx2;
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

enum isa isa_best(void) {
    int best = ISA_COUNT - 1;
    while (!isa_available((enum isa)best)) best--;
    return (enum isa)best;
}

enum status isa_parse(const char *name, enum isa *out, struct err *e) {
    for (int i = 0; i < ISA_COUNT; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        if (!isa_available((enum isa)i)) {
            return err_set(e, STATUS_UNSUPPORTED,
                           "--isa %s: this processor lacks it; the best it has is %s", name,
                           isa_name(isa_best()));
        }
        *out = (enum isa)i;
        return STATUS_OK;
    }
    return err_set(e, STATUS_INVALID, "--isa %s: unknown; use ref, avx2 or avx512", name);
}

uint32_t cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (uint32_t)n : 1;
}

uint64_t cpu_last_cache_bytes(void) {
    long bytes = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return bytes > 0 ? (uint64_t)bytes : (uint64_t)32 << 20;
}
