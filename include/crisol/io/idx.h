// The IDX files of MNIST and its relatives, plain or gzipped.
//
// IDX (http://yann.lecun.com/exdb/mnist): a big-endian 32-bit magic number (two zero bytes, 0x08 for bytes, the number
// of dimensions), one big-endian 32-bit size a dimension, outermost first, then the bytes. All functions throw Error
// (ErrorCode::io), with the file and what is wrong with it, for a file that is missing, unreadable, of another kind,
// too short, too long, or whose sizes cannot fit in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/export.h"
#include "crisol/io/image_set.h"

namespace crisol::io {

/// The images of one IDX file: count · rows · columns bytes.
struct IdxImages {
  std::int64_t count = 0;            ///< Images.
  std::int64_t rows = 0;             ///< Of an image.
  std::int64_t columns = 0;          ///< Of an image.
  std::vector<std::uint8_t> pixels;  ///< Image by image, row by row.
};

/// Reads a file of three dimensions (magic 0x00000803).
CRISOL_API IdxImages read_idx_images(const std::string& path);

/// Reads a file of one dimension (magic 0x00000801). Any byte is a label.
CRISOL_API std::vector<std::uint8_t> read_idx_labels(const std::string& path);

/// Reads images and their labels, which must be equally many.
CRISOL_API ImageSet read_idx(const std::string& images_path, const std::string& labels_path);

/// 60,000 images for training, or 10,000 for the test.
enum class MnistPart { train, test };

/// Reads MNIST's training or test part from a folder: `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, or the
/// same with `t10k`; also spelled `train-images.idx3-ubyte`; each with or without `.gz`. Images must be 28×28, labels 0
/// to 9.
CRISOL_API ImageSet load_mnist(const std::string& folder, MnistPart part);

}  // namespace crisol::io
