// Joining along an axis: each tensor is copied to its place in the result.
#include "crisol/ops/cat.h"

#include "base/text.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "ops/rehearsed.h"
#include "ops/result.h"
#include "tensor/impl.h"

namespace crisol::ops {

namespace {

// Checks that dtype, device and sizes agree. The sizes along `axis` may differ (-1: no axis may differ).
void check_alike(const char* op, const std::vector<Tensor>& tensors, int axis, int asked_axis) {
  const Tensor& first = tensors.front();
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const Tensor& other = tensors[i];
    bool alike = other.dim() == first.dim();
    for (int a = 0; alike && a < first.dim(); ++a) alike = a == axis || other.size(a) == first.size(a);
    require(alike, op, "tensor 0 has shape ", first.shape(), ", tensor ", i, " has ", other.shape(),
            axis < 0 ? "; they must be equal, axis " : "; they may differ only along axis ", asked_axis);
    require(other.dtype() == first.dtype(), op, "tensor 0 holds ", first.dtype(), ", tensor ", i, " holds ",
            other.dtype());
    require(other.device() == first.device(), op, "tensor 0 is on ", first.device(), ", tensor ", i, " on ",
            other.device());
  }
}

// The joined tensors, of this shape. `copy` copies them to the tensor that it gets.
template <class Copy>
Tensor join(const char* op, const std::vector<Tensor>& tensors, int axis, const Shape& shape, const Tensor* into,
            Copy copy) {
  std::vector<const Tensor*> inputs;
  if (into != nullptr)
    for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
  const Tensor& first = tensors.front();
  Result result(op, into, shape, first.dtype(), first.device(), inputs, Result::Layout::any);
  dispatch::CallKey key = call_key(op, tensors, {axis});
  add_tensor(key, result.place());
  rehearsed(key, [&] { copy(result.place()); });
  return result.done();
}

Tensor cat(const std::vector<Tensor>& tensors, int axis, const Tensor* into) {
  require(!tensors.empty(), "cat", "there are no tensors");
  const int at = normalized_axis("cat", axis, tensors.front().dim());
  check_alike("cat", tensors, at, axis);
  Shape shape = tensors.front().shape();
  shape[at] = 0;
  for (const Tensor& tensor : tensors) shape[at] += tensor.size(at);
  return join("cat", tensors, at, shape, into, [&](const Tensor& result) {
    std::int64_t start = 0;
    for (const Tensor& tensor : tensors) {
      copy_into(narrow(result, at, start, tensor.size(at)), tensor);
      start += tensor.size(at);
    }
  });
}

Tensor stack(const std::vector<Tensor>& tensors, int axis, const Tensor* into) {
  require(!tensors.empty(), "stack", "there are no tensors");
  const Shape& shape = tensors.front().shape();
  const int at = normalized_axis("stack", axis, shape.rank() + 1);
  check_alike("stack", tensors, -1, axis);
  Shape stacked = shape;
  stacked.insert(at, static_cast<std::int64_t>(tensors.size()));
  return join("stack", tensors, at, stacked, into, [&](const Tensor& result) {
    const Shape& strides = result.strides();
    Shape inner = strides;
    inner.erase(at);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      copy_into(make_view(result, shape, inner, result.offset() + static_cast<std::int64_t>(i) * strides[at]),
                tensors[i]);
  });
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int axis) { return cat(tensors, axis, nullptr); }
void cat_into(const Tensor& y, const std::vector<Tensor>& tensors, int axis) { cat(tensors, axis, &y); }

Tensor stack(const std::vector<Tensor>& tensors, int axis) { return stack(tensors, axis, nullptr); }
void stack_into(const Tensor& y, const std::vector<Tensor>& tensors, int axis) { stack(tensors, axis, &y); }

}  // namespace crisol::ops
