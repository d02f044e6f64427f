// The limit for the size of pictures.
#pragma once

#include <cstdint>

namespace crisol::io {

/// In pixels: the greatest height and width of the pictures that resize() makes.
inline constexpr std::int64_t largest_side = 16384;

}  // namespace crisol::io
