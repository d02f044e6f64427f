// Trials of variants: see dispatch/verification.h. A trial runs ops and their references, and dispatch may not include
// their layers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "crisol/device.h"

namespace crisol::dispatch {

/// An op with operands, and its expected results.
struct TrialProblem {
  std::string op;
  /// Runs the op, and describes a wrong result. Empty if all results are right within the errors of this variant.
  std::function<std::string(std::string_view variant)> difference;
};

/// lib/rerun/ sets these functions when the library is loaded.
struct Trials {
  /// The op whose variants `op` uses: see rerun::rerun_op.
  std::string_view (*op_of)(std::string_view op) = nullptr;
  /// Makes the problem with small sizes: see rerun::Sizes. With factor 0 it keeps its own sizes. Returns nothing if no
  /// rerun knows the op, or if the reference would take too long.
  std::optional<TrialProblem> (*problem)(const std::string& text, Device device, std::int64_t factor,
                                         std::int64_t divisor) = nullptr;
};
Trials& trials() noexcept;

}  // namespace crisol::dispatch
