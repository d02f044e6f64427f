#include "crisol/functions/sampling.h"

#include "crisol/ops/sampling.h"

namespace crisol {

Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement, const Generator& generator) {
  return ops::multinomial(weights, num_samples, replacement, generator);
}

Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement) {
  return ops::multinomial(weights, num_samples, replacement);
}

Tensor sample_logits(const Tensor& logits, double temperature, std::int64_t top_k, const Generator& generator) {
  return ops::sample_logits(logits, temperature, top_k, generator);
}

Tensor sample_logits(const Tensor& logits, double temperature, std::int64_t top_k) {
  return ops::sample_logits(logits, temperature, top_k);
}

}  // namespace crisol
