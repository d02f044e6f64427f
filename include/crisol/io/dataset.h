// Samples by index.
#pragma once

#include <cstdint>

#include "crisol/export.h"
#include "crisol/io/image_set.h"
#include "crisol/shape.h"

namespace crisol::io {

/// A fixed number of samples: an input of one shape and a class each. read() is called from the loader's thread, by one
/// thread at a time.
class CRISOL_API Dataset {
 public:
  virtual ~Dataset();
  /// Number of samples.
  virtual std::int64_t size() const = 0;
  /// Shape of one input.
  virtual Shape input_shape() const = 0;
  /// Writes the input of a sample, outermost axis first, and returns its class.
  virtual std::int64_t read(std::int64_t index, float* input) const = 0;
};

/// Grey images as (1, rows, columns): (pixel / 255 - mean) / deviation. Throws invalid_argument when there is a label
/// too many or few, or the deviation is not positive.
class CRISOL_API ImageDataset : public Dataset {
 public:
  explicit ImageDataset(ImageSet images, float mean = 0, float deviation = 1);
  /// Number of images.
  std::int64_t size() const override { return images_.size(); }
  Shape input_shape() const override { return {1, images_.rows, images_.columns}; }
  std::int64_t read(std::int64_t index, float* input) const override;
  /// The images as they were given.
  const ImageSet& images() const noexcept { return images_; }

 private:
  ImageSet images_;
  float scale_, shift_;
};

}  // namespace crisol::io
