#include "crisol/nn/sequential.h"

namespace crisol::nn {

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (const auto& [name, layer] : named_children()) y = layer->forward(y);
  return y;
}

}  // namespace crisol::nn
