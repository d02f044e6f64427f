#include "event.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "call.h"
#include "crisol/opencl_interop.h"
#include "device.h"

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

// ---- The times of ops on the device, for PyTorch's profiler

namespace {

struct Profiler final : torch::profiler::impl::ProfilerStubs {
  void record(c10::DeviceIndex* device, torch::profiler::impl::ProfilerVoidEventStub* event,
              std::int64_t* nanoseconds) const override {
    const int index = current_device();
    if (device != nullptr) *device = static_cast<c10::DeviceIndex>(index);
    *event = std::make_shared<Event>(device_at(index));
    if (nanoseconds != nullptr) *nanoseconds = c10::getTime();
  }
  // Microseconds.
  float elapsed(const torch::profiler::impl::ProfilerVoidEventStub* first,
                const torch::profiler::impl::ProfilerVoidEventStub* second) const override {
    const auto milliseconds = [](const auto* event) { return static_cast<const Event*>(event->get())->milliseconds(); };
    return static_cast<float>(1000 * (milliseconds(second) - milliseconds(first)));
  }
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> function) const override {
    const int before = current_device();
    for (int i = 0; i < device_count(); ++i) {
      exchange_device(i);
      function(i);
    }
    exchange_device(before);
  }
  void synchronize() const override { Event(device_at(current_device())).wait(); }
  // OpenCL has no marks in a timeline of its own.
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
};

}  // namespace

void register_profiler() {
  static Profiler* const profiler = new Profiler;
  torch::profiler::impl::registerPrivateUse1Methods(profiler);
}

}  // namespace crisol_torch
