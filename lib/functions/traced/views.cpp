// The nodes of views, copies and parts.
#include <cstdint>
#include <numeric>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/view.h"
#include "functions/traced/traced.h"
#include "ops/check.h"

namespace crisol::traced {

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers list(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

Value cast(Trace& trace, Value x, DType from, DType to) {
  return from == to ? x : trace.node(Op::cast, {x}, {{"dtype", static_cast<std::int64_t>(to)}});
}

void reshape(Trace& trace, const Tensor& x, const Tensor& y) {
  if (x.shape() == y.shape()) return trace.bind(y, trace.of(x));
  trace.bind(y, trace.node(Op::reshape, {trace.of(x), trace.numbers(list(y.shape()))}));
}

void permute(Trace& trace, const Tensor& x, const Shape& axes, const Tensor& y) {
  Numbers order;
  for (const std::int64_t axis : axes) order.push_back(normalized_axis("permute", axis, x.dim()));
  Numbers same(order.size());
  std::iota(same.begin(), same.end(), 0);
  if (order == same) return trace.bind(y, trace.of(x));
  trace.note(Op::permute, {x}, y, {{"axes", order}});
}

void transpose(Trace& trace, const Tensor& x, int axis_a, int axis_b, const Tensor& y) {
  Shape axes;
  for (int i = 0; i < x.dim(); ++i) axes.push_back(i);
  if (!axes.empty())
    std::swap(axes[ops::axis_or_scalar("transpose", axis_a, x.dim())],
              axes[ops::axis_or_scalar("transpose", axis_b, x.dim())]);
  permute(trace, x, axes, y);
}

void narrow(Trace& trace, const Tensor& x, int axis, std::int64_t start, std::int64_t length, const Tensor& y) {
  part(trace, x, {{normalized_axis("narrow", axis, x.dim())}, {start}, {1}, {length}, {}, {}}, y);
}

void expand(Trace& trace, const Tensor& x, const Tensor& y) {
  if (x.shape() == y.shape()) return trace.bind(y, trace.of(x));
  trace.bind(y, trace.node(Op::expand, {trace.of(x), trace.numbers(list(y.shape()))}));
}

void to(Trace& trace, const Tensor& x, const Tensor& y) {
  trace.bind(y, cast(trace, trace.of(x), x.dtype(), y.dtype()));
}

void flip(Trace& trace, const Tensor& x, const Shape& axes, const Tensor& y) {
  if (axes.empty()) return trace.bind(y, trace.of(x));
  const auto all = [&](std::int64_t number) { return trace.numbers(list(Shape::filled(axes.rank(), number))); };
  trace.bind(y, trace.node(Op::slice, {trace.of(x), all(-1), all(INT64_MIN), trace.numbers(list(axes)), all(-1)}));
}

void part(Trace& trace, const Tensor& x, const Part& part, const Tensor& y) {
  Value value = trace.of(x);
  if (!part.axes.empty()) {
    Numbers ends;
    for (int i = 0; i < part.axes.rank(); ++i) ends.push_back(part.first[i] + part.step[i] * (part.size[i] - 1) + 1);
    for (int i = 0; i < part.axes.rank(); ++i)
      if (part.size[i] == 0) ends[static_cast<std::size_t>(i)] = part.first[i];
    value = trace.node(Op::slice, {value, trace.numbers(list(part.first)), trace.numbers(ends),
                                   trace.numbers(list(part.axes)), trace.numbers(list(part.step))});
  }
  if (!part.dropped.empty()) value = trace.node(Op::squeeze, {value, trace.numbers(list(part.dropped))});
  if (!part.added.empty()) value = trace.node(Op::unsqueeze, {value, trace.numbers(list(part.added))});
  trace.bind(y, value);
}

void stack(Trace& trace, const std::vector<Tensor>& tensors, int axis, const Tensor& y) {
  const std::int64_t at = normalized_axis("stack", axis, y.dim());
  std::vector<Value> values;
  values.reserve(tensors.size());
  for (const Tensor& tensor : tensors)
    values.push_back(trace.node(Op::unsqueeze, {trace.of(tensor), trace.numbers({at})}));
  trace.bind(y, values.size() == 1 ? values[0] : trace.node(Op::cat, values, {{"axis", at}}));
}

void cat(Trace& trace, const std::vector<Tensor>& tensors, int axis, const Tensor& y) {
  std::vector<Value> values;
  values.reserve(tensors.size());
  for (const Tensor& tensor : tensors) values.push_back(trace.of(tensor));
  trace.bind(y, trace.node(Op::cat, values, {{"axis", normalized_axis("cat", axis, y.dim())}}));
}

void split(Trace& trace, const Tensor& x, const Numbers& sizes, int axis, const std::vector<Tensor>& pieces) {
  const std::vector<Value> values =
      trace.node(Op::split, {trace.of(x), trace.numbers(sizes)}, {{"axis", normalized_axis("split", axis, x.dim())}},
                 static_cast<int>(pieces.size()));
  for (std::size_t i = 0; i < pieces.size(); ++i) trace.bind(pieces[i], values[i]);
}

void pad(Trace& trace, const Tensor& x, const std::vector<AxisPadding>& paddings, double value, const Tensor& y) {
  // The list of paddings begins with the last axis.
  const auto rank = static_cast<std::size_t>(x.dim());
  Numbers pads(2 * rank);
  for (std::size_t i = 0; i < paddings.size(); ++i) {
    pads[rank - 1 - i] = paddings[i].before;
    pads[2 * rank - 1 - i] = paddings[i].after;
  }
  trace.bind(y, trace.node(Op::pad, {trace.of(x), trace.numbers(pads), trace.number(value, x.dtype(), x.device())}));
}

namespace {

/// The positions as i32 or i64.
Value positions(Trace& trace, const Tensor& index) {
  return cast(trace, trace.of(index), index.dtype(), holds_counts(index.dtype()) ? index.dtype() : DType::i64);
}

}  // namespace

void index_copy(Trace& trace, const Tensor& x, int axis, const Tensor& index, const Tensor& src, const char* reduction,
                const Tensor& y) {
  trace.note(Op::index_copy, {x, index, src}, y,
             {{"axis", normalized_axis("index_copy", axis, x.dim())}, {"reduction", reduction}});
}

void scatter(Trace& trace, const Tensor& x, int axis, const Tensor& index, const Tensor& src, const char* reduction,
             const Tensor& y) {
  Value used = trace.of(src);
  if (src.shape() != index.shape()) {
    const Shape first = Shape::filled(src.dim(), 0);
    Numbers axes(static_cast<std::size_t>(src.dim()));
    std::iota(axes.begin(), axes.end(), 0);
    used = trace.node(Op::slice,
                      {used, trace.numbers(list(first)), trace.numbers(list(index.shape())), trace.numbers(axes)});
  }
  trace.bind(y, trace.node(Op::scatter, {trace.of(x), positions(trace, index), used},
                           {{"axis", axis}, {"reduction", reduction}}));
}

void one_hot(Trace& trace, const Tensor& indices, std::int64_t num_classes, const Tensor& y) {
  Numbers classes(static_cast<std::size_t>(num_classes));
  std::iota(classes.begin(), classes.end(), 0);
  const Value rows =
      trace.node(Op::unsqueeze, {cast(trace, trace.of(indices), indices.dtype(), DType::i64), trace.numbers({-1})});
  trace.bind(y, cast(trace, elements(trace, ops::rows::eq, {rows, trace.numbers(classes)}), DType::boolean, y.dtype()));
}

}  // namespace crisol::traced
