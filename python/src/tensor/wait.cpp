// Waits that signals can end.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "bindings.h"
#include "tensor/host.h"

namespace crisol::python {

namespace {

using Clock = std::chrono::steady_clock;

/// Whether a wait may be long. A wait in a separate thread takes about 0.1 ms more, and several milliseconds on a busy
/// machine, because the calling thread does not take part in the work. So if the last wait was less than 10 ms ago,
/// this thread waits itself: only little work can be queued.
bool may_be_long() {
  static Clock::time_point last;
  const Clock::time_point now = Clock::now();
  const bool soon = now - last < std::chrono::milliseconds(10);
  last = now;
  return !soon;
}

/// A wait in a separate thread. It may go on after the caller gave up.
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

/// Waits for a device. OpenCL's waits do not end at a signal, so another thread waits in clFinish. There it can take
/// part in the work, as Intel's CPU runtime does.
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

/// Python runs signal handlers only in its main thread. In a child of fork(), the read itself throws.
bool may_be_interrupted() {
  static const std::size_t main_thread =
      nb::cast<std::size_t>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  static const pid_t process = getpid();
  return PyThread_get_thread_ident() == main_thread && getpid() == process;
}

}  // namespace

void wait_ahead(Device device) {
  if (!may_be_interrupted() || !may_be_long()) return;
  const nb::gil_scoped_release free;
  wait_with_signals(device);
}

void read_elements(const Tensor& x, void* bytes) {
  if (x.numel() > 0) wait_ahead(x.device());
  const nb::gil_scoped_release free;
  x.read_bytes(bytes);
}

void wait_for_device(Device device) {
  wait_ahead(device);
  const nb::gil_scoped_release free;
  device.synchronize();
}

}  // namespace crisol::python
