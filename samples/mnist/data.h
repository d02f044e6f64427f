// Where the digits come from.
#pragma once

#include <cstdint>
#include <string>

#include "crisol/io/dataset.h"

namespace mnist {

struct Digits {
  crisol::io::ImageDataset train, test;
  std::string source;  ///< For people: what these images are.
};

/// The four MNIST files of a folder, or, without one, digits that the library renders from the seed.
Digits load_digits(const std::string& folder, std::int64_t rendered_count, std::uint64_t seed);

/// An input of the network from the bytes of an image, as the datasets make it.
constexpr float mean = 0.1307f, deviation = 0.3081f;

}  // namespace mnist
