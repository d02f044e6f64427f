// NumPy's files: .npy (one array) and .npz (arrays by name).
//
// Element types become f32 (from float32 and float64, which is rounded), f16, i32 (from int8, int16, int32 and uint16),
// i64 (from int64 and uint32), u8 and bool. Both byte orders and both orders of axes are read. uint64, complex numbers,
// text and Python objects are refused. All functions throw Error (ErrorCode::io), with the file and what is wrong with
// it, for a file that is missing, unreadable, of another kind, too short or too long, or damaged.
#pragma once

#include <string>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/tensor.h"

namespace crisol::io {

/// Reads what numpy.save wrote.
CRISOL_API Tensor load_npy(const std::string& path, Device device = Device());

/// Reads what numpy.savez or numpy.savez_compressed wrote, in the file's order, without ".npy" in the names. Archives
/// above 4 GiB are refused.
CRISOL_API NamedTensors load_npz(const std::string& path, Device device = Device());

}  // namespace crisol::io
