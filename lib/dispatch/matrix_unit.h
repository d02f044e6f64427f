// Matrix units of GPUs: the kinds that exist. gpu_traits.h tells which of them a device may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crisol::ops {

/// A kind of matrix unit; the numbers are UNIT of cl_kernels/product/units/matrix_unit.h.
struct MatrixUnit {
  enum class Kind : std::int8_t { none, mma_sm80, mma_sm75, mfma, wmma, wmma_gfx12, xmx8, xmx16 };
  static constexpr std::size_t kinds = 8;

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
  /// The lanes of a wave share 4 KB of registers. The waves of other kinds have 16 KB or more.
  bool waves_share_registers = false;
  int driver_units = 1;  ///< Compute units, as the driver counts them, that run a work-group: execution units of XMX.
};

const MatrixUnitFacts& facts_of(MatrixUnit::Kind kind);
/// The kind with this name, or none for an unknown name.
MatrixUnit::Kind matrix_unit_named(std::string_view name) noexcept;

}  // namespace crisol::ops
