// Measurements: the time of each kernel, the variants that ops chose, and the peak speed of a device.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// The times of one kernel in milliseconds, from OpenCL events.
struct ProfileRow {
  std::string kernel;         ///< The name of the kernel.
  std::int64_t launches = 0;  ///< Number of launches during the measurement.
  double total_ms = 0;        ///< The sum over all launches.
  double min_ms = 0;          ///< The shortest launch.
  double max_ms = 0;          ///< The longest launch.
};

/// Measures every launch on a device from construction to destruction. The environment variable CRISOL_PROFILE=1
/// measures the whole process instead and prints the table to stderr at exit.
///
///     crisol::Profile profile(device);
///     train_step();
///     std::cout << profile;
class CRISOL_API Profile {
 public:
  explicit Profile(Device device = Device());
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Waits for the queued work. Returns one row for each kernel, the longest total time first.
  std::vector<ProfileRow> rows() const;

 private:
  Device device_;
  std::size_t first_;
};

/// Prints a table: kernel, launches, total, mean and share of the time.
CRISOL_API std::ostream& operator<<(std::ostream& out, const Profile& profile);

/// An op and its chosen variant, by the names that CRISOL_VARIANT takes.
struct VariantChoice {
  std::string op;          ///< "conv2d"
  std::string variant;     ///< "direct"
  std::int64_t times = 0;  ///< How often it was chosen.
};

/// Logs the variants that ops choose on this thread, from construction to destruction. Ops with a single variant choose
/// nothing.
///
///     crisol::VariantLog log;
///     conv2d(x, w);
///     log.choices();  // {{"conv2d", "direct", 1}}
class CRISOL_API VariantLog {
 public:
  VariantLog() noexcept;
  ~VariantLog();
  VariantLog(const VariantLog&) = delete;
  VariantLog& operator=(const VariantLog&) = delete;

  /// The variants, in the order of their first choice.
  const std::vector<VariantChoice>& choices() const noexcept { return choices_; }
  /// Used by the library.
  void note(const char* op, const char* variant);

 private:
  std::vector<VariantChoice> choices_;
  VariantLog* outer_;
};

/// The measured peak speed of a device, from short kernels that only measure. `crisol bench` shows results as shares of
/// this peak.
struct DeviceSpeed {
  double gflops = 0;     ///< 10^9 f32 operations per second, from fused multiply-adds in registers. Each counts as two.
  double copy_gbps = 0;  ///< 10^9 bytes per second, read and written, for y = x on arrays larger than the caches.
  double triad_gbps = 0;  ///< The same for y = a + s x.
  double launch_us = 0;   ///< Time of an empty kernel among many queued kernels, in microseconds.
  double wait_us = 0;     ///< Time to queue an empty kernel and wait for it, in microseconds.

  /// The memory speed: the larger of copy_gbps and triad_gbps.
  double gbps() const noexcept { return copy_gbps > triad_gbps ? copy_gbps : triad_gbps; }
};

/// Measures a device, once per process. This takes about 0.3 s, and memory for three arrays larger than the caches.
CRISOL_API DeviceSpeed measured_speed(Device device = Device());
/// Measures again and keeps the better value of each figure. This helps on machines where other programs use the memory
/// too.
CRISOL_API DeviceSpeed measure_speed_again(Device device = Device());

/// 10^9 f16 operations per second, from fused multiply-adds in registers. 0 if the device has no arithmetic in half
/// (cl_khr_fp16). Each call measures, for about 0.1 s.
CRISOL_API double measured_half_gflops(Device device = Device());

/// Speed of large copies between the host and a device, in 10^9 bytes per second.
struct TransferSpeed {
  double to_device_gbps = 0;           ///< From ordinary memory of the program.
  double from_device_gbps = 0;         ///< To ordinary memory of the program.
  double pinned_to_device_gbps = 0;    ///< From memory of CL_MEM_ALLOC_HOST_PTR, pinned if the driver can.
  double pinned_from_device_gbps = 0;  ///< To memory of CL_MEM_ALLOC_HOST_PTR.
};

/// Measures copies of 64 MiB, or of less if the device is slow or small.
CRISOL_API TransferSpeed measure_transfers(Device device = Device());

/// Time until a kernel has run for the first time, in milliseconds: once after compilation, once after loading a
/// binary.
struct CompileTime {
  double source_ms = 0;  ///< The time from OpenCL C, if neither the library nor the driver has the program in a cache.
  double binary_ms = 0;  ///< The time from a stored binary of the same program; 0 if there is none.
};

/// Measures a small program of pointwise arithmetic, which is new each time, so that no cache holds it.
CRISOL_API CompileTime measure_compile(Device device = Device());

/// Queues a kernel that does nothing, to measure the cost of a launch.
CRISOL_API void launch_empty(Device device = Device());

}  // namespace crisol
