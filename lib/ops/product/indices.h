// Indices and sizes as the kernels of products and convolutions take them.
#pragma once

#include <cstdint>

namespace crisol::ops {

/// Kernels that count in 32 bits take tensors of fewer elements, because they count the bytes of a few images too.
constexpr std::int64_t max_index = std::int64_t{1} << 30;

/// A size that is known to have 32 bits.
constexpr std::int32_t number(std::int64_t value) { return static_cast<std::int32_t>(value); }

/// Whether vectors of `of` elements fill `value` elements.
constexpr bool is_multiple(std::int64_t value, std::int64_t of = 4) { return value % of == 0; }

}  // namespace crisol::ops
