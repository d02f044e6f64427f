// Host work within captured work, for libraries that exchange values with other devices.
#pragma once

#include <exception>
#include <functional>

#include "crisol/export.h"

namespace crisol {

/// A function that a replay calls at its place among the commands, with null. If the replay fails, it gets the error.
using ReplayCall = std::function<void(std::exception_ptr error)>;

/// Calls function(nullptr). If this thread captures (crisol/capture.h), each replay calls the function too. At this
/// point the replay has queued the commands that were captured before this call, but not the later ones. Commands that
/// the function queues are not captured, and it may read and write values. If a function throws in a replay, or a
/// command cannot be queued, the replay calls all functions of the graph with the error. Then it throws the error, and
/// queues nothing more. A function must not replay its own graph. The graph keeps the function.
CRISOL_API void call_in_replays(ReplayCall function);

}  // namespace crisol
