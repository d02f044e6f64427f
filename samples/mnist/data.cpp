#include "data.h"

#include <algorithm>

#include "crisol/io/idx.h"
#include "digits/digits.h"

namespace mnist {

namespace {

// Rendered test digits have their own fixed seed, so that runs with different training seeds can be compared.
constexpr std::uint64_t test_seed = 0x7465737464696769;

// One test image for six training images, as in MNIST. So a short run does not spend its time on testing.
std::int64_t test_count(std::int64_t train_count) { return std::clamp<std::int64_t>(train_count / 6, 100, 10000); }

}  // namespace

Digits load_digits(const std::string& folder, std::int64_t rendered_count, std::uint64_t seed) {
  using crisol::io::ImageDataset;
  using crisol::io::MnistPart;
  if (!folder.empty())
    return {ImageDataset(crisol::io::load_mnist(folder, MnistPart::train), mean, deviation),
            ImageDataset(crisol::io::load_mnist(folder, MnistPart::test), mean, deviation), "MNIST from " + folder};
  return {ImageDataset(samples::render_digits(rendered_count, seed), mean, deviation),
          ImageDataset(samples::render_digits(test_count(rendered_count), test_seed), mean, deviation),
          "rendered (--data DIR reads MNIST)"};
}

}  // namespace mnist
