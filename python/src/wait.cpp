// Waits that signals can end.
#include <CL/cl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "bindings.h"
#include "crisol/opencl_interop.h"
#include "host.h"

namespace crisol::python {

namespace {

using Clock = std::chrono::steady_clock;

struct ReleaseEvent {
  void operator()(cl_event event) const { clReleaseEvent(event); }
};
using Event = std::unique_ptr<_cl_event, ReleaseEvent>;

bool runs(const Event& event) {
  cl_int status = CL_COMPLETE;
  clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status > CL_COMPLETE;  // A failure is below CL_COMPLETE. The read that follows reports it.
}

/// Asks for a short time whether the queued work is done. Most reads end here.
bool done_soon(const Tensor& x) {
  const Event event(opencl_event(x));
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(100);
  while (runs(event)) {
    if (Clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// A wait in a thread of its own. It may go on after the caller gave up.
struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;
};

void run(const std::shared_ptr<Waiting>& waiting, Device device) {
  std::exception_ptr error;
  try {
    device.synchronize();
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(waiting->mutex);
  waiting->done = true;
  waiting->error = error;
  waiting->changed.notify_one();
}

/// Waits for a device. No wait of OpenCL ends at a signal, so another thread waits in OpenCL. It takes part in the work
/// there: Intel's CPU runtime lets a thread compute while it is in clFinish.
void wait_with_signals(Device device) {
  const auto waiting = std::make_shared<Waiting>();
  std::thread(run, waiting, device).detach();
  std::unique_lock lock(waiting->mutex);
  while (!waiting->changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return waiting->done; })) {
    lock.unlock();
    {
      const nb::gil_scoped_acquire python;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    lock.lock();
  }
  if (waiting->error) std::rethrow_exception(waiting->error);
}

/// Python runs the handlers of signals in its main thread only. A child of fork() is refused by the read itself.
bool may_be_interrupted() {
  static const std::size_t main_thread =
      nb::cast<std::size_t>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  static const pid_t process = getpid();
  return PyThread_get_thread_ident() == main_thread && getpid() == process;
}

}  // namespace

void read_elements(const Tensor& x, void* bytes) {
  const bool signals_matter = x.numel() > 0 && may_be_interrupted();
  const nb::gil_scoped_release free;
  if (signals_matter && !done_soon(x)) wait_with_signals(x.device());
  x.read_bytes(bytes);
}

void wait_for_device(Device device) {
  const bool signals_matter = may_be_interrupted();
  const nb::gil_scoped_release free;
  if (signals_matter)
    wait_with_signals(device);
  else
    device.synchronize();
}

}  // namespace crisol::python
