// Reading and adding by index. The gradient of one is the other.
#include "crisol/functions/index.h"

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/pad.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "functions/index/line.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::call;
using autograd::Gradients;
using autograd::Needs;
using autograd::Saved;
using autograd::unnoted;

namespace {

Tensor zeros_for(const Tensor& dy, const Shape& shape) { return zeros(shape, dy.dtype(), dy.device()); }

// The gradient of the table. Its own gradient looks up rows again, except for the padding row.
Tensor embedding_backward(const Tensor& dy, const Tensor& indices, std::int64_t count,
                          std::optional<std::int64_t> padding) {
  return call("embedding_backward", {dy}, ops::embedding_backward(dy, indices, count, padding), unnoted, [&] {
    return [indices = Saved(indices), padding](const Tensor& ddw) {
      const Tensor rows = embedding(ddw, indices.get());
      if (!padding) return rows;
      const Tensor is_padding = ops::eq(indices.get(), *padding).unsqueeze(-1);
      return where(is_padding, 0.0, rows);
    };
  });
}

}  // namespace

Tensor grown_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  std::vector<AxisPadding> paddings;
  for (int i = shape.rank() - 1; i >= 0; --i) paddings.push_back({0, shape[i] - x.shape()[i]});
  return pad(x, paddings, 0);
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  if (scalars_and_lines(x, index)) return gather(line(x), axis, line(index)).reshape(index.shape());
  return call(
      "gather", {x}, ops::gather(x, axis, index),
      [&](Trace& trace, const Tensor& y) {
        trace.note(GraphOp::gather, {x, index}, y, {{"axis", axis}});
      },
      [&] {
        return [index = Saved(index), shape = x.shape(), axis](const Tensor& dy) {
          return scatter_add(zeros_for(dy, shape), axis, index.get(), dy);
        };
      });
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  if (scalars_and_lines(x) && index.defined()) {
    require(index.numel() == 1, "index_select", "the index for a scalar must have 1 element, its shape is ",
            index.shape());
    return index_select(line(x), axis, index).reshape({});
  }
  return call(
      "index_select", {x}, ops::index_select(x, axis, index),
      [&](Trace& trace, const Tensor& y) {
        trace.note(GraphOp::index_select, {x, index}, y, {{"axis", axis}});
      },
      [&] {
        return [index = Saved(index), shape = x.shape(), axis](const Tensor& dy) {
          return index_add(zeros_for(dy, shape), axis, index.get(), dy);
        };
      });
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  if (const autograd::Autocasts casts("scatter_add", {x, src}); casts)
    return scatter_add(casts(x), axis, index, casts(src));
  if (scalars_and_lines(x, index, src)) return scatter_add(line(x), axis, line(index), line(src)).reshape(x.shape());
  return call(
      "scatter_add", {x, src}, ops::scatter_add(x, axis, index, src),
      [&](Trace& trace, const Tensor& y) { traced::scatter(trace, x, axis, index, src, "add", y); },
      [&] {
        return [index = Saved(index), shape = src.shape(), axis](const Tensor& dy, Needs needs) {
          return Gradients{dy, needs[1] ? grown_to(gather(dy, axis, index.get()), shape) : Tensor()};
        };
      });
}

Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  if (const autograd::Autocasts casts("index_add", {x, src}); casts)
    return index_add(casts(x), axis, index, casts(src));
  if (scalars_and_lines(x, src)) return index_add(line(x), axis, index, line(src)).reshape(x.shape());
  return call(
      "index_add", {x, src}, ops::index_add(x, axis, index, src),
      [&](Trace& trace, const Tensor& y) { traced::index_copy(trace, x, axis, index, src, "add", y); },
      [&] {
        return [index = Saved(index), axis](const Tensor& dy, Needs needs) {
          return Gradients{dy, needs[1] ? index_select(dy, axis, index.get()) : Tensor()};
        };
      });
}

Tensor embedding(const Tensor& weight, const Tensor& indices, std::optional<std::int64_t> padding_idx) {
  const Tensor y = ops::embedding(weight, indices);
  const std::int64_t count = weight.shape()[0];
  std::optional<std::int64_t> padding = padding_idx;
  if (padding) {
    require(*padding >= -count && *padding < count, "embedding", "padding_idx ", *padding, " is not in [", -count, ", ",
            count, ")");
    if (*padding < 0) *padding += count;
  }
  return call(
      "embedding", {weight}, y,
      [&](Trace& trace) {
        trace.note(GraphOp::index_select, {weight, indices}, y, {{"axis", 0}});
      },
      [&] {
        return [indices = Saved(indices), count, padding](const Tensor& dy) {
          return embedding_backward(dy, indices.get(), count, padding);
        };
      });
}

Tensor one_hot(const Tensor& indices, std::int64_t num_classes, DType dtype) {
  return autograd::noted(ops::one_hot(indices, num_classes, dtype),
                         [&](Trace& trace, const Tensor& y) { traced::one_hot(trace, indices, y.size(-1), y); });
}

}  // namespace crisol
