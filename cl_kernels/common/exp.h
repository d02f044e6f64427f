// exp(x) for x <= 0, for kernels that compute in vectors. The library functions of CPU implementations take two to four
// times as long. The error is at most 1.02 ulp where the result is 2^-126 or more (checked over all floats). Below
// 2^-126.5 the result is 0. x > 0 counts as 0, and NaN stays NaN. Include this file after vector.h.
//
// x = n log 2 + r, where n is whole and |r| <= log(2) / 2. exp r is a polynomial (from Cephes' expf), and 2^n is made
// by setting an exponent.
#define EXP_OF_NEGATIVE(name, T, I)                                               \
  INLINE T name(T x) {                                                            \
    x = x < -88.0f ? (T)(-88.0f) : x;                                             \
    x = x > 0.0f ? (T)(0.0f) : x;                                                 \
    /* The magic number leaves n in the lowest bits of the sum. */                \
    const T shifted = FMA(x, (T)(1.44269504f), (T)(12582912.0f));                 \
    const T n = shifted - 12582912.0f;                                            \
    T r = FMA(n, (T)(-0.693359375f), x);                                          \
    r = FMA(n, (T)(2.12194440e-4f), r);                                           \
    T p = FMA(r, (T)(1.9875691500e-4f), (T)(1.3981999507e-3f));                   \
    p = FMA(p, r, (T)(8.3334519073e-3f));                                         \
    p = FMA(p, r, (T)(4.1665795894e-2f));                                         \
    p = FMA(p, r, (T)(1.6666665459e-1f));                                         \
    p = FMA(p, r, (T)(5.0000001201e-1f));                                         \
    p = FMA(p, r * r, r) + 1.0f;                                                  \
    return p * JOIN(as_, T)((JOIN(as_, I)(shifted) - 0x4b400000 + 127) << 23);    \
  }
