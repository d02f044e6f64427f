// Integer division that rounds up.
#pragma once

#include <cstdint>

namespace crisol {

/// The number of pieces of size b that cover a. a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

}  // namespace crisol
