// All data that this process holds for one device. It is internal to the runtime: other layers use launch.h, transfer.h
// and memory_pool.h.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/forked.h"
#include "crisol/device.h"
#include "runtime/cl.h"
#include "runtime/memory/fault_flag.h"
#include "runtime/memory/memory_pool.h"
#include "runtime/profiler.h"
#include "runtime/program/program_cache.h"

namespace crisol::runtime {

/// Made for every device when devices are listed. Context and queue are made at the first use of the device. The object
/// is never destroyed, because an OpenCL driver may be unloaded before static objects are destroyed.
class DeviceState {
 public:
  DeviceState(cl::Device device, int index, int platform_index, int device_index);

  /// A device that uses a context and an in-order queue of the user. The object retains both (see
  /// crisol/opencl_interop.h).
  DeviceState(cl::Device device, int index, cl::Context context, cl::CommandQueue queue);

  const DeviceInfo& info() const noexcept { return info_; }
  int index() const noexcept { return index_; }
  int platform_index() const noexcept { return platform_index_; }
  int device_index() const noexcept { return device_index_; }
  bool used() const noexcept { return used_.load(std::memory_order_acquire); }

  const cl::Device& device() const noexcept { return device_; }
  const cl::Context& context();
  /// The in-order queue for all work.
  cl_command_queue queue();
  /// A second in-order queue, for transfers that run at the same time as the work.
  cl_command_queue transfer_queue();

  /// Whether the memory that the library gives to a buffer holds its elements when nothing is queued.
  bool computes_in_host_memory();

  /// Counts bytes that were filled. Returns their number.
  std::uint64_t add_filled(std::uint64_t bytes) noexcept { return filled_.fetch_add(bytes) + bytes; }

  /// In a child of fork(), these two functions, context() and the queues throw.
  MemoryPool& pool() {
    system::check_not_forked();
    return pool_;
  }
  ProgramCache& programs() {
    system::check_not_forked();
    return programs_;
  }
  Profiler& profiler() noexcept { return profiler_; }
  FaultFlag& fault_flag() noexcept { return fault_flag_; }

  /// Waits for all queued work, frees staged host bytes, and stores the programs that ran since the last call.
  void finish();

  /// Calls `run`, which queues a kernel and returns OpenCL's error. Drivers that allocate memory late report missing
  /// memory here. Then the pool's cached blocks are released, and `run` is called once more.
  template <class Run>
  cl_int run_with_memory(const Run& run) {
    const cl_int error = run();
    if (!is_memory_error(error)) return error;
    pool().release_cached();
    finish();
    return run();
  }

  /// With CRISOL_LAUNCH_BLOCKING=1, waits for the kernel that was queued last. If this kernel failed, throws with its
  /// name.
  void wait_if_blocking(const std::string& kernel);

  /// Switches the events of the queues on or off, as the profiler wants them, and waits for the queued work. No other
  /// thread may queue work at the same time.
  void set_profiling();

  /// Starts or stops the timing of the device's commands for the timeline. Waits for the queued work. A user's queue
  /// without profiling stays as it is, and then the timeline has no rows of the device. If the process is `ending`, the
  /// queues stay too.
  void start_timeline();
  void stop_timeline(bool ending);

  /// Host bytes for keep_until. A part of them may be of an earlier use, because the system's work for new memory takes
  /// longer than a copy.
  struct HostBytes {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;  ///< 0 for bytes that are used once.
  };
  HostBytes staging(std::size_t size);
  /// Keeps host bytes alive until the event's command has run.
  void keep_until(cl::Event event, HostBytes bytes);

 private:
  struct Staged {
    cl::Event event;
    HostBytes bytes;
  };

  void open();
  void begin();
  void collect_staged();
  cl::CommandQueue make_queue();

  cl::Device device_;
  DeviceInfo info_;
  int index_, platform_index_, device_index_;
  std::once_flag opened_;
  std::atomic<bool> used_{false};  ///< Set when context and queue have been made.
  bool adopted_ = false;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::once_flag transfer_opened_;
  cl::CommandQueue transfer_queue_;
  std::mutex staged_mutex_;
  std::vector<Staged> staged_;
  std::vector<HostBytes> spare_;
  std::atomic<std::uint64_t> filled_{0};
  std::once_flag host_memory_tried_;
  bool computes_in_host_memory_ = false;
  MemoryPool pool_{*this};
  ProgramCache programs_{*this};
  Profiler profiler_;
  FaultFlag fault_flag_{*this};
};

/// Adds a device that works in this context and queue. It comes after the devices that were found.
DeviceState& add_device(cl::Device device, cl::Context context, cl::CommandQueue queue);

/// Starts the timing on every device that was used (see DeviceState::start_timeline). Does not look for devices.
void start_timeline_of_devices();
void stop_timeline_of_devices(bool ending);

/// Makes this thread wait for the queued work of all devices when the thread ends. Mesa's rusticl crashes if the
/// process ends while work is queued, and its exit handlers run before ours. So the thread that opens a device, usually
/// the main thread, must wait.
void finish_before_exit();

}  // namespace crisol::runtime
