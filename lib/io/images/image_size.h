// The limit for the size of pictures.
#pragma once

#include <cstdint>

namespace crisol::io {

/// The greatest height and width, in pixels, of pictures that resize() makes.
inline constexpr std::int64_t largest_side = 16384;

}  // namespace crisol::io
