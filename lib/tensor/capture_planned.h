// Captures of the library's own, which take less memory.
#pragma once

#include <functional>

#include "crisol/capture.h"

namespace crisol {

/// Like capture(), but the commands do not run until the first replay. So it is known how long each tensor of the work
/// is needed, and tensors that are not needed at the same time share memory. The first replay has to come before
/// anybody reads a result.
CapturedGraph capture_planned(const std::function<void()>& work, Device device);

}  // namespace crisol
