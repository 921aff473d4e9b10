// Which instruction sets this processor has, and the names people select them by.
#ifndef TF_BASE_CPU_H
#define TF_BASE_CPU_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

// Rising order; each set of kernels overlays the one before. All give the same bits.
enum isa { ISA_REF, ISA_AVX2, ISA_AVX512, ISA_COUNT };

const char *isa_name(enum isa isa); // "ref", "avx2", "avx512"

// True when this processor and operating system can run the kernels of that set
// (avx2: AVX2, FMA, F16C; avx512: F, BW, VL, DQ and VNNI besides).
bool isa_available(enum isa isa);

enum isa isa_best(void);

// Parses a name; an unknown one or one that this machine lacks is refused with a message that names it.
enum status isa_parse(const char *name, enum isa *out, struct err *e) TF_MUST_CHECK;

// Processors this process may run on (its affinity mask), at least 1.
uint32_t cpu_count(void);

// Bytes of the last-level cache, or 32 MiB where the system does not say.
uint64_t cpu_last_cache_bytes(void);

#endif
