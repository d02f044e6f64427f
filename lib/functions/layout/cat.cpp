// Joining and splitting. The gradient of one is the other.
#include "crisol/functions/cat.h"

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "crisol/ops/cat.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::call;
using autograd::call_many;
using autograd::Gradients;
using autograd::Needs;

Tensor cat(const std::vector<Tensor>& tensors, int axis) {
  if (const autograd::Autocasts casts("cat", tensors); casts) return cat(casts(tensors), axis);
  return call(
      "cat", tensors, ops::cat(tensors, axis),
      [&](Trace& trace, const Tensor& y) { traced::cat(trace, tensors, axis, y); },
      [&] {
        std::vector<std::int64_t> sizes;
        for (const Tensor& tensor : tensors) sizes.push_back(tensor.size(axis));
        return [sizes, axis](const Tensor& dy) { return split(dy, sizes, axis); };
      });
}

Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  if (const autograd::Autocasts casts("stack", tensors); casts) return stack(casts(tensors), axis);
  return call(
      "stack", tensors, ops::stack(tensors, axis),
      [&](Trace& trace, const Tensor& y) { traced::stack(trace, tensors, axis, y); },
      [&](const Tensor& y) {
        const int at = normalized_axis("stack", axis, y.dim());
        return [at, count = tensors.size()](const Tensor& dy) {
          Shape shape = dy.shape();
          shape.erase(at);
          Gradients gradients;
          for (std::size_t i = 0; i < count; ++i)
            gradients.push_back(dy.narrow(at, static_cast<std::int64_t>(i), 1).reshape(shape));
          return gradients;
        };
      });
}

std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis) {
  std::vector<Tensor> pieces = ops::split(x, sizes, axis);
  if (pieces.empty()) return pieces;
  const auto note = [&](Trace& trace, const std::vector<Tensor>& all) { traced::split(trace, x, sizes, axis, all); };
  return call_many("split", {x}, std::move(pieces), note, [&](const std::vector<Tensor>& all) {
    std::vector<Shape> shapes;
    for (const Tensor& piece : all) shapes.push_back(piece.shape());
    return [shapes, axis, dtype = x.dtype(), device = x.device()](const Gradients& dy, Needs) {
      Gradients whole = dy;
      for (std::size_t i = 0; i < whole.size(); ++i)
        if (!whole[i].defined()) whole[i] = zeros(shapes[i], dtype, device);  // No result depends on this piece.
      return Gradients{cat(whole, axis)};
    };
  });
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis) {
  return split(x, ops::split_sizes(x, size, axis), axis);
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis) {
  return split(x, ops::chunk_sizes(x, chunks, axis), axis);
}

}  // namespace crisol
