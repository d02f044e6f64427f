// as_strided. Its gradient adds the elements of dy up at their places in the memory, and reads x's places.
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/ops/view.h"
#include "ops/overlap.h"
#include "tensor/impl.h"

namespace crisol {

namespace {

/// The places of a tensor's elements, counted from the first element of another tensor.
struct Places {
  Shape shape, strides;
  std::int64_t first;

  std::int64_t last() const {
    std::int64_t at = first;
    for (int i = 0; i < shape.rank(); ++i) at += (shape[i] - 1) * strides[i];
    return at;
  }
  /// The places as indices into `memory` elements.
  Tensor indices(std::int64_t memory, Device device) const {
    const Tensor all = arange(0, static_cast<double>(memory), 1, DType::i64, device);
    return ops::as_strided(all, shape, strides, first).reshape({shape.numel()});
  }
};

Places places_in(const Tensor& whole, const Tensor& x) { return {x.shape(), x.strides(), x.offset() - whole.offset()}; }

Tensor strided_backward(const Tensor& dy, const Places& of_x, bool x_repeats, const Places& of_y, std::int64_t memory) {
  const auto zeros_of_memory = [&] { return zeros({memory}, dy.dtype(), dy.device()); };
  const Tensor to = of_y.indices(memory, dy.device()), from = of_x.indices(memory, dy.device());
  const Tensor all = index_add(zeros_of_memory(), 0, to, dy.reshape({dy.numel()}));
  Tensor dx = index_select(all, 0, from);
  // Indices of x that mean one element get equal parts of its gradient.
  if (x_repeats) dx = div(dx, index_select(index_add(zeros_of_memory(), 0, from, ones_like(dx)), 0, from));
  return dx.reshape(of_x.shape);
}

}  // namespace

Tensor as_strided(const Tensor& x, const Shape& shape, const Shape& strides, std::optional<std::int64_t> offset) {
  constexpr const char* op = "as_strided";
  const Tensor y = ops::as_strided(x, shape, strides, offset);
  const Tensor whole = whole_of(x);
  const Places of_whole = places_in(whole, whole), of_x = places_in(whole, x), of_y = places_in(whole, y);
  const std::int64_t memory = whole.numel() == 0 ? 0 : of_whole.last() + 1;
  require(y.numel() == 0 || (of_y.first >= 0 && of_y.last() < memory), op, "shape ", shape, ", strides ", strides,
          " and offset ", y.offset(), " leave the tensor, which has shape ", whole.shape(), ", strides ",
          whole.strides(), " and offset ", whole.offset());
  return autograd::call(op, {x}, y, autograd::unnoted, [&] {
    return [=, repeats = ops::repeats_elements(x)](const Tensor& dy) {
      return strided_backward(dy, of_x, repeats, of_y, memory);
    };
  });
}

}  // namespace crisol
