#include "dist/fold.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace crisol::dist {

namespace {

/// Elements that are combined at a time, so that the sums stay in the first cache.
constexpr std::size_t block = 2048;

/// The type in which elements are combined. Unsigned numbers wrap around.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>,
                               std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>, float>;

template <class T, class Combine>
void fold_blocks(std::size_t count, const std::byte* bytes, std::size_t ranks, float scale,
                 const std::vector<float>& weights, const Combine& combine, std::byte* result) {
  const T* const parts = reinterpret_cast<const T*>(bytes);
  T* const to = reinterpret_cast<T*>(result);
  using Value = std::conditional_t<std::is_integral_v<T>, T, float>;
  std::array<Value, block> sums;
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t size = std::min(block, count - first);
    for (std::size_t r = 0; r < ranks; ++r) {
      const T* const part = parts + r * count + first;
      const float weight = weights.empty() ? 1.0f : weights[r];
      for (std::size_t i = 0; i < size; ++i) {
        Value value = static_cast<Value>(part[i]);
        if constexpr (std::is_same_v<T, float>) value *= weight;
        sums[i] = r == 0 ? value : combine(sums[i], value);
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      if constexpr (std::is_integral_v<T>)
        to[first + i] = sums[i];
      else
        to[first + i] = static_cast<T>(scale == 1 ? sums[i] : sums[i] / scale);
    }
  }
}

template <class T>
void fold_of(ReduceOp op, std::size_t count, const std::byte* parts, std::size_t ranks,
             const std::vector<float>& weights, std::byte* result) {
  using Value = std::conditional_t<std::is_integral_v<T>, T, float>;
  const float scale = op == ReduceOp::mean ? static_cast<float>(ranks) : 1.0f;
  const auto run = [&](const auto& combine) { fold_blocks<T>(count, parts, ranks, scale, weights, combine, result); };
  if (op == ReduceOp::min) return run([](Value a, Value b) { return b < a || b != b ? b : a; });
  if (op == ReduceOp::max) return run([](Value a, Value b) { return a < b || b != b ? b : a; });
  run([](Value a, Value b) { return static_cast<Value>(static_cast<Sum<T>>(a) + static_cast<Sum<T>>(b)); });
}

}  // namespace

void fold(ReduceOp op, DType dtype, std::size_t count, const std::byte* parts, std::size_t ranks,
          const std::vector<float>& weights, std::byte* result) {
  switch (dtype) {
    case DType::f32: return fold_of<float>(op, count, parts, ranks, weights, result);
    case DType::f16: return fold_of<Half>(op, count, parts, ranks, weights, result);
    case DType::i32: return fold_of<std::int32_t>(op, count, parts, ranks, weights, result);
    case DType::i64: return fold_of<std::int64_t>(op, count, parts, ranks, weights, result);
    case DType::u8: return fold_of<std::uint8_t>(op, count, parts, ranks, weights, result);
    case DType::boolean:  // The bytes are 0 or 1.
      return fold_of<std::uint8_t>(op == ReduceOp::sum ? ReduceOp::max : op, count, parts, ranks, weights, result);
  }
}

}  // namespace crisol::dist
