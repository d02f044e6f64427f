// A reduction as a problem for dispatch: what is combined, where the elements come from, over which axes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dispatch/choose.h"
#include "ops/reduce/reduction.h"

namespace crisol::ops {

/// Sizes or strides of axes, innermost first as the kernels take them, with zeros behind.
using AxisList = std::array<std::int64_t, Shape::max_rank>;
AxisList innermost_first(const Shape& axes);

/// Where the elements come from, which are the first arguments of the kernels. A tensor: operand 0 and its strides.
/// A graph of several tensors (graph_reduction.h): each input is an operand and two call scalars, which are its strides
/// and its end; the graph's numbers are further call scalars.
struct ReduceSource {
  std::int64_t type;    ///< TYPE: a DType.
  std::int64_t across;  ///< Whether neighbours along the last kept axis can be read as vectors (READ_MANY_ACROSS),
  std::int64_t along;   ///< along the last reduced axis (READ_MANY_ALONG).
  /// Whether these vectors begin at multiples of gpu_width elements in memory. Then what is left of an axis is a vector
  /// too, except where there is one reduced axis alone.
  std::int64_t whole_across, whole_along;
  std::int64_t graph;                          ///< The interned text of the graph's prelude, or 0 for a tensor.
  std::int64_t inputs = 1, scalars = 0;        ///< Operands that are read; numbers of the graph.
  AxisList kept_strides{}, reduced_strides{};  ///< Of a tensor.
  std::int64_t end = 0;                        ///< SOURCE_END, of a tensor.
};

/// In the text of a graph's prelude, this character stands for the width of vectors (VW).
constexpr char width_mark = '@';
/// The prelude with that interned text, for vectors of `width`.
std::string graph_prelude(std::uint32_t text, int width);

/// Axes, collapsed, at least one of each kind.
struct ReduceLoop {
  AxisList kept, reduced;
  std::int64_t kept_rank, reduced_rank;
  std::int64_t outputs;   ///< Elements of the kept axes.
  std::int64_t elements;  ///< Of the reduced axes; 0 where one of them has size 0, which is then given as 1.
};
/// Both lists outermost first.
ReduceLoop loop_of(const Shape& kept, const Shape& reduced, std::int64_t outputs, std::int64_t elements);

struct ReduceProblem {
  ReduceSource source;
  ReduceLoop loop;
  std::int64_t combine, types, map, finish;  ///< Of the ReduceRule.
  std::int64_t parameter;                    ///< The bits of a float.

  Combine kind() const { return static_cast<Combine>(combine); }
  DType type() const { return static_cast<DType>(source.type); }
  /// The type that is computed in.
  DType computed() const { return accumulator(static_cast<ReduceTypes>(types), type()); }
  DType result() const { return result_type(static_cast<ReduceTypes>(types), type()); }
  std::int64_t width() const { return loop.kept[0]; }  ///< Outputs side by side.
  dispatch::ProblemKey key() const;
};
ReduceProblem reduce_problem(const ReduceRule& reduction, const ReduceSource& source, const ReduceLoop& loop,
                             float parameter = 0);

/// How a tensor is stored. Parts of an op's plan are tensors that are not there yet.
struct ReduceView {
  DType type;
  const Shape &shape, &strides;
  std::uint64_t offset;  ///< Of the first element.
};
/// Over the axes of a tensor whose bits are set in `reduced`.
ReduceProblem reduce_problem(const ReduceRule& reduction, const ReduceView& x, unsigned reduced, float parameter);

/// The operands are those of the source, then the result and, where the reduction finds positions, these.
extern const dispatch::Table<ReduceProblem> reduce_table;

/// Elements of the GPU kernels' vectors: 16 bytes of f32.
inline constexpr int gpu_width = 4;

/// Whether vectors along the last axis of `inner`, which are neighbours, begin at multiples of gpu_width, counted from
/// `first`; `outer` are the other axes, each list outermost first, with the strides of one tensor.
struct AxesOfVectors {
  const Shape &inner, &inner_strides, &outer, &outer_strides;
};
bool in_whole_vectors(const AxesOfVectors& axes, std::uint64_t first);

/// The element after the last one of a tensor, counted from its first.
std::int64_t extent_of(const Shape& shape, const Shape& strides);

}  // namespace crisol::ops
