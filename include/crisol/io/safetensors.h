// Tensors in files: the safetensors format (https://github.com/huggingface/safetensors).
//
// A file holds 8 bytes with the little-endian length of the header, the header (JSON: name → dtype, shape and the range
// of bytes; and `__metadata__`, strings by name), then the data: the tensors' bytes, little-endian, outermost axis
// first, without holes. Files are not trusted: a header above 100 MB or longer than the file, that does not begin with
// '{' or is not the expected JSON, a name given twice, a dtype other than F32, F16, I32, I64, U8 and BOOL, sizes that
// are negative or overflow, ranges that are reversed, overlap, leave holes, do not fit dtype and shape or do not end
// with the file, all throw Error (ErrorCode::io) with the file, the rule and the values.
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

/// Free text by name that travels with the tensors.
using Metadata = std::map<std::string, std::string>;

/// One tensor of a file: its bytes are begin … end-1, counted from the start of the data.
struct SafetensorsEntry {
  std::string name;          ///< Unique in the file.
  DType dtype = DType::f32;  ///< F32, F16, I32, I64, U8 or BOOL in the file.
  Shape shape;               ///< Outermost axis first.
  std::uint64_t begin = 0;   ///< Of its first byte.
  std::uint64_t end = 0;     ///< Behind its last byte.
};

/// What a file holds, without its data.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< In the order of the header.
  Metadata metadata;                      ///< `__metadata__`; empty without one.
  std::uint64_t data_begin = 0;           ///< Where the data starts in the file.
};

/// Reads and checks the header of a file, all of the format's rules included, without its data.
CRISOL_API SafetensorsHeader parse_safetensors(const std::string& path);

/// Reads all tensors to a device, in the order of the header, and the metadata of the same file where it is asked for.
/// One tensor at a time passes through host memory.
CRISOL_API NamedTensors load_safetensors(const std::string& path, Device device = Device(),
                                         Metadata* metadata = nullptr);

/// Writes tensors so that they load in the same order; waits for their values. The file is written under a temporary
/// name in the same folder, flushed to the disk and renamed: whoever opens `path` sees the old file or the new one.
/// Throws invalid_argument for a name that appears twice, is `__metadata__` or is not UTF-8, or an undefined tensor,
/// and io when the folder is missing, full or not writable; neither leaves anything behind.
CRISOL_API void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace crisol::io
