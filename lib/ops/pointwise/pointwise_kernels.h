// The kernels of one expression graph (cl_kernels/pointwise/pointwise.cl) and their launch over tensors.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "crisol/scalar.h"
#include "crisol/tensor.h"
#include "dispatch/target.h"
#include "ops/pointwise/pointwise_graph.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// A number as an argument of a kernel that computes with elements of a dtype.
runtime::KernelArg number_argument(const Scalar& value, DType dtype);

/// The kernels of one graph. The object is made once, without OpenCL, and lives for the whole process. A kernel is
/// compiled when it first runs. There is one kernel for each device and form (contiguous, strided, …). Kernels do not
/// depend on shapes.
class PointwiseKernels {
 public:
  /// Throws if the graph has more inputs, numbers or outputs than a kernel can have.
  PointwiseKernels(const PointwiseGraph& graph, std::int64_t number);
  PointwiseKernels(const PointwiseKernels&) = delete;
  PointwiseKernels& operator=(const PointwiseKernels&) = delete;

  using Inputs = std::span<const Tensor* const>;
  using Scalars = std::span<const Scalar>;

  /// Computes new contiguous tensors, one for each output, with the shape to which the inputs broadcast. There must be
  /// an input. Throws, naming op, for undefined tensors, other dtypes than the graph's, two devices, shapes that do not
  /// broadcast, and numbers that do not fit.
  void run(const char* op, Inputs inputs, Scalars scalars, std::span<Tensor> outputs) const;
  /// Writes to existing tensors. They must have the same shape, to which the inputs broadcast, and the same strides, of
  /// any kind. An input may be an output, but must not overlap an output in another way. Also refuses expanded outputs.
  void run_into(const char* op, Inputs inputs, Scalars scalars, std::span<const Tensor> outputs) const;
  /// Resolves the kernel of run_into for one input and one output, without numbers. The function that it returns queues
  /// the launch. The caller has checked the tensors.
  std::function<void()> prepare(const char* op, const Tensor& x, const Tensor& y) const;
  /// Writes one result to `into`, which must have the shape that the inputs broadcast to, or makes a new tensor if
  /// `into` is nullptr. Gives the result.
  Tensor run_once(const char* op, Inputs inputs, Scalars scalars, const Tensor* into) const;

  const PointwiseGraph& graph() const noexcept { return graph_; }
  /// The smallest number of elements for which another work-item saves time on a CPU. The number is larger if each
  /// element costs less.
  std::int64_t min_chunk() const noexcept { return min_chunk_; }
  /// The number of loop rounds that an element may take. Needed for devices that limit loops.
  std::int64_t loop_rounds() const noexcept { return loop_rounds_; }

  /// A kernel of cl_kernels/pointwise/pointwise.cl and its defines. Ranks are rounded up, so that few programs are
  /// compiled.
  enum class Form : std::uint8_t {
    flat_wide,    ///< This form and the next six forms are for CPUs.
    flat_stream,  ///< Its stores bypass the caches.
    rows_4,
    rows_stream_4,  ///< As flat_stream.
    rows_8,
    short_rows_4,
    short_rows_8,
    flat,  ///< This form and all following forms are for GPUs.
    flat_whole_vectors,
    item_vectors_2,
    item_vectors_4,
    item_vectors_8,
    items_2,
    items_4,
    items_8,
    items_2_long,
    items_4_long,
    items_8_long
  };
  /// The kernel of a form. `prelude` is the text of the form. It must live longer than the result.
  runtime::KernelSpec spec(const dispatch::Target& target, Form form, bool in_place, std::string_view prelude) const;
  /// The text of the graph for a form. It is made once, and lives as long as this object.
  const std::string& prelude(const dispatch::Target& target, Form form) const;
  /// A number that identifies these kernels in the process.
  std::int64_t number() const noexcept { return number_; }

 private:
  void check(const char* op, Inputs inputs, Scalars scalars) const;
  std::string text_of(bool one, int width) const;

  const PointwiseGraph graph_;
  const std::int64_t number_;
  std::int64_t min_chunk_, loop_rounds_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::string> preludes_;  ///< The key is the width of the vectors, or 1 for single elements.
};

/// The kernels of a graph. Equal graphs share their kernels.
const PointwiseKernels& kernels_of(const PointwiseGraph& graph);
/// The kernels with that number, which kernels_of() has made.
const PointwiseKernels& kernels_numbered(std::int64_t number);

}  // namespace crisol::ops
