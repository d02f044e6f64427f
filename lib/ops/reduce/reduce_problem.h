// A reduction as a problem for dispatch: how elements are combined, where they come from, and the axes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dispatch/choose.h"
#include "ops/reduce/reduction.h"

namespace crisol::ops {

/// Sizes or strides of axes, innermost first as the kernels take them, padded with zeros.
using AxisList = std::array<std::int64_t, runtime::kernel_axes>;
AxisList innermost_first(const Shape& axes);

/// Where the elements come from. The source's operands are the first arguments of the kernels. A tensor is operand 0,
/// with its strides. In a graph of several tensors (graph_reduction.h), each input is an operand and two call scalars:
/// its strides and its end. The graph's numbers are further call scalars.
struct ReduceSource {
  std::int64_t type;    ///< TYPE of the kernels, as a DType.
  std::int64_t across;  ///< Whether vectors can be read along the last kept axis (READ_MANY_ACROSS).
  std::int64_t along;   ///< Whether vectors can be read along the last reduced axis (READ_MANY_ALONG).
  /// Whether these vectors begin at multiples of gpu_width elements in memory. Then the last elements of an axis are a
  /// whole vector too, unless there is only one reduced axis.
  std::int64_t whole_across, whole_along;
  std::int64_t graph;                          ///< The interned text of the graph's prelude, or 0 for a tensor.
  std::int64_t inputs = 1, scalars = 0;        ///< How many operands are read, and how many numbers the graph has.
  AxisList kept_strides{}, reduced_strides{};  ///< Only for a tensor.
  std::int64_t end = 0;                        ///< Only for a tensor: SOURCE_END.
};

/// In the text of a graph's prelude, this character stands for the width of vectors (VW).
constexpr char width_mark = '@';
/// The prelude with this interned number, for vectors of `width`.
std::string graph_prelude(std::uint32_t text, int width);

/// Collapsed axes, at least one kept and one reduced axis.
struct ReduceLoop {
  AxisList kept, reduced;
  std::int64_t kept_rank, reduced_rank;
  std::int64_t outputs;   ///< The number of elements of the kept axes.
  std::int64_t elements;  ///< The number of elements of the reduced axes. It is 0 if an axis has size 0, but that axis
                          /// is passed with size 1.
};
/// Both lists have the outermost axis first.
ReduceLoop loop_of(const Shape& kept, const Shape& reduced, std::int64_t outputs, std::int64_t elements);

struct ReduceProblem {
  ReduceSource source;
  ReduceLoop loop;
  std::int64_t combine, types, map, finish;  ///< The members of the ReduceRule.
  std::int64_t parameter;  ///< The bits of a double if the reduction computes in f64, else of a float.

  Combine kind() const { return static_cast<Combine>(combine); }
  DType type() const { return static_cast<DType>(source.type); }
  /// The type in which the reduction computes.
  DType computed() const { return accumulator(static_cast<ReduceTypes>(types), type()); }
  DType result() const { return result_type(static_cast<ReduceTypes>(types), type()); }
  std::int64_t width() const { return loop.kept[0]; }  ///< The number of neighbouring outputs.
  dispatch::ProblemKey key() const;
};
ReduceProblem reduce_problem(const ReduceRule& reduction, const ReduceSource& source, const ReduceLoop& loop,
                             double parameter = 0);

/// How a tensor is stored. A tensor inside of an op's plan does not exist yet.
struct ReduceView {
  DType type;
  const Shape &shape, &strides;
  std::uint64_t offset;  ///< The offset of the first element.
};
/// The problem of reducing the axes whose bits are set in `reduced`.
ReduceProblem reduce_problem(const ReduceRule& reduction, const ReduceView& x, unsigned reduced, double parameter);

/// The operands of a plan are the source's operands, the result, and the positions if the reduction finds them.
extern const dispatch::Table<ReduceProblem> reduce_table;

/// The number of elements in a vector of the GPU kernels: 16 bytes of f32.
inline constexpr int gpu_width = 4;

/// The axes of one tensor, outermost first. Elements along the last axis of `inner` are neighbours. `outer` has the
/// other axes.
struct AxesOfVectors {
  const Shape &inner, &inner_strides, &outer, &outer_strides;
};
/// Whether the vectors along the last axis of `inner` begin at multiples of gpu_width, counted from `first`.
bool in_whole_vectors(const AxesOfVectors& axes, std::uint64_t first);

/// The position after a tensor's last element, counted from its first element.
std::int64_t extent_of(const Shape& shape, const Shape& strides);

}  // namespace crisol::ops
