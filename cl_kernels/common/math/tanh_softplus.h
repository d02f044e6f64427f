// tanh_softplus_(x) = tanh(log(1 + e^x)) = e^x (e^x + 2) / (e^x (e^x + 2) + 2).
#include "common/math/exp.h"

#define DEFINE_TANH_SOFTPLUS(T, I)                         \
  INLINE T JOIN(tanh_softplus_, T)(const T x) {            \
    const T e = JOIN(exp_, T)(x > 20.0f ? (T)(20.0f) : x); \
    const T n = e * (e + 2.0f);                            \
    return n / (n + 2.0f);                                 \
  }
ON_FLOATS(DEFINE_TANH_SOFTPLUS)
