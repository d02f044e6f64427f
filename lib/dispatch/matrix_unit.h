// Matrix units of GPUs: the kinds that exist, and the devices that may have them.
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
  bool emulated = false;  ///< The layout of this unit, but computed in plain OpenCL C, for tests.

  friend bool operator==(const MatrixUnit&, const MatrixUnit&) = default;
};

/// The facts about a kind that a kernel needs.
struct MatrixUnitFacts {
  MatrixUnit::Kind kind;
  const char* name;
  int lanes;  ///< Work-items that act together.
  int run;    ///< How many neighbours of a row of the result each of them has.
};

const MatrixUnitFacts& facts_of(MatrixUnit::Kind kind);
/// The kind with this name, or none for an unknown name.
MatrixUnit::Kind matrix_unit_named(std::string_view name) noexcept;

/// The units with which a device might multiply in a precision, according to its description, the best first. A probe
/// has to confirm them.
std::vector<MatrixUnit::Kind> matrix_candidates(const DeviceInfo& info, Precision precision);

/// How many times as fast as fp32 multiply-adds the unit is in a kernel that gathers its operands. It is 1 without a
/// unit.
double matrix_gain(const DeviceInfo& info, const MatrixUnit& unit, Precision precision);

}  // namespace crisol::ops
