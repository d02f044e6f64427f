// A value for the height and a value for the width of an image: options of convolution and pooling.
#pragma once

#include <iosfwd>

#include "crisol/export.h"

namespace crisol {

/// A value for the height and one for the width. A single int stands for both.
struct IntPair {
  int h;  ///< For the height.
  int w;  ///< For the width.

  constexpr IntPair(int both) noexcept : h(both), w(both) {}
  constexpr IntPair(int height, int width) noexcept : h(height), w(width) {}

  friend constexpr bool operator==(IntPair a, IntPair b) noexcept { return a.h == b.h && a.w == b.w; }
  friend constexpr bool operator!=(IntPair a, IntPair b) noexcept { return !(a == b); }
};

/// Prints "(3, 2)".
CRISOL_API std::ostream& operator<<(std::ostream& out, IntPair pair);

}  // namespace crisol
