#include "crisol/io/dataset.h"

#include "base/text.h"

namespace crisol::io {

Dataset::~Dataset() = default;

ImageDataset::ImageDataset(ImageSet images, float mean, float deviation)
    : images_(std::move(images)), scale_(1 / (255 * deviation)), shift_(-mean / deviation) {
  require(deviation > 0, "ImageDataset", "the standard deviation ", deviation, " is not positive");
  require(images_.rows > 0 && images_.columns > 0, "ImageDataset", "images of ", images_.rows, " x ", images_.columns,
          " pixels");
  require(static_cast<std::int64_t>(images_.pixels.size()) == images_.size() * images_.rows * images_.columns,
          "ImageDataset", images_.labels.size(), " labels for ", images_.pixels.size(), " pixels in images of ",
          images_.rows, " x ", images_.columns);
}

std::int64_t ImageDataset::read(std::int64_t index, float* input) const {
  const std::int64_t count = images_.rows * images_.columns;
  const std::uint8_t* pixels = images_.pixels.data() + index * count;
  for (std::int64_t i = 0; i < count; ++i) input[i] = static_cast<float>(pixels[i]) * scale_ + shift_;
  return images_.labels[static_cast<std::size_t>(index)];
}

}  // namespace crisol::io
