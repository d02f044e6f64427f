// Data that nodes keep on a device from run to run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/thread_context.h"
#include "crisol/device.h"
#include "runtime/capture/capture.h"
#include "runtime/dry_run.h"

namespace crisol::onnx {

/// Tensors that a node makes from its attributes, on the device of its last run. Copies of the object share them.
template <class Parts>
class DeviceParts {
 public:
  explicit DeviceParts(std::function<Parts(Device)> make) : state_(std::make_shared<State>(std::move(make))) {}

  Parts on(Device device) const {
    if (runtime::in_dry_run()) return state_->make(device);
    const std::lock_guard lock(state_->mutex);
    if (!state_->parts || state_->device != device) {
      // The capture is paused, because a replay only reads the tensors.
      const runtime::PauseCapture pause(thread_context().submission.uses != nullptr);
      state_->parts.emplace(state_->make(device));
      state_->device = device;
    }
    return *state_->parts;
  }

 private:
  struct State {
    explicit State(std::function<Parts(Device)> function) : make(std::move(function)) {}

    const std::function<Parts(Device)> make;
    std::mutex mutex;
    std::optional<Device> device;
    std::optional<Parts> parts;
  };

  std::shared_ptr<State> state_;
};

}  // namespace crisol::onnx
