// An event of a device's queue.
#pragma once

#include <memory>

#include "crisol/device.h"

namespace crisol_torch {

/// The moment when all work that is queued by now has run.
class Event {
 public:
  explicit Event(crisol::Device device);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool is_done() const;
  /// The same after up to `milliseconds`, because even an idle queue takes a moment.
  bool is_done_within(int milliseconds) const;
  void wait() const;
  /// Waits, and returns the time of the moment by the host's clock.
  double milliseconds() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Registers the times of ops on the device with PyTorch's profiler.
void register_profiler();

}  // namespace crisol_torch
