// Counts the kernels that a function runs.
#pragma once

#include <cstdint>
#include <functional>

namespace crisol::testing {

/// Launches on the default device, counted by the profiler.
std::int64_t launches_of(const std::function<void()>& run);

}  // namespace crisol::testing
