// Joining along an axis: each tensor is copied to its place in the result.
#include "crisol/ops/cat.h"

#include "base/text.h"
#include "crisol/ops/view.h"
#include "ops/contiguous.h"
#include "ops/result.h"

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

// The joined tensors, of this shape. Tensor i goes to place(result, i). All copies are resolved before the first one is
// queued, because they may write to a given tensor.
template <class Place>
Tensor join(const char* op, const std::vector<Tensor>& tensors, const Shape& shape, const Tensor* into, Place place) {
  std::vector<const Tensor*> inputs;
  if (into != nullptr)
    for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
  const Tensor& first = tensors.front();
  Result result(op, into, shape, first.dtype(), first.device(), inputs, Result::Layout::any);
  std::vector<std::function<void()>> copies;
  copies.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) copies.push_back(prepare_copy(place(result.place(), i), tensors[i]));
  for (const auto& copy : copies) copy();
  return result.done();
}

Tensor cat(const std::vector<Tensor>& tensors, int axis, const Tensor* into) {
  require(!tensors.empty(), "cat", "there are no tensors");
  const int at = normalized_axis("cat", axis, tensors.front().dim());
  check_alike("cat", tensors, at, axis);
  Shape shape = tensors.front().shape();
  shape[at] = 0;
  for (const Tensor& tensor : tensors) shape[at] += tensor.size(at);
  std::int64_t end = 0;
  return join("cat", tensors, shape, into, [&](const Tensor& result, std::size_t i) {
    const std::int64_t start = end;
    end += tensors[i].size(at);
    return narrow(result, at, start, end - start);
  });
}

Tensor stack(const std::vector<Tensor>& tensors, int axis, const Tensor* into) {
  require(!tensors.empty(), "stack", "there are no tensors");
  const Shape& shape = tensors.front().shape();
  const int at = normalized_axis("stack", axis, shape.rank() + 1);
  check_alike("stack", tensors, -1, axis);
  Shape stacked = shape;
  stacked.insert(at, static_cast<std::int64_t>(tensors.size()));
  return join("stack", tensors, stacked, into,
              [&](const Tensor& result, std::size_t i) { return select(result, at, static_cast<std::int64_t>(i)); });
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int axis) { return cat(tensors, axis, nullptr); }
void cat_into(const Tensor& y, const std::vector<Tensor>& tensors, int axis) { cat(tensors, axis, &y); }

Tensor stack(const std::vector<Tensor>& tensors, int axis) { return stack(tensors, axis, nullptr); }
void stack_into(const Tensor& y, const std::vector<Tensor>& tensors, int axis) { stack(tensors, axis, &y); }

}  // namespace crisol::ops
