// Small grey images with their classes, on the host.
#pragma once

#include <cstdint>
#include <vector>

namespace crisol::io {

/// Grey images of `rows` × `columns` bytes, stored one after another, row by row. 0 is background, 255 is full ink.
struct ImageSet {
  std::int64_t rows = 0;             ///< Rows of an image.
  std::int64_t columns = 0;          ///< Columns of an image.
  std::vector<std::uint8_t> pixels;  ///< size() · rows · columns bytes.
  std::vector<std::uint8_t> labels;  ///< The class of each image.

  /// Number of images.
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(labels.size()); }
};

}  // namespace crisol::io
