// Matrix products by plain loops in double.
#pragma once

#include <vector>

#include "crisol/shape.h"

namespace crisol::reference {

struct Product {
  Shape shape;
  std::vector<double> values;
};

/// a (…, M, K) times b (…, K, N). The leading axes are broadcast; both are contiguous.
Product matmul(const std::vector<double>& a, const Shape& a_shape, const std::vector<double>& b, const Shape& b_shape);

/// x (…, I) times the transpose of weight (O, I), plus bias (O) unless `bias` is empty.
Product linear(const std::vector<double>& x, const Shape& x_shape, const std::vector<double>& weight,
               const Shape& weight_shape, const std::vector<double>& bias);

}  // namespace crisol::reference
