// `mnist compare`
#pragma once

#include <cstdint>

#include "common/ranks.h"

namespace mnist {

struct CompareOptions {
  std::int64_t steps = 20;
  std::int64_t batch = 64;
};

/// Runs the same training steps on every device. Prints images/s and each device's speed-up against the slowest CPU
/// device. Returns the exit status, which is not 0 when a device failed.
int compare(const CompareOptions& options, const samples::Ranks& ranks);

}  // namespace mnist
