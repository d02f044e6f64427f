// Matrix units of GPUs: which kinds there are and which devices may have them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "crisol/device.h"
#include "crisol/precision.h"

namespace crisol::ops {

/// A kind of matrix unit; the numbers are UNIT of cl_kernels/product/units/matrix_unit.h.
struct MatrixUnit {
  enum class Kind : std::int8_t { none, mma_sm80, mma_sm75, mfma, wmma, wmma_gfx12, xmx8, xmx16 };

  Kind kind = Kind::none;
  bool emulated = false;  ///< Its places, but its work done in plain OpenCL C: for tests.

  friend bool operator==(const MatrixUnit&, const MatrixUnit&) = default;
};

/// What a kernel has to know of a kind.
struct MatrixUnitFacts {
  MatrixUnit::Kind kind;
  const char* name;
  int lanes;  ///< Work-items that act together.
  int run;    ///< Neighbours of a row that each of them has of a result.
};

const MatrixUnitFacts& facts_of(MatrixUnit::Kind kind);
/// The kind of a name, none for an unknown one.
MatrixUnit::Kind matrix_unit_named(std::string_view name) noexcept;

/// What a device might multiply a precision with, as it describes itself, the best first; a probe has to confirm it.
std::vector<MatrixUnit::Kind> matrix_candidates(const DeviceInfo& info, Precision precision);

/// How many times as fast as fp32's multiply-adds the unit's are in a kernel that gathers its operands; 1 without a
/// unit.
double matrix_gain(const DeviceInfo& info, const MatrixUnit& unit, Precision precision);

}  // namespace crisol::ops
