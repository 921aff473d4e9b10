// Processor features, counts and cache sizes.
#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
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

// A size as sysfs writes it ("32768K"); 0 when the file is absent or odd.
static uint64_t sysfs_cache_bytes(const char *path) {
    char text[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = '\0';
    char *end;
    uint64_t size = strtoull(text, &end, 10);
    if (size > UINT32_MAX) return 0;
    return *end == 'K' ? size << 10 : *end == 'M' ? size << 20 : 0;
}

// sysfs first: sysconf multiplies the size on some AMD processors.
uint64_t cpu_last_cache_bytes(void) {
    uint64_t bytes = sysfs_cache_bytes("/sys/devices/system/cpu/cpu0/cache/index3/size");
    if (!bytes) bytes = sysfs_cache_bytes("/sys/devices/system/cpu/cpu0/cache/index2/size");
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (!bytes && sysconf(_SC_LEVEL3_CACHE_SIZE) > 0) bytes = (uint64_t)sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return bytes ? bytes : (uint64_t)32 << 20;
}
