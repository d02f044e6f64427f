// Small grey images with their classes, on the host.
#pragma once

#include <cstdint>
#include <vector>

namespace crisol::io {

/// `size()` grey images of `rows` × `columns` bytes, one after another, row by row; 0 is background, 255 full ink.
struct ImageSet {
  std::int64_t rows = 0;             ///< Of an image.
  std::int64_t columns = 0;          ///< Of an image.
  std::vector<std::uint8_t> pixels;  ///< size() · rows · columns bytes.
  std::vector<std::uint8_t> labels;  ///< One class an image.

  /// Number of images.
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(labels.size()); }
};

}  // namespace crisol::io
