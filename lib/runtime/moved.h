// A position within a buffer.
#pragma once

#include "runtime/launch.h"

namespace crisol::runtime {

/// The view that starts `elements` elements later.
inline BufferView moved(BufferView view, std::int64_t elements) noexcept {
  view.offset += static_cast<std::uint64_t>(elements);
  return view;
}

}  // namespace crisol::runtime
