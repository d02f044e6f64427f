// Devices: their list, their properties, and the default device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "crisol/export.h"

namespace crisol {

/// A device that reports several OpenCL types counts as its most capable: gpu, then accelerator, then cpu.
enum class DeviceType : std::uint8_t { gpu, accelerator, cpu };

/// "gpu", "accelerator" or "cpu": the words that CRISOL_DEVICE takes.
CRISOL_API const char* name_of(DeviceType type) noexcept;

/// Facts about one OpenCL device, as its driver reports them. Variants are selected only from this plain value, so that
/// the selection can be tested for hardware that is not present (see read_device_info).
struct CRISOL_API DeviceInfo {
  std::string name;                   ///< CL_DEVICE_NAME.
  std::string vendor;                 ///< CL_DEVICE_VENDOR.
  std::string platform;               ///< CL_PLATFORM_NAME: the implementation.
  std::string platform_vendor;        ///< CL_PLATFORM_VENDOR.
  std::string driver_version;         ///< CL_DRIVER_VERSION.
  std::string device_version;         ///< CL_DEVICE_VERSION: the OpenCL version of the API.
  std::string opencl_c_version;       ///< CL_DEVICE_OPENCL_C_VERSION.
  std::string extensions;             ///< Names of extensions, separated by blanks.
  DeviceType type = DeviceType::cpu;  ///< The most capable type that the device reports.
  std::uint32_t vendor_id = 0;        ///< PCI vendor id, if there is one: 0x10de NVIDIA, 0x1002 AMD, 0x8086 Intel.
  int compute_units = 1;              ///< Cores of a CPU, or multiprocessors of a GPU.
  int clock_mhz = 0;                  ///< Highest clock rate.
  int native_float_width = 1;         ///< Lanes of the native float vector: 16 with AVX-512, 1 on SIMT GPUs.
  std::uint64_t global_memory = 0;    ///< Bytes.
  std::uint64_t max_allocation = 0;   ///< Bytes of the largest single buffer.
  std::uint64_t local_memory = 0;     ///< Bytes a work-group may use.
  std::uint64_t max_work_group = 1;   ///< Work-items in a work-group.
  std::vector<std::uint64_t> max_work_item_sizes;  ///< Work-items in a work-group, by dimension.
  std::vector<std::uint64_t> subgroup_sizes;       ///< Sizes a sub-group may have; empty where unknown.
  bool dedicated_local_memory = false;             ///< Local memory is separate from global memory.
  bool unified_memory = false;                     ///< The host shares the device's memory.
  bool fp16 = false;                               ///< Arithmetic in half (cl_khr_fp16); storing half always works.
  bool fp64 = false;                               ///< Arithmetic in double (cl_khr_fp64).
  bool fast_fma = false;                           ///< CL_FP_FMA: fma() runs in hardware.
  bool has_compiler = true;                        ///< A device without a compiler cannot be used.

  /// Whether the name is one of `extensions`.
  bool has_extension(std::string_view extension) const noexcept;
};

/// Reads a DeviceInfo from a JSON file, whose keys are the member names. Throws io for an unreadable file, and names an
/// unknown key or a key with a wrong type. The key "offline" is skipped: see docs/gpu-kernels.md.
CRISOL_API DeviceInfo read_device_info(const std::string& path);
/// The JSON text that read_device_info reads.
CRISOL_API std::string to_json(const DeviceInfo& info);

/// Figures of a device's memory pool, in bytes.
struct MemoryStats {
  std::uint64_t in_use = 0;       ///< Held by live tensors.
  std::uint64_t cached = 0;       ///< Free memory that is kept for reuse.
  std::uint64_t captured = 0;     ///< Held by captured graphs (crisol/capture.h), but by no live tensor.
  std::uint64_t peak = 0;         ///< Highest in_use since the start or the last reset_peak_memory.
  std::uint64_t allocations = 0;  ///< Buffers that were taken from OpenCL so far.
};

namespace runtime {
class DeviceState;
}

/// A handle to one device of this process. It is cheap to copy and valid until the process ends. Two handles are equal
/// if they are the same device.
class CRISOL_API Device {
 public:
  /// The default device: the device that set_default_device set. Otherwise the device that CRISOL_DEVICE names.
  /// Otherwise the best device: the GPU with the most memory of its own, then other GPUs, accelerators, and CPUs.
  /// Throws device_not_found if there is no device.
  Device();
  /// The device that `spec` names, in the syntax of CRISOL_DEVICE: "gpu", "cpu" or "accelerator"; the indices
  /// "platform:device"; or a part of a platform, vendor or device name in any case. A type or a name may end in ":n"
  /// for the n-th match. A type without a number is the default device if that is of this type, else the first device
  /// of the type. Throws device_not_found if nothing matches or the device has no compiler. The error lists the
  /// devices and shows what to write.
  Device(std::string_view spec);
  /// The same for any text type, so that functions with a Device parameter take a text: x.to("gpu:0").
  template <class Text, class = std::enable_if_t<std::is_convertible_v<const Text&, std::string_view>>>
  Device(const Text& spec) : Device(std::string_view(spec)) {}
  /// Used by the library; users name devices by text.
  explicit Device(runtime::DeviceState& state) noexcept : state_(&state) {}

  /// The facts that the driver reports.
  const DeviceInfo& info() const noexcept;
  /// info().name.
  const std::string& name() const noexcept { return info().name; }
  /// Position in devices().
  int index() const noexcept;

  /// Waits until all queued work of this device is done. Throws device_failure if a part of the work failed.
  void synchronize() const;

  /// Figures of this device's memory pool.
  MemoryStats memory_stats() const;
  /// Resets the peak to the memory that is in use now.
  void reset_peak_memory() const;
  /// Gives the cached buffers back to OpenCL.
  void release_cached_memory() const;
  /// Limits the total memory of the pool. An allocation beyond the limit throws out_of_memory. 0 restores the default
  /// limit, info().global_memory.
  void set_memory_limit(std::uint64_t bytes) const;

  /// Used by the library.
  runtime::DeviceState& state() const noexcept { return *state_; }

  friend bool operator==(Device a, Device b) noexcept { return a.state_ == b.state_; }
  friend bool operator!=(Device a, Device b) noexcept { return a.state_ != b.state_; }

 private:
  runtime::DeviceState* state_;
};

/// The device's name.
CRISOL_API std::ostream& operator<<(std::ostream& out, Device device);

/// All devices of all platforms in the order of the OpenCL loader, then the devices from crisol/opencl_interop.h. Empty
/// if no platform is installed.
CRISOL_API std::vector<Device> devices();

/// Sets the device that Device() returns from now on, on every thread.
CRISOL_API void set_default_device(Device device);

/// The reason why Device() chose its device: "CRISOL_DEVICE=gpu", "the GPU with the most memory of its own", …
CRISOL_API std::string default_device_reason();

/// Waits for all queued work of the default device.
inline void synchronize() { Device().synchronize(); }

}  // namespace crisol
