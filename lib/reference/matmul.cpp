#include "reference/matmul.h"

#include <algorithm>

namespace crisol::reference {

namespace {

// The index of the operand's matrix that belongs to matrix `index` of the product. `product` and `shape` are the shapes
// of the product and of the operand.
std::int64_t matrix_index(std::int64_t index, const Shape& product, const Shape& shape) {
  std::int64_t result = 0, scale = 1;
  for (int back = 3; back <= product.rank(); ++back) {
    const std::int64_t size = product[product.rank() - back];
    const std::int64_t own = back <= shape.rank() ? shape[shape.rank() - back] : 1;
    if (own != 1) result += index % size * scale;
    scale *= own;
    index /= size;
  }
  return result;
}

double at(const std::vector<double>& values, std::int64_t index) { return values[static_cast<std::size_t>(index)]; }

}  // namespace

Product matmul(const std::vector<double>& a, const Shape& a_shape, const std::vector<double>& b, const Shape& b_shape) {
  const std::int64_t m = a_shape[a_shape.rank() - 2], k = a_shape.back(), n = b_shape.back();
  Product product;
  const int rank = std::max(a_shape.rank(), b_shape.rank());
  for (int back = rank; back > 2; --back) {
    const std::int64_t a_size = back <= a_shape.rank() ? a_shape[a_shape.rank() - back] : 1;
    const std::int64_t b_size = back <= b_shape.rank() ? b_shape[b_shape.rank() - back] : 1;
    product.shape.push_back(a_size == 1 ? b_size : a_size);
  }
  product.shape.push_back(m);
  product.shape.push_back(n);
  product.values.resize(static_cast<std::size_t>(product.shape.numel()));
  const std::int64_t count = m * n == 0 ? 0 : product.shape.numel() / (m * n);
  for (std::int64_t index = 0; index < count; ++index) {
    const std::int64_t a_first = matrix_index(index, product.shape, a_shape) * m * k;
    const std::int64_t b_first = matrix_index(index, product.shape, b_shape) * k * n;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += at(a, a_first + i * k + l) * at(b, b_first + l * n + j);
        product.values[static_cast<std::size_t>((index * m + i) * n + j)] = sum;
      }
  }
  return product;
}

Product linear(const std::vector<double>& x, const Shape& x_shape, const std::vector<double>& weight,
               const Shape& weight_shape, const std::vector<double>& bias) {
  const std::int64_t n = weight_shape[0], k = weight_shape[1];
  Product product{x_shape, {}};
  product.shape[x_shape.rank() - 1] = n;
  product.values.resize(static_cast<std::size_t>(product.shape.numel()));
  for (std::int64_t index = 0; index < product.shape.numel(); ++index) {
    const std::int64_t row = index / n, column = index % n;
    double sum = bias.empty() ? 0 : at(bias, column);
    for (std::int64_t l = 0; l < k; ++l) sum += at(x, row * k + l) * at(weight, column * k + l);
    product.values[static_cast<std::size_t>(index)] = sum;
  }
  return product;
}

}  // namespace crisol::reference
