// Converts a picture of a digit to MNIST's format.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace mnist {

using DigitImage = std::array<std::uint8_t, 28 * 28>;

/// Reads a PNG or JPEG of any size with one digit, dark on light or light on dark. Converts it to MNIST's format: light
/// ink on black, in 28×28 pixels. The ink's box is scaled to 20 pixels with its aspect ratio kept, and its centre of
/// mass is in the middle. Throws std::runtime_error with the file's name when the file cannot be read or contains no
/// ink.
DigitImage read_digit(const std::string& path);

}  // namespace mnist
