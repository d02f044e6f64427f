// Loads or renders the digits.
#pragma once

#include <cstdint>
#include <string>

#include "crisol/io/dataset.h"

namespace mnist {

struct Digits {
  crisol::io::ImageDataset train, test;
  std::string source;  ///< A description of the images, for messages.
};

/// Reads the four MNIST files of a folder. Without a folder, renders digits from the seed.
Digits load_digits(const std::string& folder, std::int64_t rendered_count, std::uint64_t seed);

/// The datasets turn an image's bytes into a network input with this mean and deviation.
constexpr float mean = 0.1307f, deviation = 0.3081f;

}  // namespace mnist
