// A reduction as a problem for dispatch: the combining function, the source of the elements, and the axes.
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

/// The source of the elements. Its operands are the first arguments of the kernels. A tensor is operand 0 and its
/// strides. In a graph of several tensors (graph_reduction.h) each input is an operand and two call scalars: its
/// strides and its end. The graph's numbers are further call scalars.
struct ReduceSource {
  std::int64_t type;    ///< TYPE: a DType.
  std::int64_t across;  ///< Whether neighbours along the last kept axis can be read as vectors (READ_MANY_ACROSS),
  std::int64_t along;   ///< along the last reduced axis (READ_MANY_ALONG).
  /// Whether these vectors begin at multiples of gpu_width elements in memory. Then the rest of an axis is a vector
  /// too, unless there is only one reduced axis.
  std::int64_t whole_across, whole_along;
  std::int64_t graph;                          ///< The interned text of the graph's prelude, or 0 for a tensor.
  std::int64_t inputs = 1, scalars = 0;        ///< Operands that are read; numbers of the graph.
  AxisList kept_strides{}, reduced_strides{};  ///< For a tensor.
  std::int64_t end = 0;                        ///< SOURCE_END, for a tensor.
};

/// In the text of a graph's prelude, this character stands for the width of vectors (VW).
constexpr char width_mark = '@';
/// The prelude of this interned text, for vectors of `width`.
std::string graph_prelude(std::uint32_t text, int width);

/// Axes, collapsed, at least one of each kind.
struct ReduceLoop {
  AxisList kept, reduced;
  std::int64_t kept_rank, reduced_rank;
  std::int64_t outputs;   ///< Elements of the kept axes.
  std::int64_t elements;  ///< Elements of the reduced axes. It is 0 if an axis has size 0, which is then given as 1.
};
/// Both lists have the outermost axis first.
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

/// How a tensor is stored. Inside an op's plan the tensor does not exist yet.
struct ReduceView {
  DType type;
  const Shape &shape, &strides;
  std::uint64_t offset;  ///< The offset of the first element.
};
/// The problem of reducing the axes whose bits are set in `reduced`.
ReduceProblem reduce_problem(const ReduceRule& reduction, const ReduceView& x, unsigned reduced, float parameter);

/// The operands are the operands of the source, then the result, then the positions if the reduction finds them.
extern const dispatch::Table<ReduceProblem> reduce_table;

/// Elements of the GPU kernels' vectors: 16 bytes of f32.
inline constexpr int gpu_width = 4;

/// The axes of one tensor, outermost first. The elements along the last axis of `inner` are neighbours. `outer` are the
/// other axes.
struct AxesOfVectors {
  const Shape &inner, &inner_strides, &outer, &outer_strides;
};
/// Whether the vectors of the last axis of `inner` begin at multiples of gpu_width, counted from `first`.
bool in_whole_vectors(const AxesOfVectors& axes, std::uint64_t first);

/// The element after the last one of a tensor, counted from its first.
std::int64_t extent_of(const Shape& shape, const Shape& strides);

}  // namespace crisol::ops
