// How scatter_reduce, index_reduce and scatter_nd combine elements.
#pragma once

#include <cstdint>

namespace crisol {

/// The value of a place to which elements are scattered, of the elements and its old value: their sum or product, or
/// the largest or smallest of them. NaN counts as the largest and as the smallest.
enum class ScatterReduction : std::uint8_t { sum, prod, amax, amin };

}  // namespace crisol
