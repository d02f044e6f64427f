// The functions of this folder for double and its vectors, and functions that kernels of doubles need in addition:
//
//   odd_float_(x)          x as a float for a narrower type. If x is no float, it is the float beside x whose last bit
//   is
//                          1. So a later rounding gives the same number as one rounding of x.
//   pow_(a, b), fmod_(a, b)   the functions of OpenCL, lane by lane: PoCL's functions of vectors are wrong or crash
//
// The library's functions are exact to a few units in the last place.
#include "common/vector.h"

#define doublev JOIN(double, VW)
#define longv JOIN(long, VW)
#define ON_DOUBLES(DEFINE) DEFINE(double, long) DEFINE(doublev, longv)

#define DEFINE_ONE(name, function, T) \
  INLINE T JOIN(name, T)(const T x) { return function; }
#define DEFINE_BUILTINS(T, I)     \
  DEFINE_ONE(cos_, cos(x), T)     \
  DEFINE_ONE(decay_, exp(-x), T)  \
  DEFINE_ONE(erf_, erf(x), T)     \
  DEFINE_ONE(erfc_, erfc(x), T)   \
  DEFINE_ONE(exp_, exp(x), T)     \
  DEFINE_ONE(expm1_, expm1(x), T) \
  DEFINE_ONE(log_, log(x), T)     \
  DEFINE_ONE(log1p_, log1p(x), T) \
  DEFINE_ONE(rint_, rint(x), T)   \
  DEFINE_ONE(sin_, sin(x), T)     \
  DEFINE_ONE(tan_, tan(x), T)     \
  DEFINE_ONE(tanh_, tanh(x), T)   \
  DEFINE_ONE(normal_cdf_, 0.5 * erfc(x * -0.70710678118654752), T)
ON_DOUBLES(DEFINE_BUILTINS)

#define DEFINE_OF_EXP(T, I)                                                                      \
  INLINE T JOIN(sigmoid_, T)(const T x) {                                                        \
    const T e = exp(-fabs(x));                                                                   \
    return (x < 0.0 ? e : (T)(1.0)) / (1.0 + e);                                                 \
  }                                                                                              \
  INLINE T JOIN(tanh_softplus_, T)(const T x) {                                                  \
    const T e = exp(x > 40.0 ? (T)(40.0) : x);                                                   \
    const T n = e * (e + 2.0);                                                                   \
    return n / (n + 2.0);                                                                        \
  }                                                                                              \
  INLINE T JOIN(gelu_slope_, T)(const T x) {                                                     \
    const T a = fabs(x) > 40.0 ? (T)(40.0) : fabs(x);                                            \
    return copysign(a, x) * (0.39894228040143268 * exp(-0.5 * a * a)) + JOIN(normal_cdf_, T)(x); \
  }                                                                                              \
  INLINE I JOIN(signbit_, T)(const T x) { return JOIN(as_, I)(x) < 0; }
ON_DOUBLES(DEFINE_OF_EXP)

#define DEFINE_BY_LANES(name)                                                        \
  INLINE double name##_double(const double a, const double b) { return name(a, b); } \
  INLINE doublev JOIN(name##_, doublev)(const doublev a, const doublev b) {          \
    double x[VW], y[VW];                                                             \
    vstorev(a, 0, x);                                                                \
    vstorev(b, 0, y);                                                                \
    NO_UNROLL                                                                        \
    for (int lane = 0; lane < VW; ++lane) x[lane] = name(x[lane], y[lane]);          \
    return vloadv(0, x);                                                             \
  }
DEFINE_BY_LANES(pow)
DEFINE_BY_LANES(fmod)

// As in floor_divide.h and nextafter.h.
#define DOUBLE_ORDER(bits) ((bits) < 0 ? LONG_MIN - (bits) : (bits))
#define DEFINE_OF_BITS(T, I)                                                             \
  INLINE T JOIN(floor_divide_, T)(const T a, const T b) {                                \
    const T rest = JOIN(fmod_, T)(a, b), whole = rint((a - rest) / b);                   \
    const T below = ((rest != 0.0) & ((rest < 0.0) != (b < 0.0))) ? whole - 1.0 : whole; \
    const T zero = copysign((T)(0.0), a / b);                                            \
    const I is_limit = (b == 0.0) | (fabs(a) == INFINITY) | (fabs(b) == INFINITY);       \
    return is_limit ? floor(a / b) : (below == 0.0 ? zero : below);                      \
  }                                                                                      \
  INLINE T JOIN(nextafter_, T)(const T a, const T b) {                                   \
    const I from = DOUBLE_ORDER(JOIN(as_, I)(a)), to = DOUBLE_ORDER(JOIN(as_, I)(b));    \
    const I next = to > from ? from + 1 : from - 1;                                      \
    const I negative = (next < 0) | ((next == 0) & (JOIN(as_, I)(a) < 0));               \
    const I bits = negative ? LONG_MIN - next : next;                                    \
    const T y = to == from ? b : JOIN(as_, T)(bits);                                     \
    return ((a != a) | (b != b)) ? (T)(NAN) : y;                                         \
  }
ON_DOUBLES(DEFINE_OF_BITS)

#define DEFINE_ODD_FLOAT(T, F, N)                                    \
  INLINE F JOIN(odd_float_, T)(const T x) {                          \
    const F near = JOIN(convert_, F)(x);                             \
    const T back = JOIN(convert_, T)(near);                          \
    const N is_far = JOIN(convert_, N)(fabs(back) > fabs(x)) & 1;    \
    const N is_inexact = JOIN(convert_, N)(back != x) & 1;           \
    return JOIN(as_, F)((JOIN(as_, N)(near) - is_far) | is_inexact); \
  }
DEFINE_ODD_FLOAT(double, float, int)
DEFINE_ODD_FLOAT(doublev, floatv, intv)

// The series of digamma.h and trigamma.h for x >= 10.
#define DEFINE_POLYGAMMA(T, I)                                                                                     \
  INLINE T JOIN(digamma_, T)(const T x) {                                                                          \
    T at = x < 0.0 ? 1.0 - x : x, sum = (T)(0.0);                                                                  \
    for (int i = 0; i < 10; ++i) {                                                                                 \
      sum = at < 10.0 ? sum - 1.0 / at : sum;                                                                      \
      at = at < 10.0 ? at + 1.0 : at;                                                                              \
    }                                                                                                              \
    const T r = 1.0 / at, r2 = r * r;                                                                              \
    T p = 691.0 / 32760 - r2 / 12;                                                                                 \
    p = 1.0 / 240 - r2 * (1.0 / 132 - r2 * p);                                                                     \
    p = 1.0 / 12 - r2 * (1.0 / 120 - r2 * (1.0 / 252 - r2 * p));                                                   \
    sum = sum + log(at) - 0.5 * r - r2 * p;                                                                        \
    const T part = x - rint(x);                                                                                    \
    return x < 0.0 ? sum - 3.14159265358979324 / tan(3.14159265358979324 * (part == 0.0 ? (T)(NAN) : part)) : sum; \
  }                                                                                                                \
  INLINE T JOIN(trigamma_, T)(const T x) {                                                                         \
    T at = x < 0.0 ? 1.0 - x : x, sum = (T)(0.0);                                                                  \
    for (int i = 0; i < 10; ++i) {                                                                                 \
      sum = at < 10.0 ? sum + 1.0 / (at * at) : sum;                                                               \
      at = at < 10.0 ? at + 1.0 : at;                                                                              \
    }                                                                                                              \
    const T r = 1.0 / at, r2 = r * r;                                                                              \
    T p = 5.0 / 66 - r2 * (691.0 / 2730 - r2 * (7.0 / 6));                                                         \
    p = 1.0 / 6 - r2 * (1.0 / 30 - r2 * (1.0 / 42 - r2 * (1.0 / 30 - r2 * p)));                                    \
    sum = sum + r + 0.5 * r2 + r * r2 * p;                                                                         \
    const T part = x - rint(x);                                                                                    \
    const T height = 3.14159265358979324 / sin(3.14159265358979324 * part);                                        \
    return x < 0.0 ? height * height - sum : sum;                                                                  \
  }
ON_DOUBLES(DEFINE_POLYGAMMA)
