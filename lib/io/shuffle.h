// Orders of samples. Random orders are the same on every machine.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace crisol::io {

/// 0 … count-1.
inline std::vector<std::int64_t> in_order(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// A permutation of 0 … count-1. Uses only mt19937_64, which gives the same numbers in every library. std::shuffle and
/// the standard distributions may differ.
inline std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order = in_order(count);
  std::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace crisol::io
