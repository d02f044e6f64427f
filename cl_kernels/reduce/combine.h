// How a reduction treats its elements: one block of macros for each KIND. Include this file after element.h and exp.h.
// S is float, double, int, long or ulong. INTEGER is defined if S has whole numbers, UNSIGNED if S is ulong, and WIDE
// if S has 8 bytes. `real` is double for a wide S with fractions, else float.
//
//   one, many             a scalar S; a vector of VW of them, whose lanes are independent
//   one_state, many_state what has been seen: a, b and c, as the kind needs them; d, what additions lost; `at`, an
//                         element's number
//   T stands for `one` or `many`:
//   START(T, s, n)        s becomes an empty state; elements will be numbered from n on
//   FOLD(T, s, v, n)      s sees element v, which has number n
//   FOLD_BLOCK(T, s, v, n, step)   s sees v[0] … v[7], which have the numbers n, n + step, …
//   SETTLE(T, s)          adds the rounding errors d to the sum
//   MERGE(T, s, o)        s sees everything that o has seen; o is settled
//   VALUE(T, s)           the result of a settled state; for moments it is the sum of squared distances from the mean
//   FROM_BASE(v, base)    the value that is folded for element v; base is the output's first element, the same in all
//                         parts
//   PAIR(x, y)            (simple kinds) one value for two elements: a tree of PAIRs may replace a few FOLDs
//
// The error of a sum is a few roundings, however long the sum is. Eight elements are added as a tree. The rounding
// error of the addition to the total is kept (Knuth's two-sum). Moments use the distances from the first element, so
// that a large mean costs no digits. Maximum and minimum are NaN if any element is NaN. Of equal elements, ARG takes
// the first one.
#include "common/two_sum.h"
#include "reduce/kinds.h"

#ifndef KIND
#define KIND KIND_SUM
#endif

#define V JOIN(S, VW)
typedef S one;
typedef V many;
#if defined(WIDE) && !defined(INTEGER)
typedef double real;
#define LARGEST DBL_MAX
#else
typedef float real;
#define LARGEST FLT_MAX
#endif
#ifdef WIDE
typedef long lane_index;
typedef JOIN(long, VW) many_index;
#define LANE_NUMBERS JOIN(convert_long, VW)(LANES)
#else
typedef int lane_index;
typedef JOIN(int, VW) many_index;
#define LANE_NUMBERS LANES
#endif
typedef long one_index;
typedef struct {
  one a, b, c, d;
  one_index at;
} one_state;
typedef struct {
  many a, b, c, d;
  many_index at;
} many_state;

#ifndef INTEGER
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#elif defined(UNSIGNED)
#define LOWEST 0
#define HIGHEST ULONG_MAX
#elif defined(WIDE)
#define LOWEST LONG_MIN
#define HIGHEST LONG_MAX
#else
#define LOWEST INT_MIN
#define HIGHEST INT_MAX
#endif

#define START(T, s, n)           \
  s.a = (T)(IDENTITY);           \
  s.b = s.c = s.d = (T)(0);      \
  s.at = (T##_index)(n);
#define SETTLE_(T, total, lost)         \
  {                                     \
    total = WITH_LOST(total, lost);     \
    lost = (T)(0);                      \
  }
#define SIMPLE_BLOCK(T, s, v, n, step)                                                                              \
  {                                                                                                                 \
    const T left_ = PAIR(PAIR(v[0], v[1]), PAIR(v[2], v[3])), right_ = PAIR(PAIR(v[4], v[5]), PAIR(v[6], v[7])); \
    const T block_ = PAIR(left_, right_);                                                                           \
    FOLD(T, s, block_, n)                                                                                           \
  }
#define SIMPLE_FOLD(T, s, v, n) s.a = PAIR(s.a, v);
#define SIMPLE_MERGE(T, s, o) s.a = PAIR(s.a, o.a);

#if KIND == KIND_SUM && !defined(INTEGER)
#define IDENTITY 0
#define PAIR(x, y) ((x) + (y))
#define FOLD(T, s, v, n) TWO_SUM(T, s.a, s.d, v)
#define FOLD_BLOCK SIMPLE_BLOCK
#define SETTLE(T, s) SETTLE_(T, s.a, s.d)
#define MERGE(T, s, o) TWO_SUM(T, s.a, s.d, o.a)
#define VALUE(T, s) (s.a)

#elif KIND <= KIND_MIN
#if KIND == KIND_SUM
#define IDENTITY 0
#define PAIR(x, y) ((x) + (y))
#elif KIND == KIND_PROD
#define IDENTITY 1
#define PAIR(x, y) ((x) * (y))
#elif KIND == KIND_MAX
#define IDENTITY LOWEST
#define PAIR(x, y) ((((x) > (y)) | ((x) != (x))) ? (x) : (y))
#else
#define IDENTITY HIGHEST
#define PAIR(x, y) ((((x) < (y)) | ((x) != (x))) ? (x) : (y))
#endif
#define FOLD SIMPLE_FOLD
#define FOLD_BLOCK SIMPLE_BLOCK
#define MERGE SIMPLE_MERGE
#define VALUE(T, s) (s.a)

#elif KIND == KIND_LOG_SUM_EXP
// a is the greatest element, and b is the sum of exp(x - a).
#define IDENTITY LOWEST
#define HIGHER(x, y) ((x) > (y) ? (x) : (y))
// Replaces infinity by a number, so that it can be subtracted from itself.
#define NUMBER(T, x) ((x) < -LARGEST ? (T)(-LARGEST) : (x) > LARGEST ? (T)(LARGEST) : (x))
// Multiplies s.b by `share` and adds `more` to it.
#define ADD_TO_(T, s, share, more)  \
  {                                 \
    const T share_ = (share);       \
    s.b *= share_;                  \
    s.d *= share_;                  \
    TWO_SUM(T, s.b, s.d, more)      \
  }
#define FOLD(T, s, v, n)                                                                   \
  {                                                                                        \
    const T top_ = HIGHER(s.a, v);                                                         \
    const T base_ = NUMBER(T, top_);                                                       \
    ADD_TO_(T, s, exp_##T(NUMBER(T, s.a) - base_), exp_##T((v) - base_))                   \
    s.a = top_;                                                                            \
  }
// CPUs do not unroll this loop, because an exponential takes long to compile there. GPUs unroll it, because otherwise
// the block would be in memory.
#ifndef EACH_EXP
#define EACH_EXP(k) for (int k = 1; k < 8; ++k)
#endif
#define FOLD_BLOCK(T, s, v, n, step)                                                                                  \
  {                                                                                                                   \
    const T left_ = HIGHER(HIGHER(v[0], v[1]), HIGHER(v[2], v[3]));                                                   \
    const T right_ = HIGHER(HIGHER(v[4], v[5]), HIGHER(v[6], v[7]));                                                  \
    const T block_ = HIGHER(left_, right_);                                                                           \
    const T top_ = HIGHER(s.a, block_);                                                                               \
    const T base_ = NUMBER(T, top_);                                                                                  \
    T sum_ = exp_##T(v[0] - base_);                                                                                   \
    EACH_EXP(k_) sum_ += exp_##T(v[k_] - base_);                                                                      \
    ADD_TO_(T, s, exp_##T(NUMBER(T, s.a) - base_), sum_)                                                              \
    s.a = top_;                                                                                                       \
  }
#define SETTLE(T, s) SETTLE_(T, s.b, s.d)
#define MERGE(T, s, o)                                                                                    \
  {                                                                                                       \
    const T top_ = HIGHER(s.a, o.a);                                                                      \
    const T base_ = NUMBER(T, top_);                                                                      \
    ADD_TO_(T, s, exp_##T(NUMBER(T, s.a) - base_), o.b * exp_##T(NUMBER(T, o.a) - base_))                 \
    s.a = top_;                                                                                           \
  }
#define VALUE(T, s) (s.a + log(s.b))

#elif KIND == KIND_MOMENTS
// a is the mean, b the sum of squared distances from it, c the number of elements (Chan, Golub and LeVeque).
#define IDENTITY 0
// The factors are in an order that never multiplies infinity by 0.
#define MOMENTS_OF(T, s, mean, squares, number)                         \
  {                                                                     \
    const T all_ = s.c + (number), apart_ = (mean) - s.a;               \
    const T share_ = all_ > 0.0f ? (number) / all_ : (T)(0.0f);         \
    const T more_squares_ = (squares) + apart_ * share_ * s.c * apart_; \
    TWO_SUM(T, s.b, s.d, more_squares_)                                 \
    s.a += apart_ * share_;                                             \
    s.c = all_;                                                         \
  }
#define FOLD(T, s, v, n) MOMENTS_OF(T, s, v, (T)(0.0f), (T)(1.0f))
#define SQUARE_(T, x) ((x) - mean_) * ((x) - mean_)
#define FOLD_BLOCK(T, s, v, n, step)                                                                          \
  {                                                                                                           \
    const T mean_ = (((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))) * 0.125f;             \
    const T low_ = (SQUARE_(T, v[0]) + SQUARE_(T, v[1])) + (SQUARE_(T, v[2]) + SQUARE_(T, v[3]));             \
    const T high_ = (SQUARE_(T, v[4]) + SQUARE_(T, v[5])) + (SQUARE_(T, v[6]) + SQUARE_(T, v[7]));            \
    MOMENTS_OF(T, s, mean_, low_ + high_, (T)(8.0f))                                                          \
  }
#define SETTLE(T, s) SETTLE_(T, s.b, s.d)
#define MERGE(T, s, o) MOMENTS_OF(T, s, o.a, o.b, o.c)
// If an element is infinite, the mean is infinite or NaN, and the result is NaN. Otherwise the second term is 0.
#define VALUE(T, s) (s.b + (s.a - s.a))

#else
// a is the greatest (least) element, and `at` is its number.
#if KIND == KIND_ARG_MAX
#define IDENTITY LOWEST
#define BEHIND(x, y) ((x) <= (y))
#else
#define IDENTITY HIGHEST
#define BEHIND(x, y) ((x) >= (y))
#endif
#define FOLD(T, s, v, n)                                   \
  {                                                        \
    const T v_ = (v);                                      \
    const T##_index n_ = (n);                              \
    s.at = (!BEHIND(v_, s.a) & (s.a == s.a)) ? n_ : s.at;  \
    s.a = (!BEHIND(v_, s.a) & (s.a == s.a)) ? v_ : s.a;    \
  }
#define FOLD_BLOCK(T, s, v, n, step) \
  _Pragma("unroll") for (int k_ = 0; k_ < 8; ++k_) FOLD(T, s, v[k_], (n) + k_ * (step))
#define EQUAL_(x, y) (((x) == (y)) | (((x) != (x)) & ((y) != (y))))
#define MERGE(T, s, o)                                                                      \
  {                                                                                         \
    const T a_ = s.a;                                                                       \
    s.a = (!BEHIND(o.a, a_) & (a_ == a_)) | (EQUAL_(a_, o.a) & (o.at < s.at)) ? o.a : a_;   \
    s.at = (!BEHIND(o.a, a_) & (a_ == a_)) | (EQUAL_(a_, o.a) & (o.at < s.at)) ? o.at : s.at; \
  }
#define VALUE(T, s) (s.a)
#endif

#ifndef SETTLE
#define SETTLE(T, s)
#endif
#if KIND == KIND_MOMENTS
#define FROM_BASE(v, base) ((v) - (base))
#else
#define FROM_BASE(v, base) (v)
#endif

// s becomes t in the lanes where the mask is true.
#define TAKE_LANES(s, t, mask)         \
  {                                    \
    s.a = (mask) ? t.a : s.a;          \
    s.b = (mask) ? t.b : s.b;          \
    s.c = (mask) ? t.c : s.c;          \
    s.d = (mask) ? t.d : s.d;          \
    s.at = (mask) ? t.at : s.at;       \
  }
