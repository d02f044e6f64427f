// Tuning at first use (CRISOL_TUNE=first). Some devices were never measured. When a large product, convolution or
// recurrent layer first runs there, a few variants are timed with its operands. The winner is stored and used from the
// next call on. See docs/tuning.md.
#pragma once

#include <memory>
#include <span>

#include "dispatch/choose.h"

namespace crisol::dispatch {

/// The tuning of one problem on one device. All plans of the problem share the object.
class FirstUse {
 public:
  virtual ~FirstUse() = default;
  /// Tunes for a while, if tuning may still take time. launch() calls this function before it queues the plan with the
  /// same operands. The operands keep their elements. In a capture or a dry run the function does nothing. Throws the
  /// errors of the device's earlier work.
  virtual void proceed(std::span<const OperandView> operands, std::span<const runtime::KernelArg> scalars) = 0;
};

/// nullptr if the problem is not tuned at its first use: because tuning is off, the device was measured, the problem is
/// small, its variant is forced, or the file of stored choices has it. An unknown value of CRISOL_TUNE throws
/// invalid_argument.
std::shared_ptr<FirstUse> first_use_of(const AnyTable& table, std::span<const std::byte> problem,
                                       runtime::DeviceState& device);

}  // namespace crisol::dispatch
