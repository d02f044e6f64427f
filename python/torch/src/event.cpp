#include "event.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "call.h"
#include "crisol/opencl_interop.h"

namespace crisol_torch {

// The driver's thread sets it.
struct Event::State {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool done = false;
  std::chrono::steady_clock::time_point at;

  void finish() {
    const std::lock_guard lock(mutex);
    at = std::chrono::steady_clock::now();
    done = true;
    changed.notify_all();
  }
};

Event::Event(crisol::Device device) : state_(std::make_shared<State>()) {
  guarded([&] {
    cl_event marker = crisol::opencl_event(crisol::empty({0}, crisol::DType::f32, device));
    auto* const owner = new std::shared_ptr<State>(state_);
    const cl_int error = clSetEventCallback(
        marker, CL_COMPLETE,
        [](cl_event, cl_int, void* context) {
          const std::unique_ptr<std::shared_ptr<State>> state(static_cast<std::shared_ptr<State>*>(context));
          (*state)->finish();
        },
        owner);
    if (error == CL_SUCCESS) clFlush(crisol::opencl_queue(device));
    clReleaseEvent(marker);
    if (error == CL_SUCCESS) return;
    delete owner;
    TORCH_CHECK(false, "crisol: clSetEventCallback fails with the error ", error);
  });
}

Event::~Event() = default;

bool Event::is_done() const {
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

bool Event::is_done_within(int milliseconds) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return state_->done; });
}

void Event::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->done; });
}

double Event::milliseconds() const {
  wait();
  return std::chrono::duration<double, std::milli>(state_->at.time_since_epoch()).count();
}

}  // namespace crisol_torch
