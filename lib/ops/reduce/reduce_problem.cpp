#include "ops/reduce/reduce_problem.h"

#include <algorithm>
#include <bit>

#include "ops/reduce/reduce_axes.h"

namespace crisol::ops {

AxisList innermost_first(const Shape& axes) {
  runtime::require_kernel_axes(axes);
  AxisList list{};
  std::reverse_copy(axes.begin(), axes.end(), list.begin());
  return list;
}

std::string graph_prelude(std::uint32_t text, int width) {
  std::string prelude;
  for (const char c : interned(text))
    if (c == width_mark)
      prelude += std::to_string(width);
    else
      prelude += c;
  return prelude;
}

ReduceLoop loop_of(const Shape& kept, const Shape& reduced, std::int64_t outputs, std::int64_t elements) {
  return {innermost_first(kept), innermost_first(reduced), kept.rank(), reduced.rank(), outputs, elements};
}

dispatch::ProblemKey ReduceProblem::key() const {
  return {{"kind", combine},  {"dtype", source.type},    {"outputs", loop.outputs}, {"elements", loop.elements},
          {"width", width()}, {"across", source.across}, {"along", source.along},   {"fused", source.graph != 0}};
}

ReduceProblem reduce_problem(const ReduceRule& reduction, const ReduceSource& source, const ReduceLoop& loop,
                             double parameter) {
  const DType computed = accumulator(reduction.types, static_cast<DType>(source.type));
  return {source,
          loop,
          static_cast<std::int64_t>(reduction.combine),
          static_cast<std::int64_t>(reduction.types),
          reduction.map.number,
          reduction.finish.number,
          computed == DType::f64 ? std::bit_cast<std::int64_t>(parameter)
                                 : std::bit_cast<std::int32_t>(static_cast<float>(parameter))};
}

ReduceProblem reduce_problem(const ReduceRule& reduction, const ReduceView& x, unsigned reduced, double parameter) {
  const ReduceAxes axes = split_axes(x.shape, x.strides, reduced, finds_positions(reduction.combine));
  const bool across = axes.kept_strides.back() == 1, along = axes.reduced_strides.back() == 1;
  const bool whole_across =
      across && axes.kept_shape.back() % gpu_width == 0 &&
      in_whole_vectors({axes.kept_shape, axes.kept_strides, axes.reduced_shape, axes.reduced_strides}, x.offset);
  const bool whole_along =
      along &&
      in_whole_vectors({axes.reduced_shape, axes.reduced_strides, axes.kept_shape, axes.kept_strides}, x.offset);
  const ReduceSource source{.type = static_cast<std::int64_t>(x.type),
                            .across = across,
                            .along = along,
                            .whole_across = whole_across,
                            .whole_along = whole_along,
                            .graph = 0,
                            .kept_strides = innermost_first(axes.kept_strides),
                            .reduced_strides = innermost_first(axes.reduced_strides),
                            .end = static_cast<std::int64_t>(x.offset) + extent_of(x.shape, x.strides)};
  return reduce_problem(reduction, source, loop_of(axes.kept_shape, axes.reduced_shape, axes.outputs, axes.reduced),
                        parameter);
}

bool in_whole_vectors(const AxesOfVectors& axes, std::uint64_t first) {
  const auto all_multiples = [&](const Shape& shape, const Shape& strides, int axes_of_it) {
    for (int i = 0; i < axes_of_it; ++i)
      if (shape[i] > 1 && strides[i] % gpu_width != 0) return false;
    return true;
  };
  const int last = axes.inner.rank() - 1;
  return first % gpu_width == 0 && (last == 0 || axes.inner[last] % gpu_width == 0) &&
         all_multiples(axes.inner, axes.inner_strides, last) &&
         all_multiples(axes.outer, axes.outer_strides, axes.outer.rank());
}

std::int64_t extent_of(const Shape& shape, const Shape& strides) {
  std::int64_t last = 0;
  for (int i = 0; i < shape.rank(); ++i) last += (shape[i] - 1) * strides[i];
  return last + 1;
}

}  // namespace crisol::ops
