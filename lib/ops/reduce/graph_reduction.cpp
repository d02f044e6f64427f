#include "ops/reduce/graph_reduction.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "crisol/ops/view.h"
#include "ops/collapse.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "ops/pointwise/pointwise_source.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/reduce/reduce_problem.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

// The limit for kept and for reduced axes here. So few fit into one argument together with their strides.
constexpr int max_axes = 4;
// The limit for inputs. More would exceed the 1024 bytes of arguments that every device takes.
constexpr std::size_t max_inputs = 8;

// The definitions that reduce/reduce.h requires and that do not depend on the graph. A tensor has first the strides of
// the reduced axes, then the strides of the kept axes, each innermost first.
constexpr const char* common_text = R"(
#define CURSOR graph_cursor
#define READ_ONE_ALONG(at, i) graph_one_along(at, i, SOURCE)
#define READ_MANY_ALONG(at, i) graph_many_along(at, i, SOURCE)
#define READ_ONE_ACROSS(at, i) graph_one_across(at, i, SOURCE)
#define READ_MANY_ACROSS(at, i) graph_many_across(at, i, SOURCE)
)";

class Writer {
 public:
  explicit Writer(const PointwiseGraph& graph) : graph_(graph) {}

  std::string text() {
    out_ << includes_of(graph_) << "#include \"common/element.h\"\n"
         << function_of(graph_, "graph_one", "") << function_of(graph_, "graph_many", width_)
         << "typedef struct {\n  long ";
    each_input(", ", [&](std::size_t k) { out_ << 'x' << k; });
    out_ << ";\n} graph_cursor;\n";
    operands();
    out_ << common_text;
    positions();
    for (const bool many : {false, true}) {
      function("along", "s0", many);
      function("across", "s4", many);
    }
    return out_.str();
  }

 private:
  template <class Write>
  void each_input(const char* separator, Write write) {
    for (std::size_t k = 0; k < graph_.input_count(); ++k) {
      if (k > 0) out_ << separator;
      write(k);
    }
  }

  void operands() {
    const auto formal = [&](const char* name, const char* pointer) {
      out_ << "#define " << name << ' ';
      each_input(", ", [&](std::size_t k) {
        out_ << "__global const " << memory_type(graph_.input_dtype(k)) << pointer << 'x' << k << ", const ulong x" << k
             << "_offset, const long8 x" << k << "_strides, const long x" << k << "_end";
      });
      for (std::size_t i = 0; i < graph_.scalar_count(); ++i)
        out_ << ", const " << register_type(graph_.scalar_dtype(i)) << " s" << i;
      out_ << '\n';
    };
    formal("SOURCE_PARAMETERS", "* restrict ");
    formal("SOURCE_FORMAL", "* ");
    out_ << "#define SOURCE ";
    each_input(", ", [&](std::size_t k) {
      out_ << 'x' << k << ", x" << k << "_offset, x" << k << "_strides, x" << k << "_end";
    });
    for (std::size_t i = 0; i < graph_.scalar_count(); ++i) out_ << ", s" << i;
    out_ << '\n';
  }

  void positions() {
    out_ << "#define SEEK(at, o) { ";
    each_input(" ", [&](std::size_t k) {
      out_ << "at.x" << k << " = (long)x" << k << "_offset + position(kept_shape, x" << k
           << "_strides.s45674567, KEPT_RANK, o);";
    });
    out_ << " }\n#define MOVE(at, from, r) { ";
    each_input(" ", [&](std::size_t k) {
      out_ << "at.x" << k << " = from.x" << k << " + position(reduced_shape, x" << k << "_strides, REDUCED_RANK, r);";
    });
    out_ << " }\n#define MOVE_TO_RUN(at, from, n) { ";
    each_input(" ", [&](std::size_t k) {
      out_ << "at.x" << k << " = from.x" << k << " + RUN_POSITION(x" << k << "_strides, n);";
    });
    out_ << " }\n#define MOVE_ALONG(at, from, i) { ";
    each_input(" ",
               [&](std::size_t k) { out_ << "at.x" << k << " = from.x" << k << " + (i) * x" << k << "_strides.s0;"; });
    out_ << " }\n#define ALONG_IS_UNIT (";
    each_input(" && ", [&](std::size_t k) { out_ << "(ulong)x" << k << "_strides.s0 <= 1"; });
    out_ << ")\n#define CAN_READ_MANY(at, i) (";
    each_input(" && ", [&](std::size_t k) { out_ << "(at).x" << k << " + (i) + VW <= x" << k << "_end"; });
    out_ << ")\n";
  }

  // Writes a function that reads one element. With `many` it reads VW elements, if each input is contiguous or repeats
  // one element.
  void function(const char* axis, const char* stride, bool many) {
    const std::string width = many ? width_ : "";
    const char* name = many ? "many" : "one";
    out_ << "INLINE JOIN(S, " << (many ? "VW" : "") << ") graph_" << name << '_' << axis
         << "(const graph_cursor at, const long i, SOURCE_FORMAL) {\n";
    for (std::size_t k = 0; k < graph_.input_count(); ++k) {
      const DType dtype = graph_.input_dtype(k);
      const std::string type = register_type(dtype) + width, step = concat('x', k, "_strides.", stride);
      const std::string at = concat('(', memory_type(dtype), ", ", register_type(dtype), ", x", k, ", at.x", k);
      if (!many) {
        out_ << "  const " << type << " v" << k << " = LOAD_S" << at << " + i * " << step << ");\n";
        continue;
      }
      out_ << "  " << type << " v" << k << ";\n  if (" << step << " == 0)\n    v" << k << " = (" << type << ")(LOAD_S"
           << at << "));\n  else\n    v" << k << " = LOAD_V" << at << " + i);\n";
    }
    out_ << "  " << register_type(graph_.output_dtype(0)) << width << " y;\n  graph_" << name << '(';
    each_input(", ", [&](std::size_t k) { out_ << 'v' << k; });
    for (std::size_t k = 0; k < graph_.scalar_count(); ++k) out_ << ", s" << k;
    out_ << ", &y);\n  return " << (many ? "JOIN(JOIN(convert_, S), VW)" : "JOIN(convert_, S)") << "(y);\n}\n";
  }

  const PointwiseGraph& graph_;
  const std::string width_{width_mark};
  std::ostringstream out_;
};

// Kept and reduced axes of all inputs, collapsed.
struct Axes {
  Loop kept, reduced;
  std::int64_t outputs, elements;

  bool fit() const { return kept.shape.rank() <= max_axes && reduced.shape.rank() <= max_axes; }
};

Axes split(GraphReduction::Inputs inputs, const Shape& shape, unsigned reduced) {
  Shape kept_shape, reduced_shape;
  std::array<Shape, PointwiseGraph::max_inputs> kept, rest;
  for (int axis = 0; axis < shape.rank(); ++axis)
    ((reduced >> axis & 1u) != 0 ? reduced_shape : kept_shape).push_back(shape[axis]);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Shape strides = broadcast_strides(*inputs[k], shape);
    for (int axis = 0; axis < shape.rank(); ++axis)
      ((reduced >> axis & 1u) != 0 ? rest : kept)[k].push_back(strides[axis]);
  }
  Axes axes{collapse(kept_shape, {kept.data(), inputs.size()}), collapse(reduced_shape, {rest.data(), inputs.size()}),
            kept_shape.numel(), reduced_shape.numel()};
  if (axes.elements == 0) axes.reduced.shape = {1};  // This must not be 0, because kernels divide by sizes.
  return axes;
}

// Whether every input has stride 1 or 0 along the last axis of a loop.
bool in_vectors(const Loop& loop) {
  return std::all_of(loop.strides.begin(), loop.strides.begin() + loop.operands,
                     [](const Shape& strides) { return strides.back() == 0 || strides.back() == 1; });
}

// Whether the vectors of in_vectors() begin at multiples of whole vectors. Repeated elements are read singly and do not
// matter.
bool all_in_whole_vectors(const Loop& inner, const Loop& outer, GraphReduction::Inputs inputs) {
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inner.strides[k].back() == 1 &&
        !in_whole_vectors({inner.shape, inner.strides[k], outer.shape, outer.strides[k]}, in(*inputs[k]).offset))
      return false;
  return inner.shape.rank() == 1 || inner.shape.back() % gpu_width == 0;
}

// The strides of the reduced axes and then of the kept axes, each innermost first.
Shape kernel_strides(const Axes& axes, std::size_t input) {
  Shape strides = Shape::filled(2 * max_axes, 0);
  const AxisList reduced = innermost_first(axes.reduced.strides[input]);
  const AxisList kept = innermost_first(axes.kept.strides[input]);
  for (int i = 0; i < max_axes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i < axes.reduced.shape.rank()) strides[i] = reduced[at];
    strides[max_axes + i] = kept[at];
  }
  return strides;
}

ReduceProblem problem_of(const ReduceRule& reduction, const Axes& axes, GraphReduction::Inputs inputs,
                         std::size_t scalars, DType type, std::uint32_t prelude) {
  const bool across = in_vectors(axes.kept), along = in_vectors(axes.reduced);
  const bool whole_across =
      across && axes.kept.shape.back() % gpu_width == 0 && all_in_whole_vectors(axes.kept, axes.reduced, inputs);
  const ReduceSource source{.type = static_cast<std::int64_t>(type),
                            .across = across,
                            .along = along,
                            .whole_across = whole_across,
                            .whole_along = along && all_in_whole_vectors(axes.reduced, axes.kept, inputs),
                            .graph = prelude,
                            .inputs = static_cast<std::int64_t>(inputs.size()),
                            .scalars = static_cast<std::int64_t>(scalars)};
  return reduce_problem(reduction, source, loop_of(axes.kept.shape, axes.reduced.shape, axes.outputs, axes.elements));
}

}  // namespace

GraphReduction::GraphReduction(const PointwiseGraph& graph) : graph_(graph), prelude_(intern(Writer(graph).text())) {}

std::string GraphReduction::prelude(int width) const { return graph_prelude(prelude_, width); }

Tensor GraphReduction::run(const ReduceRule& reduction, Inputs inputs, Scalars scalars, const Shape& shape,
                           const Shape& axes, bool keepdim) const {
  const unsigned reduced = reduced_axes(reduction.op, shape.rank(), axes);
  const Axes split_axes = split(inputs, shape, reduced);
  if (!split_axes.fit() || inputs.size() > max_inputs) {
    Tensor elements;
    kernels_of(graph_).run(reduction.op, inputs, scalars, {&elements, 1});
    return reduce(reduction, expand(elements, shape), axes, keepdim).values;
  }
  const DType type = graph_.output_dtype(0);
  check_reduce_type(reduction, type);
  const ReduceResult result =
      empty_result(reduction, type, reduced_shape(shape, reduced, keepdim), inputs[0]->device());
  if (split_axes.outputs == 0) return result.values;
  const PreparedPtr prepared = prepare(
      reduce_table, problem_of(reduction, split_axes, inputs, scalars.size(), type, prelude_), state_of(result.values));
  std::vector<OperandView> operands;
  std::vector<runtime::KernelArg> numbers;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& input = *inputs[k];
    operands.emplace_back(in(input));
    numbers.emplace_back(kernel_strides(split_axes, k));
    numbers.emplace_back(static_cast<std::int64_t>(operands.back().view.offset) +
                         extent_of(input.shape(), input.strides()));
  }
  for (std::size_t k = 0; k < scalars.size(); ++k)
    numbers.push_back(number_argument(scalars[k], graph_.scalar_dtype(k)));
  operands.emplace_back(out(result.values));
  if (result.positions.defined()) operands.emplace_back(out(result.positions));
  launch(*prepared, operands, numbers);
  return result.values;
}

}  // namespace crisol::ops
