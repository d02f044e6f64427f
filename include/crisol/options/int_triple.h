// A value for each axis of a volume: options of convolution and pooling.
#pragma once

#include <iosfwd>

#include "crisol/export.h"

namespace crisol {

/// A value for the depth, one for the height and one for the width. A single int stands for all three.
struct IntTriple {
  int d;  ///< For the depth.
  int h;  ///< For the height.
  int w;  ///< For the width.

  constexpr IntTriple(int all) noexcept : d(all), h(all), w(all) {}
  constexpr IntTriple(int depth, int height, int width) noexcept : d(depth), h(height), w(width) {}

  friend constexpr bool operator==(IntTriple a, IntTriple b) noexcept { return a.d == b.d && a.h == b.h && a.w == b.w; }
  friend constexpr bool operator!=(IntTriple a, IntTriple b) noexcept { return !(a == b); }
};

/// Prints "(3, 2, 2)".
CRISOL_API std::ostream& operator<<(std::ostream& out, IntTriple triple);

}  // namespace crisol
