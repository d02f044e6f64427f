// Joining and splitting. The gradient of one is the other.
#include "crisol/functions/cat.h"

#include "autograd/node.h"
#include "crisol/ops/cat.h"
#include "functions/traced/traced.h"

namespace crisol {

using autograd::Gradients;
using autograd::Needs;

Tensor cat(const std::vector<Tensor>& tensors, int axis) {
  const Tensor y = ops::cat(tensors, axis);
  if (Recorder* r = recorder()) traced::cat(*r, tensors, axis, y);
  if (!autograd::recording(tensors)) return y;
  std::vector<std::int64_t> sizes;
  for (const Tensor& tensor : tensors) sizes.push_back(tensor.size(axis));
  return autograd::record_higher("cat", y, tensors,
                                 [sizes, axis](const Tensor& dy, Needs) { return split(dy, sizes, axis); });
}

Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  const Tensor y = ops::stack(tensors, axis);
  if (Recorder* r = recorder()) traced::stack(*r, tensors, axis, y);
  if (!autograd::recording(tensors)) return y;
  const int at = normalized_axis("stack", axis, y.dim());
  return autograd::record_higher("stack", y, tensors, [at, count = tensors.size()](const Tensor& dy, Needs) {
    Shape shape = dy.shape();
    shape.erase(at);
    Gradients gradients;
    for (std::size_t i = 0; i < count; ++i)
      gradients.push_back(dy.narrow(at, static_cast<std::int64_t>(i), 1).reshape(shape));
    return gradients;
  });
}

std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis) {
  const std::vector<Tensor> pieces = ops::split(x, sizes, axis);
  if (Recorder* r = recorder(); r != nullptr && !pieces.empty()) traced::split(*r, x, sizes, axis, pieces);
  if (pieces.empty() || !autograd::recording(x)) return pieces;
  std::vector<Shape> shapes;
  for (const Tensor& piece : pieces) shapes.push_back(piece.shape());
  const auto backward = [shapes, axis, dtype = x.dtype(), device = x.device()](const Gradients& dy, Needs) {
    Gradients whole = dy;
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (!whole[i].defined()) whole[i] = zeros(shapes[i], dtype, device);  // No result depends on this piece.
    return Gradients{cat(whole, axis)};
  };
  return autograd::record_many("split", pieces, {x}, backward, true);
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis) {
  return split(x, ops::split_sizes(x, size, axis), axis);
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis) {
  return split(x, ops::chunk_sizes(x, chunks, axis), axis);
}

}  // namespace crisol
