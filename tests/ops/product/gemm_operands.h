// A product with a bias, for tests of one kernel: values on the host, and row-major or column-major operands on the
// device.
#pragma once

#include <cmath>
#include <vector>

#include "ops/product/gemm.h"
#include "support/compare.h"
#include "tensor/kernel_args.h"

namespace crisol::testing {

/// A is m x k and B is k x n, both row-major. The bias is added to each row.
struct GemmValues {
  std::int64_t m, n, k;
  std::vector<double> a = random_values(1, m*k), b = random_values(2, k*n), bias = random_values(3, n);
};

/// The same values on the device. A or B may be stored transposed ("turned" in names), and the result starts as NaN.
class GemmTensors {
 public:
  GemmTensors(const GemmValues& v, bool a_turned, bool b_turned)
      : m_(v.m),
        n_(v.n),
        k_(v.k),
        a_turned_(a_turned),
        b_turned_(b_turned),
        a_(tensor_of(a_turned ? turned(v.a, v.m, v.k) : v.a, {v.m * v.k})),
        b_(tensor_of(b_turned ? turned(v.b, v.k, v.n) : v.b, {v.k * v.n})),
        bias_(tensor_of(v.bias, {v.n})),
        y_(full({v.m, v.n}, NAN)) {}

  const Tensor& y() const noexcept { return y_; }
  ops::Gemm problem() const {
    return {.device = state_of(y_),
            .m = m_,
            .n = n_,
            .k = k_,
            .a = a_turned_ ? ops::Matrix{in(a_), 1, m_} : ops::Matrix{in(a_), k_, 1},
            .b = b_turned_ ? ops::Matrix{in(b_), 1, k_} : ops::Matrix{in(b_), n_, 1},
            .c = {out(y_), n_, 1},
            .flags = ops::bias_per_column,
            .bias = in(bias_)};
  }

 private:
  static std::vector<double> turned(const std::vector<double>& values, std::int64_t rows, std::int64_t columns) {
    std::vector<double> result(values.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        result[static_cast<std::size_t>(j * rows + i)] = values[static_cast<std::size_t>(i * columns + j)];
    return result;
  }

  std::int64_t m_, n_, k_;
  bool a_turned_, b_turned_;
  Tensor a_, b_, bias_, y_;
};

}  // namespace crisol::testing
