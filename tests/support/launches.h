// How many kernels something runs.
#pragma once

#include <cstdint>
#include <functional>

namespace crisol::testing {

/// Launches on the default device, by the profiler.
std::int64_t launches_of(const std::function<void()>& run);

}  // namespace crisol::testing
