// Host work within captured work, for libraries that exchange values with other devices.
#pragma once

#include <exception>
#include <functional>

#include "crisol/export.h"

namespace crisol {

/// A function that a replay calls: with null at its place among the commands, and with the error if the replay fails.
using ReplayCall = std::function<void(std::exception_ptr error)>;

/// Calls function(nullptr). If this thread captures (crisol/capture.h), each replay calls the function too. The replay
/// has then queued the commands that were captured before this call, and not yet the others. Commands that the function
/// queues are not captured, and it may read and write values. If a function throws in a replay, or a command cannot be
/// queued, the replay calls all functions of the graph with the error. Then it throws the error, and queues nothing
/// more. A function must not replay its own graph. The graph keeps the function.
CRISOL_API void call_in_replays(ReplayCall function);

}  // namespace crisol
