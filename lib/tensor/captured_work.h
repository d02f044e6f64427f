// The commands of captured work, and what must be known about the storages that it uses.
#pragma once

#include <functional>
#include <memory>

#include "crisol/device.h"
#include "runtime/capture/capture.h"
#include "tensor/captured_uses.h"

namespace crisol {

/// Work that was captured on a device.
struct CapturedWork {
  /// Calls `work`, and captures the commands that this thread queues meanwhile.
  CapturedWork(const std::function<void()>& work, Device device, runtime::FirstRun first_run);
  /// See CapturedGraph::replay.
  void replay() const;

  std::shared_ptr<runtime::Capturer> capturer;
  CapturedUses uses;
};

}  // namespace crisol
