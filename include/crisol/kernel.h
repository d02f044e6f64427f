// Kernels of your own, in OpenCL C, on the library's tensors.
//
//     const Kernel scale(R"(
//       __kernel void scale(__global const float* x, __global float* y, float factor) {
//         const size_t i = get_global_id(0);
//         y[i] = factor * x[i];
//       })", "scale");
//
//     Tensor y = empty(x.shape());
//     scale({x.numel()}, x, y, 0.5);  // One work-item for each element.
//
// A kernel has no gradient. custom_function (crisol/autograd.h) can give it one. docs/own-kernels.md shows a complete
// program.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crisol/export.h"
#include "crisol/shape.h"
#include "crisol/tensor.h"

namespace crisol {

/// Settings of a Kernel.
struct KernelOptions {
  /// Work-items in a work-group, for one to three dimensions. If it is empty, OpenCL chooses.
  Shape group = {};
  /// Pairs of NAME and TEXT. Each adds `#define NAME TEXT` before the source: sizes, element types, flags.
  std::vector<std::pair<std::string, std::string>> defines = {};
  /// Options for the device's compiler, after the library's `-cl-std=CL1.2`: "-cl-fast-relaxed-math".
  std::string build_options = {};
};

/// One kernel of an OpenCL C source. It is compiled at its first call on a device, and kept in memory and in the disk
/// cache like the library's own kernels. Profiles show it by its name, and capture() captures it. Copies of the handle
/// are the same kernel. Any thread may call it.
///
/// The source is complete OpenCL C 1.2. A line `#include "FILE"` includes a file of the library's cl_kernels/, such as
/// "common/math/erf.h". The kernel's parameters may be:
///
/// | parameter                                     | argument                                                  |
/// |-----------------------------------------------|-----------------------------------------------------------|
/// | `__global const T* x`, `__constant T* x`       | a tensor that the kernel reads                            |
/// | `__global T* y`                                | a tensor that the kernel may write                        |
/// | `T n`                                          | a number                                                  |
///
/// T is char, uchar, short, ushort, int, uint, long, ulong, float or double, or a define that names one of these types.
/// A pointer may also have the type half, or a vector type of 2, 4, 8 or 16 elements. Local memory is declared in the
/// kernel: `__local float sums[64];`.
class CRISOL_API Kernel {
 public:
  /// Reads the parameters of the kernel `name` from the source, and compiles nothing.
  /// Throws invalid_argument if the source has no kernel of that name or two of them, a parameter has another type, or
  /// a group size is not positive.
  Kernel(const std::string& source, const std::string& name, const KernelOptions& options = {});

  /// Queues the kernel with one work-item for each point of `range` (one to three sizes), and does not wait. There is
  /// one argument for each parameter, in order: tensors and numbers. The elements of a tensor are stored one after
  /// another, outermost axis first. Throws invalid_argument, naming the parameter, for
  /// - a wrong count of arguments, a tensor for a number, or a number for a tensor,
  /// - a tensor that is undefined, not contiguous, on another device, or of another element type
  ///   (f32 is float, f64 double, f16 half, bf16 ushort, i8 char, i16 short, i32 int, i64 long, u8 and bool uchar,
  ///   u16 ushort, u32 uint, u64 ulong),
  /// - a number that the parameter's type does not hold: 2.5 or 1e10 for an int,
  /// - a tensor that wants a gradient while ops are recorded,
  /// - a range that is negative, or not a multiple of the group size.
  /// Throws build_failure, with the compiler's log, if the source does not compile.
  template <class... Arguments>
  void operator()(const Shape& range, const Arguments&... arguments) const {
    run(range, std::initializer_list<Operand>{Operand(arguments)...});
  }

  /// The same for arguments that are known only at run time.
  void run(const Shape& range, const std::vector<Operand>& arguments) const;

  /// The name of the kernel in the source.
  const std::string& name() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace crisol
