// Exact conversions from and to the 16-bit float formats, in plain integer C.
#ifndef TF_BASE_FLOAT16_H
#define TF_BASE_FLOAT16_H

#include <stdint.h>
#include <string.h>

static inline float float_from_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline uint32_t float_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static inline float bf16_to_float(uint16_t h) { return float_from_bits((uint32_t)h << 16); }

// IEEE binary16 to binary32, exact, subnormals and NaN included.
static inline float f16_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
    if (exponent == 31) return float_from_bits(sign | 0x7f800000 | (mantissa << 13));
    if (exponent) return float_from_bits(sign | ((exponent + 112) << 23) | (mantissa << 13));
    float magnitude = (float)mantissa * 0x1p-24f; // exact: 10 bits times a power of two
    return float_from_bits(sign | float_bits(magnitude));
}

// binary32 to bfloat16, round to nearest even; NaN stays NaN.
static inline uint16_t float_to_bf16(float f) {
    uint32_t u = float_bits(f);
    if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)((u >> 16) | 0x40);
    return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

#endif
