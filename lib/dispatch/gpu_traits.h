// Facts that choices need and that OpenCL does not report. They are one struct of plain values, derived from
// DeviceInfo. No other file above the runtime asks for a vendor, a platform or an architecture (tests/layers_test.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "crisol/device.h"
#include "crisol/precision.h"
#include "dispatch/matrix_unit.h"

namespace crisol::dispatch {

/// How the items of a sub-group exchange numbers in registers. The host tells a kernel what the kernel cannot find out
/// by itself (cl_kernels/common/subgroup_shuffle.h).
enum class Shuffle : std::uint8_t {
  untold,           ///< The kernel finds out by itself, from its compiler's macros.
  subgroups_of_16,  ///< Functions for sub-groups of 16, which a kernel may require. Source: the extensions.
  assembly,         ///< Inline assembly. A probe finds whether it works. Source: the vendor.
};

/// "Published" means that the vendors publish the fact. It was not measured.
struct GpuTraits {
  /// The device is a simulator. It runs kernels for CPUs and for GPUs, and frees its objects early at exit. Source: the
  /// platform, Oclgrind.
  bool simulated = false;

  /// The rules and costs that choose kernels were measured on such a device, so no other library's kernels are tried
  /// there. On other devices the rules are only a model, which tuning at first use (dispatch/first_use/) corrects. A
  /// simulator counts as measured, because its times mean nothing. Source: docs/performance.md, which has times of
  /// CPUs, the H100 and the H200.
  bool measured = false;

  /// The number of processors that run work-groups, each with its own local memory. Source: the compute units; the
  /// drivers of Intel's GPUs count execution units, of which eight share local memory (published).
  double multiprocessors = 1;

  /// 32-bit registers that a work-item may have at most. Source: published; 64 for an unknown vendor. CPUs get the
  /// largest number, because they run kernels for GPUs only in tests. On Intel it is the number for the narrowest
  /// sub-groups.
  std::int64_t max_registers = 64;
  /// 32-bit registers of a multiprocessor that its work-items share. If an item needs fewer registers, more groups run
  /// at a time. It is 0 if an item's share does not depend on the size of its group. Source: published.
  std::int64_t shared_registers = 0;
  /// The compiler takes -cl-nv-maxrregcount, which limits the registers of an item. It ignores the option in kernels
  /// that require a size of their work-groups. Source: the extension cl_nv_compiler_options.
  bool limits_registers = false;
  /// The lanes of a wave share 4 KB of registers, so tiles of many sums for each item spill. Source: published.
  bool waves_share_registers = false;

  /// A branch over a read is cheaper than a read whose value is not used. Source: NVIDIA's assembler makes such a
  /// branch a predicate, and CPUs jump. The compilers of AMD and Intel keep the branch.
  bool branches_are_cheap = true;

  /// Source: see Shuffle.
  Shuffle shuffle = Shuffle::untold;

  /// Loop iterations that one work-item may do in all its loops together. Source: Mesa's llvmpipe leaves every loop
  /// after 65535 iterations, without an error. The value is half of this number, because compilers may add loops.
  std::int64_t loop_budget = std::numeric_limits<std::int64_t>::max();

  /// The matrix units that the device may have for each Precision, the best first, then Kind::none. A probe has to
  /// confirm them. Source: the platform, the name of the architecture, the extensions.
  std::array<std::array<MatrixUnit::Kind, 2>, 4> matrix_units{};
  /// The speed of fp16 in each kind of matrix unit, in multiples of fp32's multiply-adds. Source: published, for sums
  /// in fp32, by the name of the device.
  std::array<double, MatrixUnit::kinds> matrix_speed{};

  /// 32-bit registers that a work-item has in a work-group of `items`.
  std::int64_t registers_of_item(std::int64_t items) const noexcept;
  /// The kinds of `matrix_units` for a precision, without Kind::none.
  std::vector<MatrixUnit::Kind> matrix_candidates(Precision precision) const;
  /// The speed of the unit in a kernel that gathers its operands, in multiples of fp32's multiply-adds. 1 if there is
  /// no real unit.
  double matrix_gain(const MatrixUnit& unit, Precision precision) const noexcept;
};

/// Only compares the facts in `info`. Runs nothing on the device.
GpuTraits gpu_traits(const DeviceInfo& info);

}  // namespace crisol::dispatch
