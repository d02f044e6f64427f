// The one way to run a kernel.
//
//     launch(device, {"relu.cl", "relu_forward", {{"WIDTH", 16}}}, {{groups}, {1}}, x.view(), y.view(), n);
//
// dtype, tile sizes and flags are defines. Every shape, stride and offset is an argument, so that a new batch size
// compiles nothing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "crisol/shape.h"
#include "runtime/dry_run.h"
#include "runtime/memory/memory_pool.h"

struct _cl_kernel;

namespace crisol::runtime {

/// One `#define name value` before the kernel's source. The texts must outlive the KernelSpec.
struct Define {
  std::string_view name;
  std::string_view text;    ///< Used if it is not empty.
  std::int64_t number = 0;  ///< Used if `text` is empty.

  Define() = default;
  Define(std::string_view n, std::string_view t) : name(n), text(t) {}
  Define(std::string_view n, const char* t) : name(n), text(t) {}
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Define(std::string_view n, Integer value) : name(n), number(static_cast<std::int64_t>(value)) {}
};

/// A short list of defines. It allocates nothing.
class Defines {
 public:
  static constexpr std::size_t max_count = 24;

  Defines() = default;
  Defines(std::initializer_list<Define> defines);
  void add(const Define& define);
  const Define* begin() const noexcept { return list_.data(); }
  const Define* end() const noexcept { return list_.data() + count_; }

 private:
  std::array<Define, max_count> list_;
  std::size_t count_ = 0;
};

/// Identifies a kernel: an entry point of a program. A program is a file of cl_kernels/ with defines. `prelude` is
/// OpenCL C that is made at run time. It is placed between the defines and the file, and it may include files of
/// cl_kernels/. With a prelude the file may be left out (empty). Kernels with equal source, defines and prelude belong
/// to one program and are compiled together.
struct KernelSpec {
  std::string_view source;
  std::string_view entry;
  Defines defines = {};
  std::string_view prelude = {};
  std::string_view options = {};  ///< Options for the compiler. They follow the options of every program.
  std::string_view title = {};    ///< The name of a program without a file, for messages and `crisol cache`.
  bool exact_division = false;    ///< Division and square root are correctly rounded, if the device offers it.
};

/// Work-items, and work-items in a group; With local 0, OpenCL chooses the local size. Local sizes must not depend on
/// shapes, because PoCL compiles a kernel for each local size. The global size must be a multiple of the local one.
struct NdRange {
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{0, 0, 0};
  int dimensions = 1;

  NdRange(std::initializer_list<std::int64_t> global_size, std::initializer_list<std::int64_t> local_size);
};

/// A tensor argument: becomes two kernel parameters, the buffer and a ulong, the position of the first element.
struct BufferView {
  const Block* block;
  std::uint64_t offset;
};

/// The most axes that kernels walk along: a Shape is a long8. Ops merge axes before they count them.
inline constexpr int kernel_axes = 8;
/// Refuses a shape of more axes.
void require_kernel_axes(const Shape& shape);

/// A scalar, a view (two parameters), or a Shape (one long8, or fewer lanes, outermost first, padded with zeros).
class KernelArg {
 public:
  enum class Kind : std::uint8_t { value, view };

  KernelArg() = default;
  KernelArg(const BufferView& view) : kind_(Kind::view), view_(view) {}
  KernelArg(std::int32_t value) { set(value); }
  KernelArg(std::uint32_t value) { set(value); }
  KernelArg(std::int64_t value) { set(value); }
  KernelArg(std::uint64_t value) { set(value); }
  KernelArg(float value) { set(value); }
  KernelArg(const std::array<float, 8>& value) { set(value); }  ///< A float8.
  KernelArg(double) = delete;                                   // Devices need not support double. Write a float.
  /// A double, for kernels that compute in f64.
  static KernelArg of_f64(double value) {
    KernelArg arg;
    arg.set(value);
    return arg;
  }
  KernelArg(bool) = delete;  // Not a legal kernel parameter type.
  KernelArg(const Shape& shape, int lanes = kernel_axes);
  /// A scalar or vector of these bytes. The bytes are not copied, so they must live until the kernel is queued.
  KernelArg(const void* bytes, std::size_t size) : size_(size), elsewhere_(bytes) {}

  Kind kind() const noexcept { return kind_; }
  const BufferView& view() const noexcept { return view_; }
  std::size_t size() const noexcept { return size_; }
  const void* data() const noexcept { return elsewhere_ != nullptr ? elsewhere_ : bytes_.data(); }

 private:
  template <class T>
  void set(T value) {
    kind_ = Kind::value;
    size_ = sizeof value;
    *reinterpret_cast<T*>(bytes_.data()) = value;
  }

  Kind kind_ = Kind::value;
  std::size_t size_ = 0;
  const void* elsewhere_ = nullptr;  ///< The value, if it is not in bytes_.
  BufferView view_{nullptr, 0};
  alignas(64) std::array<unsigned char, 64> bytes_;
};

class BuiltKernel;

/// Sets a kernel's arguments; `name` is for the message. `known` holds the values that the kernel already has, one
/// after another, and is updated. It is empty for a new kernel. An unchanged value is not set again, because drivers
/// copy each value. A buffer is always set, because a new buffer may have the handle of a destroyed one.
void set_arguments(_cl_kernel* kernel, const std::string& name, const KernelArg* args, std::size_t count,
                   std::vector<unsigned char>& known);

/// Finds the kernel of a spec in memory or in the disk cache; otherwise compiles it. An op resolves every kernel that
/// it needs before its first launch, so that a build failure leaves no half-written result. Throws build_failure with
/// the device, the options, the build log and the numbered source.
BuiltKernel& resolve(DeviceState& device, const KernelSpec& spec);

/// Sets the arguments and queues the kernel, as one step under the kernel's lock. An empty range does nothing.
void enqueue(DeviceState& device, BuiltKernel& kernel, const NdRange& range, const KernelArg* args, std::size_t count);

template <class... Args>
void launch(DeviceState& device, BuiltKernel& kernel, const NdRange& range, const Args&... args) {
  const KernelArg list[] = {KernelArg(args)...};
  enqueue(device, kernel, range, list, sizeof...(args));
}

template <class... Args>
void launch(DeviceState& device, const KernelSpec& spec, const NdRange& range, const Args&... args) {
  // If only dry runs use a kernel, it may never run. Then its code would never get into the cache, and each
  // process would compile it anew.
  if (!in_dry_run()) launch(device, resolve(device, spec), range, args...);
}

/// The facts on which the choice of variants and geometry depends.
const DeviceInfo& info_of(const DeviceState& device) noexcept;

/// `count` work-items, rounded up to whole groups. A group has 64 items, or 256 for many items on a GPU, but not more
/// than the device's limit. A work-item must return if its id is not below `count`.
NdRange flat_range(const DeviceInfo& info, std::int64_t count);
inline NdRange flat_range(const DeviceState& device, std::int64_t count) { return flat_range(info_of(device), count); }

/// Lanes of a float vector on this device, 1 to 16: its native width, or CRISOL_VECTOR_WIDTH.
int vector_width(const DeviceState& device) noexcept;

}  // namespace crisol::runtime
