// Handwritten-looking digits without a download.
#pragma once

#include <cstdint>

#include "crisol/io/image_set.h"

namespace samples {

/// Digits drawn from stroke skeletons in several writing styles, under random affine and elastic distortion, pen width
/// and ink, in the format of MNIST: 28×28 bytes, the glyph fitted into a 20×20 box with its aspect kept, then placed
/// so that its centre of mass lies within half a pixel of the image's centre.
///
/// Image i depends on `seed` and i only, not on `count`, the machine or the number of threads. Every ten images from a
/// multiple of ten on hold each digit once, in random order. Throws std::invalid_argument for a negative count.
crisol::io::ImageSet render_digits(std::int64_t count, std::uint64_t seed);

}  // namespace samples
