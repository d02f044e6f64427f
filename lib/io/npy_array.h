// The bytes of a .npy file as elements of a tensor.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "crisol/dtype.h"
#include "crisol/shape.h"
#include "io/files/input_file.h"

namespace crisol::io {

struct NpyArray {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::byte> elements;  ///< Outermost axis first.
};

/// Reads the contents of a .npy file. In error messages `name` says which array of the file it is. It is empty if the
/// file has one array.
NpyArray parse_npy(const InputFile& file, const std::string& name, std::string_view bytes);

}  // namespace crisol::io
