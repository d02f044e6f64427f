// Ops that move, join, pick, pad and reduce elements.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/index.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/sort.h"
#include "crisol/functions/triangle.h"
#include "graph/ops/data.h"
#include "graph/ops/runs.h"
#include "graph/passes/attributes.h"

namespace crisol::graph {

namespace {

int axis_of(const Node& node) { return static_cast<int>(integer_of(node, "axis", 0)); }

Run identity(const Node&) {
  return [](const Data& in, Device) { return Data{in[0]}; };
}

Run cast(const Node& node) {
  const auto dtype = static_cast<DType>(integer_of(node, "dtype", 0));
  return run_of_one([dtype](const Tensor& x) { return x.to(dtype); });
}

/// A function of a tensor and of the whole numbers that are input 1.
template <class F>
Run with_numbers(F f) {
  return [f](const Data& in, Device device) { return Data{f(in[0].tensor(device), in[1].numbers())}; };
}

Run reshape(const Node&) {
  return with_numbers([](const Tensor& x, const Numbers& shape) { return x.reshape(Shape(shape)); });
}

Run expand(const Node&) {
  return with_numbers([](const Tensor& x, const Numbers& shape) { return x.expand(Shape(shape)); });
}

Run permute(const Node& node) {
  const Shape axes(integers_of(node, "axes"));
  return run_of_one([axes](const Tensor& x) { return x.permute(axes); });
}

Run squeeze(const Node&) {
  return [](const Data& in, Device device) { return Data{squeezed(in[0], in[1].numbers(), device)}; };
}

Run unsqueeze(const Node&) {
  return [](const Data& in, Device device) { return Data{unsqueezed(in[0], in[1].numbers(), device)}; };
}

/// Inputs behind x are the first places, the ends, the axes and the steps.
Run slice(const Node&) {
  return [](const Data& in, Device device) {
    const Numbers first = in[1].numbers(), ends = in[2].numbers(), axes = in[3].numbers(),
                  steps = in.size() > 4 ? in[4].numbers() : Numbers(first.size(), 1);
    // Bounds outside of the axis are errors of narrow(), and not moved to the end.
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (!in[0].on_host() && steps[i] > 0 && first[i] < ends[i])
        in[0].tensor(device).narrow(static_cast<int>(axes[i]), first[i], ends[i] - first[i]);
    return Data{cut(in[0], first, ends, axes, steps, device)};
  };
}

Run join(const Node& node) {
  return [axis = axis_of(node)](const Data& in, Device device) { return Data{joined(in, axis, device)}; };
}

Run cut_up(const Node& node) {
  return [axis = axis_of(node)](const Data& in, Device device) {
    const std::vector<Tensor> pieces = split(in[0].tensor(device), in[1].numbers(), axis);
    return Data(pieces.begin(), pieces.end());
  };
}

Run surround(const Node&) {
  return [](const Data& in, Device device) {
    const Numbers pads = in[1].numbers();  // Before the first element of each axis, then behind the last ones.
    const std::size_t rank = pads.size() / 2;
    std::vector<AxisPadding> paddings;  // The list begins with the last axis.
    for (std::size_t i = rank; i-- > 0;) paddings.push_back({pads[i], pads[rank + i]});
    return Data{pad(in[0].tensor(device), paddings, in[2].number())};
  };
}

Run pick(const Node& node) {
  return run_of_all([axis = axis_of(node)](const std::vector<Tensor>& in) {
    return gather(in[0], axis, counted(in[1], in[0].size(axis)));
  });
}

Run select(const Node& node) {
  return [axis = axis_of(node)](const Data& in, Device device) { return Data{slices_at(in[0], in[1], axis, device)}; };
}

/// Writes by index: `replace`, or `combine` if the node has a reduction.
template <auto replace, auto combine>
Run put(const Node& node) {
  const std::string how = text_of(node, "reduction", "none");
  return run_of_all([how, axis = axis_of(node)](const std::vector<Tensor>& in) {
    const Tensor index = counted(in[1], in[0].size(axis));
    if (how == "none") return replace(in[0], axis, index, in[2]);
    const auto reduction = how == "add"   ? ScatterReduction::sum
                           : how == "mul" ? ScatterReduction::prod
                           : how == "max" ? ScatterReduction::amax
                                          : ScatterReduction::amin;
    return combine(in[0], axis, index, in[2], reduction);
  });
}

Run order(const Node& node) {
  const bool largest = integer_of(node, "largest", 1) != 0;
  return [largest, axis = axis_of(node)](const Data& in, Device device) {
    const SortResult result = topk(in[0].tensor(device), in[1].numbers()[0], axis, largest);
    return Data{result.values, result.indices};
  };
}

Run triangle(const Node& node) {
  const auto f = integer_of(node, "upper", 1) != 0 ? triu : tril;
  return with_numbers([f](const Tensor& x, const Numbers& diagonal) { return f(x, diagonal[0]); });
}

Run sizes(const Node& node) {
  const auto start = integer_of(node, "start", 0), end = integer_of(node, "end", 0);
  return [start, end](const Data& in, Device) {
    const Shape& shape = in[0].shape();
    return Data{Datum(Numbers(shape.begin() + start, shape.begin() + end), Shape(end - start))};
  };
}

/// A product of sizes.
Run product_of_sizes(const Node&) {
  return [](const Data& in, Device) { return Data{Datum({in[0].numbers()[0] * in[1].numbers()[0]}, in[0].shape())}; };
}

template <Tensor (*f)(const Tensor&, const Shape&, bool)>
Run reduce(const Node& node) {
  const bool keepdim = integer_of(node, "keepdim", 1) != 0;
  return run_of_one(
      [keepdim, axes = Shape(integers_of(node, "axes"))](const Tensor& x) { return f(x, axes, keepdim); });
}

template <int p>
Tensor length(const Tensor& x, const Shape& axes, bool keepdim) {
  return norm(x, p, axes, keepdim);
}

template <Tensor (Tensor::*f)(const Shape&, bool) const>
Run place(const Node& node) {
  const bool keepdim = integer_of(node, "keepdim", 1) != 0;
  return run_of_one([keepdim, axis = axis_of(node)](const Tensor& x) { return (x.*f)(axis, keepdim); });
}

Run running_sum(const Node&) {
  return with_numbers([](const Tensor& x, const Numbers& axis) { return cumsum(x, static_cast<int>(axis[0])); });
}

}  // namespace

const Runs& runs_of_arrangements() {
  static const Runs runs{
      {Op::argmax, place<&Tensor::argmax>},
      {Op::argmin, place<&Tensor::argmin>},
      {Op::cast, cast},
      {Op::cat, join},
      {Op::cumsum, running_sum},
      {Op::expand, expand},
      {Op::gather, pick},
      {Op::identity, identity},
      {Op::index_copy, put<index_copy, index_reduce>},
      {Op::index_select, select},
      {Op::l1_norm, reduce<length<1>>},
      {Op::l2_norm, reduce<length<2>>},
      {Op::logsumexp, reduce<logsumexp>},
      {Op::max, reduce<max>},
      {Op::mean, reduce<mean>},
      {Op::min, reduce<min>},
      {Op::mul, product_of_sizes},
      {Op::pad, surround},
      {Op::permute, permute},
      {Op::prod, reduce<prod>},
      {Op::reshape, reshape},
      {Op::scatter, put<scatter, scatter_reduce>},
      {Op::shape, sizes},
      {Op::slice, slice},
      {Op::split, cut_up},
      {Op::squeeze, squeeze},
      {Op::sum, reduce<sum>},
      {Op::topk, order},
      {Op::triangle, triangle},
      {Op::unsqueeze, unsqueeze},
  };
  return runs;
}

}  // namespace crisol::graph
