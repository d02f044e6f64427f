// Copies memory, as a part of another op's plan.
#pragma once

#include <cstdint>

#include "dispatch/plan.h"

namespace crisol::ops {

/// Copies `count` elements of f32.
void add_copy(dispatch::Plan& plan, dispatch::Place from, dispatch::Place to, std::int64_t count);

}  // namespace crisol::ops
