// Images as text.
#pragma once

#include <cstdint>
#include <string>

namespace mnist {

/// A grey image as text, two characters a pixel, without blank rows above and below; 0 is background.
std::string draw_image(const std::uint8_t* pixels, int rows, int columns);

}  // namespace mnist
