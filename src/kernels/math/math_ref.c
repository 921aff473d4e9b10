// exp, sigmoid, and the double-precision exp, log and sine in plain C; the definition that SIMD forms must equal.
#include "kernels/math/math.h"

#include "base/float16.h"

#include <math.h>
#include <string.h>

float math_exp(float x) {
    float c = x > MATH_EXP_LOWEST ? x : MATH_EXP_LOWEST; // NaN becomes the lower end too: the steps stay defined
    c = c < MATH_EXP_HIGHEST ? c : MATH_EXP_HIGHEST;
    float t = fmaf(c, MATH_EXP_LOG2E, MATH_EXP_ROUND);
    float n = t - MATH_EXP_ROUND;
    float r = fmaf(n, -MATH_EXP_LN2_HI, c);
    r = fmaf(n, -MATH_EXP_LN2_LO, r);
    float p = fmaf(MATH_EXP_C4, r, MATH_EXP_C3);
    p = fmaf(p, r, MATH_EXP_C2);
    p = fmaf(p, r, MATH_EXP_C1);
    p = fmaf(p, r, MATH_EXP_C0);
    p = fmaf(p, r * r, r) + 1.0f;
    float y = float_from_bits(float_bits(p) + (float_bits(t) << 23)); // times 2^n: the shift drops all but n's low bits
    if (x < MATH_EXP_LOWEST) y = 0.0f;
    if (x > MATH_EXP_HIGHEST) y = INFINITY;
    return x != x ? x : y;
}

float math_sigmoid(float x) { return 1.0f / (1.0f + math_exp(-x)); }

void math_exp_row_ref(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = math_exp(x[i]);
}

void math_sigmoid_row_ref(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = math_sigmoid(x[i]);
}

float math_squares(const float *x, uint32_t n) {
    enum { LANES = 16 };
    float lane[LANES] = {0};
    for (uint32_t i = 0; i < n; i++) lane[i % LANES] = fmaf(x[i], x[i], lane[i % LANES]);
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

static double double_from_bits(uint64_t u) {
    double d;
    memcpy(&d, &u, 8);
    return d;
}

static uint64_t double_bits(double d) {
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

// c[0] + c[1] x + ... + c[n-1] x^(n-1), from the highest power down.
static inline double polynomial(const double *c, int n, double x) {
    double p = c[n - 1];
    for (int i = n - 2; i >= 0; i--) p = p * x + c[i];
    return p;
}

// log 2 in two parts: whole multiples of the first, below 2^14, are exact.
static const double LN2_HI = 0x1.62e42fefap-1, LN2_LO = 0x1.cf79abc9e3b3ap-40;

// Two numbers side by side: every 64-bit instruction set has vectors of them.
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_bits __attribute__((vector_size(16)));

static inline pair choose(pair_bits mask, pair yes, pair no) {
    return (pair)((mask & (pair_bits)yes) | (~mask & (pair_bits)no));
}

static inline void exp64_pair(const double *from, double *to) {
    // Minimax of (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2, error 2^-64 of exp(r).
    static const double c[] = {0x1.0000000000000p-1,  0x1.555555555555bp-3,  0x1.5555555555503p-5,
                               0x1.111111110ec5dp-7,  0x1.6c16c16c3049ep-10, 0x1.a01a01b37e5ecp-13,
                               0x1.a01a01368a6cdp-16, 0x1.71ddf02075bcdp-19, 0x1.27e5b4502b29ep-22,
                               0x1.af6be8722afb2p-26, 0x1.1e3d1ef7b7d4ap-29};
    const pair zero = {0}, lowest = zero - 708.0, highest = zero + 709.75, round = zero + 0x1.8p+52;
    pair x;
    memcpy(&x, from, sizeof x);
    pair in = choose(x > lowest, x, lowest); // NaN becomes the lower end too: the steps stay defined
    in = choose(in < highest, in, highest);
    pair whole = in * 0x1.71547652b82fep+0 + round; // rounded to a whole number, which is in the low bits
    pair times = whole - round;
    pair r = (in - times * LN2_HI) - times * LN2_LO;
    pair z = r * r, even = zero + c[10], odd = zero + c[9]; // two chains, of even and of odd powers
    for (int k = 8; k > 0; k -= 2) {
        even = even * z + c[k];
        odd = odd * z + c[k - 1];
    }
    even = even * z + c[0];
    pair p = ((even + odd * r) * z + r) + 1.0;
    pair y = (pair)((pair_bits)p + ((pair_bits)whole << 52));
    y = choose(x < lowest, zero, y);
    y = choose(x > highest, zero + INFINITY, y);
    y = choose(x != x, x, y);
    memcpy(to, &y, sizeof y);
}

void math_exp64_row(const double *x, double *y, size_t n) {
    size_t i = 0;
    for (; i + 2 <= n; i += 2) exp64_pair(x + i, y + i);
    if (i == n) return;
    double last[2] = {x[i], x[i]};
    exp64_pair(last, last);
    y[i] = last[0];
}

double math_exp64(double x) {
    math_exp64_row(&x, &x, 1);
    return x;
}

// log(1 + f) + e log 2 for 1 + f within sqrt(1/2) .. sqrt(2); `c` is added among the small terms.
// With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + s^2 P(s^2))).
static double log_parts(double f, double c, double e) {
    // Minimax of (2 atanh(s) / s - 2) / s^2 in s^2, error 2^-58.
    static const double q[] = {0x1.5555555555592p-1, 0x1.999999997fd7ap-2, 0x1.24924941f4e05p-2, 0x1.c71c520615de1p-3,
                               0x1.74663fa07a006p-3, 0x1.39a1a70c46460p-3, 0x1.2f0634596e756p-3};
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double small = s * (half + z * polynomial(q, 7, z)) + (e * LN2_LO + c);
    return e * LN2_HI - ((half - small) - f);
}

// Splits a positive normal number into 2^e and a fraction within sqrt(1/2) .. sqrt(2).
static double split(double x, double *e) {
    const uint64_t root_half = 0x3fe6a09e667f3bcdu;
    uint64_t u = double_bits(x) - root_half;
    *e = (double)((int64_t)u >> 52);
    return double_from_bits((u & 0xfffffffffffffu) + root_half);
}

double math_log64(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
    if (x > 0x1.fffffffffffffp+1023) return x;
    double shift = 0.0, e;
    if (x < 0x1p-1022) x *= 0x1p+54, shift = -54.0;
    double m = split(x, &e);
    return log_parts(m - 1.0, 0.0, e + shift);
}

double math_log1p64(double x) {
    if (!(x > -1.0)) return x == -1.0 ? -INFINITY : NAN;
    if (fabs(x) < 0x1p-54) return x;
    if (x > 0x1p+60) return math_log64(x);
    double u = 1.0 + x, e;
    double lost = x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0); // what rounding took from 1 + x
    double m = split(u, &e);
    return log_parts(m - 1.0, lost / u, e);
}

void math_sincos64(double x, double *sine, double *cosine) {
    // Minimax of (sin(r) / r - 1) / r^2 and (cos(r) - 1 + r^2/2) / r^4 in r^2 on |r| <= pi/4, errors 2^-58 and 2^-64.
    static const double cs[] = {-0x1.5555555555549p-3, 0x1.111111110f87ap-7,   -0x1.a01a019c11978p-13,
                                0x1.71de3577b56b1p-19, -0x1.ae5e6639d42a1p-26, 0x1.5d9300cf18cc4p-33};
    static const double cc[] = {0x1.555555555554cp-5,   -0x1.6c16c16c1517ep-10, 0x1.a01a019cb1bebp-16,
                                -0x1.27e4f809f1605p-22, 0x1.1ee9ebe9abe4bp-29,  -0x1.8fae9cb4be0c4p-37};
    const double half_pi = 0x1.921fb54442d18p+0, half_pi_2 = 0x1.1a62633145c07p-54, half_pi_3 = -0x1.f1976b7ed8fbcp-110;
    double n = rint(x * 0x1.45f306dc9c883p-1);
    double a = fma(-n, half_pi, x); // exact: both are multiples of one small unit and nearly cancel
    double b = n * half_pi_2;
    double r = a - b;
    double tail = ((a - r) - b) - fma(n, half_pi_2, -b) - n * half_pi_3;
    double z = r * r;
    double s = r + (r * (z * polynomial(cs, 6, z)) + tail * (1.0 - 0.5 * z));
    double c = 1.0 - (0.5 * z - (z * z * polynomial(cc, 6, z) - r * tail));
    int64_t quadrant = (int64_t)n & 3;
    double turned_s = quadrant & 1 ? c : s, turned_c = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -turned_s : turned_s;
    *cosine = (quadrant + 1) & 2 ? -turned_c : turned_c;
}
