// NumPy's files: .npy (one array) and .npz (named arrays).
//
// Elements keep their types: floating-point numbers, whole numbers and bool. Both byte orders and both orders of axes
// (C and Fortran) are read. Complex numbers, text and Python objects are refused. All functions throw Error
// (ErrorCode::io), with file and reason, for a file that is missing, unreadable, of another kind, too short, too long
// or damaged.
#pragma once

#include <string>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/tensor.h"

namespace crisol::io {

/// Reads a file of numpy.save.
CRISOL_API Tensor load_npy(const std::string& path, Device device = Device());

/// Reads a file of numpy.savez or numpy.savez_compressed, in the order of the file. The names lack ".npy". Refuses
/// archives above 4 GiB.
CRISOL_API NamedTensors load_npz(const std::string& path, Device device = Device());

}  // namespace crisol::io
