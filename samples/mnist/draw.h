// Draws images as text.
#pragma once

#include <cstdint>
#include <string>

namespace mnist {

/// A grey image as text, with two characters per pixel. Blank rows above and below are left out; 0 is background.
std::string draw_image(const std::uint8_t* pixels, int rows, int columns);

}  // namespace mnist
