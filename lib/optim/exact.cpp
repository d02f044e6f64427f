#include "optim/exact.h"

#include <cmath>
#include <vector>

#include "base/text.h"

namespace crisol::optim {

Tensor exact_tensor(double value, Device device) {
  std::vector<float> parts;
  for (int i = 0; i < 3; ++i) {
    parts.push_back(static_cast<float>(value));
    value = std::isfinite(parts.back()) ? value - static_cast<double>(parts.back()) : 0;
  }
  return from_vector(parts, device);
}

double exact_value(const Tensor& tensor) {
  double value = 0;
  for (const float part : tensor.to_vector<float>()) value += static_cast<double>(part);
  return value;
}

Device device_of(const Optimizer& optimizer) {
  return optimizer.parameters().empty() ? Device() : optimizer.parameters()[0].device();
}

std::string name_in_group(const char* name, std::size_t group) {
  return group == 0 ? std::string(name) : concat(name, '.', group);
}

}  // namespace crisol::optim
