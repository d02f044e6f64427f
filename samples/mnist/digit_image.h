// A picture of a digit, as MNIST would have it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace mnist {

using DigitImage = std::array<std::uint8_t, 28 * 28>;

/// Reads a PNG or JPEG of any size with one digit, dark on light or light on dark, and gives it MNIST's format: light
/// ink on black, the ink's box scaled to 20 pixels with its aspect kept, its centre of mass in the middle of 28×28
/// pixels. Throws std::runtime_error, naming the file, when it cannot be read or holds no ink.
DigitImage read_digit(const std::string& path);

}  // namespace mnist
