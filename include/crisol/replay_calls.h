// Host work within captured work, for libraries that exchange values with other devices.
#pragma once

#include <exception>
#include <functional>

#include "crisol/export.h"

namespace crisol {

/// A function that a replay calls: with null at its place among the commands, and with the error if the replay fails.
using ReplayCall = std::function<void(std::exception_ptr error)>;

/// Calls function(nullptr). If this thread captures (crisol/capture.h), each replay calls it too, after it has queued
/// the commands that were captured before this call, and before it queues those after it. What the function itself
/// queues is not captured, and it may read and write values. If a call in a replay throws, or a command cannot be
/// queued, the replay calls all functions of the graph with the error, queues nothing more, and throws the error. A
/// function must not replay its own graph. The graph keeps the function.
CRISOL_API void call_in_replays(ReplayCall function);

}  // namespace crisol
