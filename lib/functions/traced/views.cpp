// The ONNX nodes of views, copies and parts.
#include <cstdint>
#include <numeric>

#include "base/element_number.h"
#include "base/text.h"
#include "crisol/ops/view.h"
#include "functions/traced/traced.h"
#include "ops/check.h"

namespace crisol::traced {

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers list(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

Value cast(Recorder& r, Value x, DType from, DType to) {
  return from == to ? x : r.node(Op::cast, {x}, {{"to", onnx_element_number(to)}});
}

void reshape(Recorder& r, const Tensor& x, const Tensor& y) {
  if (x.shape() == y.shape()) return r.bind(y, r.of(x));
  const Value shape = r.numbers(list(y.shape()));
  // Without allowzero, ONNX would replace a size of 0 by the input's size.
  if (y.numel() == 0) return r.bind(y, r.node(Op::reshape, {r.of(x), shape}, {{"allowzero", 1}}));
  r.bind(y, r.node(Op::reshape, {r.of(x), shape}));
}

void permute(Recorder& r, const Tensor& x, const Shape& axes, const Tensor& y) {
  Numbers order;
  for (const std::int64_t axis : axes) order.push_back(normalized_axis("permute", axis, x.dim()));
  Numbers same(order.size());
  std::iota(same.begin(), same.end(), 0);
  if (order == same) return r.bind(y, r.of(x));
  r.note(Op::permute, {x}, y, {{"perm", order}});
}

void transpose(Recorder& r, const Tensor& x, int axis_a, int axis_b, const Tensor& y) {
  Shape axes;
  for (int i = 0; i < x.dim(); ++i) axes.push_back(i);
  if (!axes.empty())
    std::swap(axes[ops::axis_or_scalar("transpose", axis_a, x.dim())],
              axes[ops::axis_or_scalar("transpose", axis_b, x.dim())]);
  permute(r, x, axes, y);
}

void narrow(Recorder& r, const Tensor& x, int axis, std::int64_t start, std::int64_t length, const Tensor& y) {
  part(r, x, {{normalized_axis("narrow", axis, x.dim())}, {start}, {1}, {length}, {}, {}}, y);
}

void expand(Recorder& r, const Tensor& x, const Tensor& y) {
  if (x.shape() == y.shape()) return r.bind(y, r.of(x));
  r.bind(y, r.node(Op::expand, {r.of(x), r.numbers(list(y.shape()))}));
}

void to(Recorder& r, const Tensor& x, const Tensor& y) { r.bind(y, cast(r, r.of(x), x.dtype(), y.dtype())); }

void flip(Recorder& r, const Tensor& x, const Shape& axes, const Tensor& y) {
  if (axes.empty()) return r.bind(y, r.of(x));
  const auto all = [&](std::int64_t number) { return r.numbers(list(Shape::filled(axes.rank(), number))); };
  r.bind(y, r.node(Op::slice, {r.of(x), all(-1), all(INT64_MIN), r.numbers(list(axes)), all(-1)}));
}

void part(Recorder& r, const Tensor& x, const Part& part, const Tensor& y) {
  Value value = r.of(x);
  if (!part.axes.empty()) {
    Numbers ends;
    for (int i = 0; i < part.axes.rank(); ++i) ends.push_back(part.first[i] + part.step[i] * (part.size[i] - 1) + 1);
    for (int i = 0; i < part.axes.rank(); ++i)
      if (part.size[i] == 0) ends[static_cast<std::size_t>(i)] = part.first[i];
    value = r.node(Op::slice, {value, r.numbers(list(part.first)), r.numbers(ends), r.numbers(list(part.axes)),
                               r.numbers(list(part.step))});
  }
  if (!part.dropped.empty()) value = r.node(Op::squeeze, {value, r.numbers(list(part.dropped))});
  if (!part.added.empty()) value = r.node(Op::unsqueeze, {value, r.numbers(list(part.added))});
  r.bind(y, value);
}

void stack(Recorder& r, const std::vector<Tensor>& tensors, int axis, const Tensor& y) {
  const std::int64_t at = normalized_axis("stack", axis, y.dim());
  std::vector<Value> values;
  for (const Tensor& tensor : tensors) values.push_back(r.node(Op::unsqueeze, {r.of(tensor), r.numbers({at})}));
  r.bind(y, values.size() == 1 ? values[0] : r.node(Op::cat, values, {{"axis", at}}));
}

void cat(Recorder& r, const std::vector<Tensor>& tensors, int axis, const Tensor& y) {
  std::vector<Value> values;
  for (const Tensor& tensor : tensors) values.push_back(r.of(tensor));
  r.bind(y, r.node(Op::cat, values, {{"axis", normalized_axis("cat", axis, y.dim())}}));
}

void split(Recorder& r, const Tensor& x, const Numbers& sizes, int axis, const std::vector<Tensor>& pieces) {
  const std::vector<Value> values =
      r.node(Op::split, {r.of(x), r.numbers(sizes)}, {{"axis", normalized_axis("split", axis, x.dim())}},
             static_cast<int>(pieces.size()));
  for (std::size_t i = 0; i < pieces.size(); ++i) r.bind(pieces[i], values[i]);
}

void pad(Recorder& r, const Tensor& x, const std::vector<AxisPadding>& paddings, double value, const Tensor& y) {
  // The list of paddings begins with the last axis.
  const auto rank = static_cast<std::size_t>(x.dim());
  Numbers pads(2 * rank);
  for (std::size_t i = 0; i < paddings.size(); ++i) {
    pads[rank - 1 - i] = paddings[i].before;
    pads[2 * rank - 1 - i] = paddings[i].after;
  }
  r.bind(y, r.node(Op::pad, {r.of(x), r.numbers(pads), r.number(value, x.dtype(), x.device())}));
}

namespace {

/// The positions, converted to a type that ONNX takes.
Value positions(Recorder& r, const Tensor& index) {
  return cast(r, r.of(index), index.dtype(), holds_counts(index.dtype()) ? index.dtype() : DType::i64);
}

}  // namespace

void index_copy(Recorder& r, const Tensor& x, int axis, const Tensor& index, const Tensor& src, const char* reduction,
                const Tensor& y) {
  r.note(Op::index_copy, {x, index, src}, y,
         {{"axis", normalized_axis("index_copy", axis, x.dim())}, {"reduction", reduction}});
}

void scatter(Recorder& r, const Tensor& x, int axis, const Tensor& index, const Tensor& src, const char* reduction,
             const Tensor& y) {
  Value used = r.of(src);
  if (src.shape() != index.shape()) {
    const Shape first = Shape::filled(src.dim(), 0);
    Numbers axes(static_cast<std::size_t>(src.dim()));
    std::iota(axes.begin(), axes.end(), 0);
    used = r.node(Op::slice, {used, r.numbers(list(first)), r.numbers(list(index.shape())), r.numbers(axes)});
  }
  r.bind(y, r.node(Op::scatter, {r.of(x), positions(r, index), used}, {{"axis", axis}, {"reduction", reduction}}));
}

void one_hot(Recorder& r, const Tensor& indices, std::int64_t num_classes, const Tensor& y) {
  Numbers classes(static_cast<std::size_t>(num_classes));
  std::iota(classes.begin(), classes.end(), 0);
  const Value rows = r.node(Op::unsqueeze, {cast(r, r.of(indices), indices.dtype(), DType::i64), r.numbers({-1})});
  r.bind(y, cast(r, elements(r, ops::rows::eq, {rows, r.numbers(classes)}), DType::boolean, y.dtype()));
}

}  // namespace crisol::traced
