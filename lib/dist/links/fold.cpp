#include "dist/links/fold.h"
#include "crisol/dtype_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace crisol::dist {

namespace {

/// The number of elements that are combined at a time, so that the sums stay in the L1 cache.
constexpr std::size_t block = 2048;

/// The type of a combination of elements. Halves are combined in float.
template <class T>
using ValueOf = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
/// The type of a sum. Unsigned numbers wrap around.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>,
                               std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>, ValueOf<T>>;

template <class Value>
bool is_nan(Value x) noexcept {
  if constexpr (std::is_floating_point_v<Value>) return std::isnan(x);
  return false;
}

template <class T, class Combine>
void fold_blocks(std::size_t count, const std::vector<const std::byte*>& parts, float scale,
                 const std::vector<double>& weights, const Combine& combine, const std::vector<std::byte*>& results) {
  T* const to = reinterpret_cast<T*>(results[0]);
  using Value = ValueOf<T>;
  std::array<Value, block> sums;
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t size = std::min(block, count - first);
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const T* const part = reinterpret_cast<const T*>(parts[r]) + first;
      const auto weight = static_cast<Value>(weights.empty() ? 1 : weights[r]);
      for (std::size_t i = 0; i < size; ++i) {
        Value value = static_cast<Value>(part[i]);
        if constexpr (std::is_floating_point_v<T>) value *= weight;
        sums[i] = r == 0 ? value : combine(sums[i], value);
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      if constexpr (std::is_integral_v<T>)
        to[first + i] = sums[i];
      else
        to[first + i] = static_cast<T>(scale == 1 ? sums[i] : sums[i] / scale);
    }
    for (std::size_t r = 1; r < results.size(); ++r)
      std::memcpy(results[r] + first * sizeof(T), to + first, size * sizeof(T));
  }
}

template <class T>
void fold_of(ReduceOp op, std::size_t count, const std::vector<const std::byte*>& parts,
             const std::vector<double>& weights, const std::vector<std::byte*>& results) {
  using Value = ValueOf<T>;
  const float scale = op == ReduceOp::mean ? static_cast<float>(parts.size()) : 1.0f;
  const auto run = [&](const auto& combine) { fold_blocks<T>(count, parts, scale, weights, combine, results); };
  if (op == ReduceOp::min) return run([](Value a, Value b) { return b < a || is_nan(b) ? b : a; });
  if (op == ReduceOp::max) return run([](Value a, Value b) { return a < b || is_nan(b) ? b : a; });
  run([](Value a, Value b) { return static_cast<Value>(static_cast<Sum<T>>(a) + static_cast<Sum<T>>(b)); });
}

}  // namespace

void fold(ReduceOp op, DType dtype, std::size_t count, const std::vector<const std::byte*>& parts,
          const std::vector<double>& weights, const std::vector<std::byte*>& results) {
  with_host_type(dtype, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, bool>)  // The bytes are 0 or 1.
      fold_of<std::uint8_t>(op == ReduceOp::sum ? ReduceOp::max : op, count, parts, weights, results);
    else
      fold_of<T>(op, count, parts, weights, results);
  });
}

}  // namespace crisol::dist
