// The IDX files of MNIST and similar data sets, plain or compressed with gzip.
//
// The format (http://yann.lecun.com/exdb/mnist) starts with a magic number of 32 bits: two zero bytes, 0x08 for bytes,
// and the number of dimensions. Then follow the sizes, 32 bits for each dimension, outermost first, and then the bytes.
// Numbers are big-endian. All functions throw Error (ErrorCode::io), with file and reason, for a file that is missing,
// unreadable, of another kind, too short or too long, or that has impossible sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/export.h"
#include "crisol/io/image_set.h"

namespace crisol::io {

/// The images of one IDX file: count · rows · columns bytes.
struct IdxImages {
  std::int64_t count = 0;            ///< Number of images.
  std::int64_t rows = 0;             ///< Rows of an image.
  std::int64_t columns = 0;          ///< Columns of an image.
  std::vector<std::uint8_t> pixels;  ///< Image by image, row by row.
};

/// Reads a file of three dimensions (magic 0x00000803).
CRISOL_API IdxImages read_idx_images(const std::string& path);

/// Reads a file of one dimension (magic 0x00000801). Any byte is a label.
CRISOL_API std::vector<std::uint8_t> read_idx_labels(const std::string& path);

/// Reads images and their labels. The two numbers must be equal.
CRISOL_API ImageSet read_idx(const std::string& images_path, const std::string& labels_path);

/// The part of MNIST: 60,000 images for training, or 10,000 for the test.
enum class MnistPart { train, test };

/// Reads a part of MNIST from a folder. The files for training are `train-images-idx3-ubyte` and
/// `train-labels-idx1-ubyte`. The files for the test have `t10k` in place of `train`. The spelling
/// `train-images.idx3-ubyte` and the extension `.gz` are accepted too. Images must be 28×28, labels 0 to 9.
CRISOL_API ImageSet load_mnist(const std::string& folder, MnistPart part);

}  // namespace crisol::io
