// The project's own exp, log, sine and cosine: one definition of plain IEEE steps, equal on every processor.
#ifndef TF_KERNELS_MATH_MATH_H
#define TF_KERNELS_MATH_MATH_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

// The SIMD forms of these in math_avx2.h and math_avx512.h are the same steps, lane by lane.

// fp32 exp: reduction by log 2 in two parts, a polynomial of fmaf steps, scaling by bits. exp(-inf) = 0, NaN stays as
// it is, overflow gives +inf, results below the smallest normal number are 0. Under 1 ulp off.
float math_exp(float x);

// 1 / (1 + exp(-x)).
float math_sigmoid(float x);

// Sum of squares, the only order of it: lane l of 16 starts at 0 and takes x = l, l+16, ... ascending by
// fmaf(x, x, lane); then the fixed tree lane[l] += lane[l+8], += lane[l+4], += lane[l+2], += lane[l+1].
float math_squares(const float *x, uint32_t n);

// Double precision, for tables and for drawing: own polynomials of plain multiplications and additions, a few units in
// the last place off. exp gives 0 below the smallest normal number.
double math_exp64(double x);
void math_exp64_row(const double *x, double *y, size_t n); // y[i] = math_exp64(x[i]); y may be x
double math_log64(double x);                               // 0 gives -inf, below 0 NaN
double math_log1p64(double x);                             // log(1 + x), accurate near 0; -1 gives -inf
// Of |x| up to 2^31, reduced in double-double.
void math_sincos64(double x, double *sine, double *cosine);

// The numbers of math_exp, shared with its SIMD forms.
#define MATH_EXP_LOWEST  (-0x1.5d589ep+6f) // below: 0 (just above log 2^-126)
#define MATH_EXP_HIGHEST 0x1.62e42ep+6f    // above: +inf
#define MATH_EXP_LOG2E   0x1.715476p+0f    // 1 / log 2
#define MATH_EXP_ROUND   0x1.8p+23f        // adding it rounds to a whole number, which is then in the low bits
#define MATH_EXP_LN2_HI  0x1.62e43p-1f
#define MATH_EXP_LN2_LO  (-0x1.05c61p-29f)
// Minimax of (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2, error 2^-28 of exp(r); lowest power first.
#define MATH_EXP_C0 0x1.fffffcp-2f
#define MATH_EXP_C1 0x1.555492p-3f
#define MATH_EXP_C2 0x1.5558f2p-5f
#define MATH_EXP_C3 0x1.1239e4p-7f
#define MATH_EXP_C4 0x1.6a243ap-10f

// y[i] of x[i], i < n, by each instruction set: math.def lists them so that their bits can be compared.
typedef void math_row_fn(const float *x, float *y, size_t n);
#define VARIANT(name, fn, isa) math_row_fn fn;
#include "kernels/math/math.def"
#undef VARIANT

#endif
