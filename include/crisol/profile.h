// What ran and what it cost: time by kernel, the variants that ops chose, and the most that a device can do.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// What one kernel cost: times from OpenCL events, in milliseconds.
struct ProfileRow {
  std::string kernel;         ///< Its entry.
  std::int64_t launches = 0;  ///< While it was measured.
  double total_ms = 0;        ///< Of all launches.
  double min_ms = 0;          ///< Of the shortest.
  double max_ms = 0;          ///< Of the longest.
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

  /// Waits for the queued work; rows by falling total time.
  std::vector<ProfileRow> rows() const;

 private:
  Device device_;
  std::size_t first_;
};

/// A table: kernel, launches, total, mean and share of the time.
CRISOL_API std::ostream& operator<<(std::ostream& out, const Profile& profile);

/// An op and the variant of it that was chosen, by the names that CRISOL_VARIANT takes.
struct VariantChoice {
  std::string op;          ///< "conv2d"
  std::string variant;     ///< "direct"
  std::int64_t times = 0;  ///< How often.
};

/// Notes the variants that ops choose on this thread while it lives. Ops that have one form only choose nothing.
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

  /// In the order of their first choice.
  const std::vector<VariantChoice>& choices() const noexcept { return choices_; }
  /// Used by the library.
  void note(const char* op, const char* variant);

 private:
  std::vector<VariantChoice> choices_;
  VariantLog* outer_;
};

/// What a device reached in short kernels that do nothing else: the yardstick for shares of the peak.
struct DeviceSpeed {
  double gflops = 0;      ///< 10^9 f32 operations a second of fused multiply-adds in registers; each counts as two.
  double copy_gbps = 0;   ///< 10^9 bytes a second of y = x on arrays beyond the caches, read and written bytes counted.
  double triad_gbps = 0;  ///< The same of y = a + s x.
  double launch_us = 0;   ///< An empty kernel among many queued ones, in microseconds.
  double wait_us = 0;     ///< An empty kernel and waiting for it.

  /// Of the memory, whichever is more.
  double gbps() const noexcept { return copy_gbps > triad_gbps ? copy_gbps : triad_gbps; }
};

/// Measures a device, once in a process: about 0.3 s, and memory for three arrays beyond the caches meanwhile.
CRISOL_API DeviceSpeed measured_speed(Device device = Device());
/// Measures once more and keeps the better of each figure: for machines whose memory others use as well.
CRISOL_API DeviceSpeed measure_speed_again(Device device = Device());

/// 10^9 f16 operations a second of fused multiply-adds in registers; 0 where the device has no arithmetic in half
/// (cl_khr_fp16). Measures each time: about 0.1 s.
CRISOL_API double measured_half_gflops(Device device = Device());

/// 10^9 bytes a second of large copies between the host and a device.
struct TransferSpeed {
  double to_device_gbps = 0;         ///< From memory of the program's.
  double from_device_gbps = 0;       ///< To memory of the program's.
  double pinned_to_device_gbps = 0;  ///< From memory that OpenCL gave (CL_MEM_ALLOC_HOST_PTR), pinned where it can be.
  double pinned_from_device_gbps = 0;  ///< To such memory.
};

/// Measures copies of 64 MiB, of less where the device is slow or small.
CRISOL_API TransferSpeed measure_transfers(Device device = Device());

/// Milliseconds until a kernel has run for the first time, its program once compiled and once loaded.
struct CompileTime {
  double source_ms = 0;  ///< From OpenCL C that neither the library nor the driver has met before.
  double binary_ms = 0;  ///< From the binary of the same program, as the library keeps it on disk; 0: there was none.
};

/// Compiles a small program of pointwise arithmetic, which no cache can hold.
CRISOL_API CompileTime measure_compile(Device device = Device());

/// Queues a kernel that does nothing, for measuring what a launch costs.
CRISOL_API void launch_empty(Device device = Device());

}  // namespace crisol
