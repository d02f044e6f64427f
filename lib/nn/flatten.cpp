#include "crisol/nn/flatten.h"

#include "base/text.h"
#include "tensor/impl.h"

namespace crisol::nn {

Tensor Flatten::forward(const Tensor& x) { return x.flatten(first_, last_); }

std::string Flatten::extra_repr() const { return concat("start_dim=", first_, ", end_dim=", last_); }

Tensor Unflatten::forward(const Tensor& x) {
  constexpr const char* name = "Unflatten";
  require(x.defined(), name, "the input is undefined");
  const int axis = normalized_axis(name, axis_, x.dim());
  Shape shape;
  for (int i = 0; i < x.dim(); ++i) {
    if (i != axis) shape.push_back(x.size(i));
    if (i == axis)
      for (const std::int64_t size : sizes_) shape.push_back(size);
  }
  return x.reshape(shape);
}

std::string Unflatten::extra_repr() const { return concat("dim=", axis_, ", unflattened_size=", sizes_); }

}  // namespace crisol::nn
