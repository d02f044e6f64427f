// Steps at which a schedule changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace crisol::optim {

/// Throws invalid_argument if a milestone is negative or less than the one before it.
inline void check_milestones(const char* op, const std::vector<std::int64_t>& milestones) {
  for (std::size_t i = 0; i < milestones.size(); ++i)
    require(milestones[i] >= (i == 0 ? 0 : milestones[i - 1]), op, "milestone ", milestones[i], " at place ", i,
            " must not be less than ", i == 0 ? 0 : milestones[i - 1]);
}

/// The number of milestones that are not greater than `steps`.
inline std::size_t milestones_passed(const std::vector<std::int64_t>& milestones, std::int64_t steps) {
  return static_cast<std::size_t>(std::upper_bound(milestones.begin(), milestones.end(), steps) - milestones.begin());
}

/// The number of milestones that are equal to `steps`.
inline std::int64_t milestones_at(const std::vector<std::int64_t>& milestones, std::int64_t steps) {
  return std::count(milestones.begin(), milestones.end(), steps);
}

}  // namespace crisol::optim
