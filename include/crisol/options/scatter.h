// How scatter_reduce, index_reduce and scatter_nd combine elements.
#pragma once

#include <cstdint>

namespace crisol {

/// How the elements that are scattered to a place are combined with its old value: by their sum or product, or by
/// taking the largest or smallest of them. NaN counts as the largest and as the smallest.
enum class ScatterReduction : std::uint8_t { sum, prod, amax, amin };

}  // namespace crisol
