// Indices and sizes in the form that the kernels of products and convolutions take.
#pragma once

#include <cstdint>

#include "common/parameters.h"

namespace crisol::ops {

/// The limit for the elements of a tensor in kernels that count in 32 bits. They also count the bytes of a few images.
constexpr std::int64_t max_index = std::int64_t{1} << 30;

using kernels::number;

/// Whether vectors of `of` elements fill `value` elements.
constexpr bool is_multiple(std::int64_t value, std::int64_t of = 4) { return value % of == 0; }

}  // namespace crisol::ops
