// 1 / (1 + exp(-v)), without overflow.
#ifndef CRISOL_ESTIMATORS_LOGISTIC_H
#define CRISOL_ESTIMATORS_LOGISTIC_H

static inline float logistic(const float v) {
  const float y = 1.0f / (1.0f + exp(-fabs(v)));
  return v < 0.0f ? 1.0f - y : y;
}

#endif
