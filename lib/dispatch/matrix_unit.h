// Matrix units of GPUs: the kinds that exist. gpu_traits.h says which of them a device may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "product/gpu/units/kinds.h"

namespace crisol::dispatch {

/// A kind of matrix unit. Kernels get its number as UNIT.
struct MatrixUnit {
  enum class Kind : std::int8_t {
    none,
    mma_sm80 = UNIT_MMA_SM80,
    mma_sm75 = UNIT_MMA_SM75,
    mfma = UNIT_MFMA,
    wmma = UNIT_WMMA,
    wmma_gfx12 = UNIT_WMMA_GFX12,
    xmx8 = UNIT_XMX8,
    xmx16 = UNIT_XMX16
  };
  static constexpr std::size_t kinds = 8;

  Kind kind = Kind::none;
  bool emulated = false;  ///< The layout of this kind, computed in plain OpenCL C for tests.

  friend bool operator==(const MatrixUnit&, const MatrixUnit&) = default;
};

/// The facts about a kind that a kernel needs.
struct MatrixUnitFacts {
  MatrixUnit::Kind kind;
  const char* name;
  int lanes;  ///< Work-items that act together.
  int run;    ///< How many neighbours in a row of the result each work-item has.
  /// Whether the lanes of a wave share 4 KB of registers. Waves of other kinds have 16 KB or more.
  bool waves_share_registers = false;
  int driver_units = 1;  ///< How many compute units, as the driver counts them, run one work-group. For XMX they are
                         /// execution units.
};

const MatrixUnitFacts& facts_of(MatrixUnit::Kind kind);
/// The kind with this name. For an unknown name, none.
MatrixUnit::Kind matrix_unit_named(std::string_view name) noexcept;

}  // namespace crisol::dispatch
