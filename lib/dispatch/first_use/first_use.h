// Tuning at first use (CRISOL_TUNE=first). When a large product, convolution or recurrent layer first runs on a device
// on which nobody measured the rules, a few variants are timed with its operands. The winner is stored, and used from
// the next call on. See docs/tuning.md.
#pragma once

#include <memory>
#include <span>

#include "dispatch/choose.h"

namespace crisol::dispatch {

/// The tuning of one problem on one device, which is the same object for all plans of the problem.
class FirstUse {
 public:
  virtual ~FirstUse() = default;
  /// Spends some of the time that tuning may take, if there is any. launch() calls it before it queues the plan with
  /// the same operands, which keep their elements. In a capture, and in a dry run, nothing happens. Throws the errors
  /// of the device's earlier work.
  virtual void proceed(std::span<const OperandView> operands, std::span<const runtime::KernelArg> scalars) = 0;
};

/// nullptr if the problem is not tuned at its first use: this is not asked for, the device was measured, the problem is
/// small, its variant is forced, or the file of stored choices knows it. An unknown value of CRISOL_TUNE throws
/// invalid_argument.
std::shared_ptr<FirstUse> first_use_of(const AnyTable& table, std::span<const std::byte> problem,
                                       runtime::DeviceState& device);

}  // namespace crisol::dispatch
