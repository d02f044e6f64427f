// Running a reduction: what is combined (a row of the table), where the elements come from, how it is cut for a device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "crisol/tensor.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// Values of KIND in cl_kernels/reduce/combine.h.
enum class Combine : std::uint8_t { sum, prod, max, min, log_sum_exp, moments, arg_max, arg_min };

/// Which dtypes a reduction takes, what it computes in and what it gives.
enum class ReduceTypes : std::uint8_t {
  floating,  ///< f32 and f16, computed in float; gives the same.
  total,     ///< Those, and integers and bool, computed in long; these give i64.
  element,   ///< Any; gives the same.
  truth,     ///< Any; gives bool.
};

/// One reduction. The texts are OpenCL C, expressions of a scalar or vector type T.
struct Reduction {
  const char* op;
  Combine combine;
  ReduceTypes types;
  const char* map = "x";     ///< Of x, an element, and `parameter`.
  const char* finish = "a";  ///< Of a, the combined value, `count`, the number of elements, and `parameter`.
  bool needs_elements = false;
};

/// Where the elements come from: the first arguments of the kernels, by which the prelude (see
/// cl_kernels/reduce/reduce.h) reads them. Without a prelude: a tensor and its strides along the kept and the reduced
/// axes, innermost first.
struct ReduceSource {
  std::function<std::string_view(int width)> prelude;  ///< For vectors of that width: VW.
  std::span<const runtime::KernelArg> arguments;
  DType type;            ///< TYPE, whose rules hold.
  bool across;           ///< Neighbours along the last kept axis can be read as vectors (READ_MANY_ACROSS),
  bool along;            ///< along the last reduced axis (READ_MANY_ALONG).
  std::int64_t end = 0;  ///< SOURCE_END.
  /// Those vectors begin at multiples of gpu_width elements in memory; what is left of an axis is a vector too, but
  /// for that of one reduced axis alone.
  bool whole_across = false, whole_along = false;
};

/// The same axes (or sizes, or strides) in the kernels' order.
Shape innermost_first(const Shape& axes);

/// Elements of the GPU kernels' vectors: 16 bytes of f32.
inline constexpr int gpu_width = 4;

/// Whether vectors along the last axis of `inner`, which are neighbours, begin at multiples of gpu_width, counted from
/// `first`; `outer` are the other axes, each list outermost first, with the strides of one tensor.
struct AxesOfVectors {
  const Shape &inner, &inner_strides, &outer, &outer_strides;
};
bool in_whole_vectors(const AxesOfVectors& axes, std::uint64_t first);

/// Axes, collapsed, at least one each.
struct ReduceLoop {
  Shape kept, reduced;
  std::int64_t outputs,
      elements;  ///< Of the kept axes; of the reduced ones, 0 where one has size 0 (and is given as 1).
};

struct ReduceResult {
  Tensor values;
  Tensor positions;  ///< i64; undefined unless the reduction finds positions.
};

/// Refuses dtypes that the reduction does not take.
void check_reduce_type(const Reduction& reduction, DType type);

/// Runs it; everything is resolved and allocated before the first launch. The result has shape `shape`, of
/// loop.outputs elements.
ReduceResult run_reduction(const Reduction& reduction, const ReduceSource& source, const ReduceLoop& loop,
                           const Shape& shape, Device device, float parameter = 0);

/// Over axes of a tensor.
ReduceResult reduce(const Reduction& reduction, const Tensor& x, const Shape& axes, bool keepdim, double parameter = 0);

}  // namespace crisol::ops
