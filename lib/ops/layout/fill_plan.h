// Fills and copies memory, as a part of another op's plan.
#pragma once

#include <cstdint>

#include "dispatch/plan.h"
#include "dispatch/target.h"

namespace crisol::ops {

/// Writes the call's first scalar, an f32, to `count` elements from `to` on. `to` must be in an operand that has a
/// whole buffer, because the choice of a variant depends on the position of the first element.
void add_fill(dispatch::Plan& plan, const dispatch::Target& target, dispatch::Place to, std::int64_t count);

/// Copies `count` elements of f32.
void add_copy(dispatch::Plan& plan, dispatch::Place from, dispatch::Place to, std::int64_t count);

}  // namespace crisol::ops
