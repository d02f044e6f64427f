// The host references of crisol/ops/pointwise.def, in double, with what tests want to know of a row.
#pragma once

#include <cstddef>
#include <vector>

namespace crisol::reference {

/// One row for one element: the value, and its derivative by each input times dy.
struct Elementwise {
  using Forward = double (*)(const double* inputs, const double* scalars);
  using Derivative = double (*)(double dy, const double* inputs, double y, const double* scalars);

  const char* name;
  std::vector<double> scalars;  ///< The values that tests use.
  double low, high;             ///< Range of the inputs in tests.
  double ulp;                   ///< Largest error of an f32 result in units of its last place; 0: not bounded so.
  Forward forward;
  Derivative derivatives[3];
};

/// All rows, in the table's order.
const std::vector<Elementwise>& elementwise_rows();

}  // namespace crisol::reference
