// Helpers for the tests of training on ranks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "crisol/dist.h"
#include "crisol/tensor.h"
#include "doctest/doctest.h"

namespace crisol::testing {

/// This rank's part of `samples` samples.
struct Part {
  explicit Part(std::int64_t samples)
      : begin(samples * dist::rank() / dist::world()), count(samples * (dist::rank() + 1) / dist::world() - begin) {}

  Tensor of(const Tensor& x) const { return x.narrow(0, begin, count); }

  const std::int64_t begin, count;
};

/// The largest difference of two elements.
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
  return most;
}

}  // namespace crisol::testing
