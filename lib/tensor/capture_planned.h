// Captures for the library itself, which take less memory.
#pragma once

#include <functional>

#include "crisol/capture.h"

namespace crisol {

/// Like capture(), but the commands do not run until the first replay. So the capture knows how long each tensor is
/// needed, and tensors that are not needed at the same time share memory. The first replay must come before anybody
/// reads a result.
CapturedGraph capture_planned(const std::function<void()>& work, Device device);

}  // namespace crisol
