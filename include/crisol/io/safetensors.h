// Tensors in files: the safetensors format (https://github.com/huggingface/safetensors).
//
// A file has three parts. The first is the length of the header, 8 bytes, little-endian. The second is the header, in
// JSON. It gives the dtype, the shape and the range of bytes of each tensor by its name. Its key `__metadata__` gives
// free texts by name. The third is the data: the bytes of the tensors, little-endian, outermost axis first, without
// holes.
//
// Files are not trusted. Functions throw Error (ErrorCode::io) with the file, the rule and the values if one of these
// rules is broken:
// - The header is at most 100 MB long, fits in the file, begins with '{', and is the expected JSON.
// - A name appears once.
// - A dtype is one of the names of element types in crisol/dtypes.def, such as F32.
// - Sizes are not negative, and their product does not overflow.
// - A range fits dtype and shape. Ranges do not overlap and leave no holes. The last range ends at the end of the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/dtype.h"
#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/shape.h"

namespace crisol::io {

/// Free texts by name, stored with the tensors.
using Metadata = std::map<std::string, std::string>;

/// One tensor of a file. Its bytes are begin … end-1, counted from the start of the data.
struct SafetensorsEntry {
  std::string name;          ///< Unique in the file.
  DType dtype = DType::f32;  ///< In the file the name in crisol/dtypes.def, such as F32.
  Shape shape;               ///< Outermost axis first.
  std::uint64_t begin = 0;   ///< Position of its first byte.
  std::uint64_t end = 0;     ///< Position after its last byte.
};

/// The header of a file.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< In the order of the header.
  Metadata metadata;                      ///< `__metadata__`; empty without one.
  std::uint64_t data_begin = 0;           ///< Position of the data in the file.
};

/// Reads the header of a file and checks all rules of the format. Does not read the data.
CRISOL_API SafetensorsHeader parse_safetensors(const std::string& path);

/// Reads all tensors to a device, in the order of the header. Writes the metadata of the file to *metadata, if it is
/// not null. Only one tensor at a time is in host memory.
CRISOL_API NamedTensors load_safetensors(const std::string& path, Device device = Device(),
                                         Metadata* metadata = nullptr);

/// Writes tensors to a file. They load in the same order. Waits for their values. The file is written under a temporary
/// name in the same folder, flushed to the disk and then renamed. So `path` is always the complete old file or the
/// complete new file. Throws invalid_argument for a name that appears twice, is `__metadata__` or is not UTF-8, and for
/// an undefined tensor. Throws io if the folder is missing, full or not writable. After an error no new file remains.
CRISOL_API void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace crisol::io
