#include "optim/exact.h"

#include <vector>

namespace crisol::optim {

Tensor exact_tensor(double value, Device device) {
  std::vector<float> parts;
  for (int i = 0; i < 3; ++i) {
    parts.push_back(static_cast<float>(value));
    value -= static_cast<double>(parts.back());
  }
  return from_vector(parts, device);
}

double exact_value(const Tensor& tensor) {
  double value = 0;
  for (const float part : tensor.to_vector<float>()) value += static_cast<double>(part);
  return value;
}

}  // namespace crisol::optim
