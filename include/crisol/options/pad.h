// Options of padding.
#pragma once

#include <cstdint>

namespace crisol {

/// How many elements an axis gains before its first element and after its last one. A negative number removes elements.
struct AxisPadding {
  std::int64_t before = 0;  ///< Before the first element.
  std::int64_t after = 0;   ///< After the last element.
};

}  // namespace crisol
