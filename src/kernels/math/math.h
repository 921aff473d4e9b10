// The project's own exp, log, sine and cosine: one definition in fused multiply-adds, equal on every processor.
#ifndef TF_KERNELS_MATH_MATH_H
#define TF_KERNELS_MATH_MATH_H

// fp32 exp: reduction by log 2 in two parts, a polynomial of fmaf steps, scaling by bits. exp(-inf) = 0, NaN stays NaN,
// overflow gives +inf, results below the smallest normal number are flushed to 0. At most 1 ulp off.
// The SIMD forms in math_avx2.h and math_avx512.h are the same steps, lane by lane.
float math_exp(float x);

// 1 / (1 + exp(-x)).
float math_sigmoid(float x);

// Double precision, for tables and for drawing: correct to a few units in the last place, own polynomials.
double math_exp64(double x);
double math_log64(double x);   // x > 0
double math_log1p64(double x); // x > -1
void math_sincos64(double x, double *sine, double *cosine); // |x| up to 2^31, reduced in double-double

#endif
