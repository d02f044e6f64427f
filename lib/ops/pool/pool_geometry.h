// The checks that all poolings share, and the values that they pass to their kernels.
#pragma once

#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/options/int_pair.h"
#include "dispatch/choose.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/result.h"
#include "ops/storage.h"
#include "ops/window.h"
#include "pool/parameters.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// The sizes and the window of one pooling. It is the problem for which variants are chosen.
struct PoolGeometry {
  std::int64_t planes, height, width, out_h, out_w;
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  std::int64_t type = 0;     ///< The DType of the elements in memory.
  std::int64_t indices = 0;  ///< The DType of indices, or 0 for i32.

  /// Both types, as plans take them.
  std::int64_t types() const { return types_with_parameters(type, indices); }
  std::int64_t inputs() const { return planes * height * width; }
  std::int64_t outputs() const { return planes * out_h * out_w; }
  std::int64_t window() const { return kernel_h * kernel_w; }
  /// An upper limit for the loop iterations in a row of the output. The last vector has up to 16 lanes, which may be
  /// loaded and stored one by one.
  std::int64_t iterations_of_row() const { return (out_w + 16) * (2 * window() + 4); }
  /// The argument of kernels.
  kernels::PoolWindow kernel_window() const;
  dispatch::ProblemKey key() const;
};

/// Checks for rank 4. Also limits the size of a plane, because positions within a plane are counted in 32 bits.
inline void require_images(const char* op, const Shape& shape) {
  require(shape.rank() == 4, op, "the input has shape ", shape, ", it must have rank 4: (N, C, H, W)");
  require(shape[2] == 0 || shape[3] <= std::numeric_limits<std::int32_t>::max() / shape[2], op,
          "the planes of input shape ", shape, " have more than 2^31 - 1 elements");
}

inline void require_gradient(const char* op, const Tensor& dy, const Shape& wanted, const Shape& input_shape) {
  require_floating(op, "the output's gradient", dy);
  require(dy.shape() == wanted, op, "the output's gradient has shape ", dy.shape(), ", an input of shape ", input_shape,
          " gives ", wanted);
}

/// Runs an op with one operand x, and returns its result of the given shape. `problem` describes the op for its table;
/// the type of x is filled in here. `into` is the place of the result, or nullptr (ops/result.h).
template <class Problem>
Tensor pooled(const dispatch::Table<Problem>& table, Problem problem, const Tensor& x, const Shape& shape,
              const Tensor* into = nullptr) {
  const Contiguous input(x);
  problem.type = storage_of(x);
  Result y(table.op, into, shape, x.dtype(), x.device(), {&x});
  const dispatch::PreparedPtr prepared = dispatch::prepare(table, problem, state_of(x));
  dispatch::launch(*prepared, {in(input), out(y)});
  return y.done();
}

/// The result of an op with one operand x, which make() computes by other ops. `into` is as for pooled().
template <class Make>
Tensor delivered(const char* op, const Tensor& x, const Shape& shape, Make make, const Tensor* into) {
  Result y(op, into, shape, x.dtype(), x.device(), {&x});
  if (shape.numel() > 0) copy_into(y.place(), make());
  return y.done();
}

/// The types of the elements and indices that a kernel reads and stores, from types().
inline runtime::Defines pool_types(std::int64_t types) {
  runtime::Defines defines = elements_of(types & 0xff);
  define_type(defines, "INDEX", types >> 8);
  return defines;
}

/// A plan for CPUs. The kernel's work-items own planes of the result, of `area` elements, and add to them in floats
/// (pool/plane_sums.h). The result is the kernel's first argument.
template <class... Arguments>
dispatch::PlanOr plan_pool_sums(const dispatch::Target& target, const char* file, const char* entry, std::int64_t types,
                                std::int64_t planes, std::int64_t area, std::int64_t iterations,
                                dispatch::ArgList result, const Arguments&... arguments) {
  if (const char* reason = target.against_iterations(iterations)) return reason;
  runtime::Defines defines = pool_types(types);
  defines.add({"VW", target.cpu_vector_width()});
  const runtime::NdRange range = dispatch::persistent_range(target, planes, iterations);
  dispatch::Plan plan;
  if ((types & 0xff) != 0 && area > 0)
    result.emplace_back(plan.workspace(4 * static_cast<std::uint64_t>(area) * range.global[0]));
  plan.add({file, entry, defines}, range, result, arguments...);
  return plan;
}

/// The same for a kernel whose work-items loop over `units`, which are rows or planes, and store each element once.
template <class... Arguments>
dispatch::PlanOr plan_pool_units(const dispatch::Target& target, const char* file, const char* entry,
                                 std::int64_t types, std::int64_t units, std::int64_t iterations,
                                 const Arguments&... arguments) {
  return plan_pool_sums(target, file, entry, types, units, 0, iterations, {}, arguments...);
}

/// A plan whose kernel has a work-item for each of `count` elements of the result.
template <class... Arguments>
dispatch::Plan plan_pool_elements(const dispatch::Target& target, const char* file, const char* entry,
                                  std::int64_t types, std::int64_t count, const Arguments&... arguments) {
  dispatch::Plan plan;
  plan.add({file, entry, pool_types(types)}, target.flat_range(count), arguments...);
  return plan;
}

/// The variants of an op: `rows` is for CPUs, and `pixel` takes every problem.
template <class Problem, dispatch::PlanOr (*rows)(const Problem&, const dispatch::Target&),
          dispatch::Plan (*pixel)(const Problem&, const dispatch::Target&)>
inline constexpr dispatch::Variant<Problem> pool_variants[] = {
    {"rows", dispatch::DeviceClass::cpu,
     [](const Problem& p, const dispatch::Target& target, std::size_t) { return rows(p, target); }},
    {"pixel", dispatch::DeviceClass::any,
     [](const Problem& p, const dispatch::Target& target, std::size_t) -> dispatch::PlanOr {
       return pixel(p, target);
     }}};

/// The number of windows along an axis. Throws, naming op, for the same sizes as window_count, for a padding above half
/// of the kernel, and for a window without an element of the input.
std::int64_t pool_count(const char* op, const char* axis_name, const WindowAxis& axis, bool ceil_mode);

/// If `stride` is 0, the stride is the kernel's size. Throws if a window has no element of the input.
PoolGeometry pool_geometry(const char* op, const Shape& shape, IntPair kernel, IntPair stride, IntPair padding,
                           IntPair dilation, bool ceil_mode);

}  // namespace crisol::ops
