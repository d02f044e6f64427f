// Everything that the choice of a variant may see of a device: plain values. So a choice can be made, and tested, for a
// device that is not there.
#pragma once

#include <array>
#include <cstdint>

#include "crisol/device.h"
#include "dispatch/gpu_traits.h"
#include "runtime/launch.h"

namespace crisol::dispatch {

struct Target {
  const DeviceInfo& info;
  int vector_width = 1;               ///< Lanes of a float vector: the native width, or CRISOL_VECTOR_WIDTH.
  std::int64_t loop_budget = 0;       ///< Loop iterations that one work-item may do in all its loops together.
  std::uint64_t workspace_limit = 0;  ///< Bytes, 0 for no limit; see ops::set_workspace_limit.
  bool assembly_shuffles = false;     ///< Whether the probe of shuffles in inline assembly found that they work.
  /// The matrix unit for each Precision, as found by probes. It is none until a probe has run. If the device has no
  /// unit for a precision, the probe gives an emulated unit, which plans use only in tests (see unless_emulated()).
  std::array<MatrixUnit, 4> units{};
  GpuTraits traits = gpu_traits(info);

  MatrixUnit unit(Precision precision) const noexcept { return units[static_cast<std::size_t>(precision)]; }

  /// Whether the device runs kernels for CPUs. CPUs do, and the simulator does too, so that tests can check how these
  /// kernels access memory.
  bool takes_cpu_kernels() const noexcept { return info.type == DeviceType::cpu || traits.simulated; }
  /// Lanes of the vectors in kernels for CPUs: common/vector.h takes 4, 8 or 16.
  int cpu_vector_width() const noexcept { return vector_width < 4 ? 4 : vector_width; }

  /// The reason why a work-item cannot do so many loop iterations, or nullptr.
  const char* against_iterations(std::int64_t iterations) const noexcept {
    return iterations <= loop_budget ? nullptr : "the device does not run loops of that length";
  }

  /// The bytes that all workspaces of a plan may take together: `most`, or the limit if it is lower. A plan that works
  /// in pieces makes the pieces small enough for this. If even the smallest piece is too large, choose() refuses the
  /// plan.
  std::int64_t bytes_at_once(std::int64_t most) const noexcept {
    if (workspace_limit == 0 || workspace_limit >= static_cast<std::uint64_t>(most)) return most;
    return static_cast<std::int64_t>(workspace_limit);
  }

  /// `count` work-items, rounded up to whole groups: see runtime::flat_range.
  runtime::NdRange flat_range(std::int64_t count) const { return runtime::flat_range(info, count); }
};

/// The traits of a device of this process. Runs no probe.
const GpuTraits& traits_of(runtime::DeviceState& device);

/// The target of a device of this process, with the matrix unit for the thread's precision. The first call for a device
/// or for a precision may run a probe on the device.
Target target_of(runtime::DeviceState& device);

}  // namespace crisol::dispatch
