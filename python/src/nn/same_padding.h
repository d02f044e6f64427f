// The paddings that PyTorch names by words.
#pragma once

#include <vector>

#include "bindings.h"
#include "option_casters.h"

namespace crisol::python {

/// The padding of a convolution: numbers, "valid" (none), or "same" (the output has the input's size).
struct ConvPadding {
  std::vector<int> before, after;  ///< For each axis.
  bool is_even() const { return before == after; }
};

/// Reads a padding for the numbers of a kernel's axes.
ConvPadding read_padding(nb::handle padding, const std::vector<int>& kernel, const std::vector<int>& stride,
                         const std::vector<int>& dilation);

inline std::vector<int> numbers_of(IntSingle x) { return {x.w}; }
inline std::vector<int> numbers_of(IntPair x) { return {x.h, x.w}; }
inline std::vector<int> numbers_of(IntTriple x) { return {x.d, x.h, x.w}; }
inline void set_numbers(IntSingle& x, const std::vector<int>& n) { x = IntSingle(n[0]); }
inline void set_numbers(IntPair& x, const std::vector<int>& n) { x = {n[0], n[1]}; }
inline void set_numbers(IntTriple& x, const std::vector<int>& n) { x = {n[0], n[1], n[2]}; }

}  // namespace crisol::python
