// The host references of crisol/ops/pointwise.def in double, and facts about each row that tests need.
#pragma once

#include <cstddef>
#include <vector>

namespace crisol::reference {

/// The reference of one row for one element: the value, and dy times the derivative with respect to each input.
struct Elementwise {
  using Forward = double (*)(const double* inputs, const double* scalars);
  using Derivative = double (*)(double dy, const double* inputs, double y, const double* scalars);

  const char* name;
  std::vector<double> scalars;  ///< The scalars that tests pass.
  double low, high;             ///< Range of the inputs in tests.
  double ulp;                   ///< The largest allowed error of an f32 result, in units in the last place. 0 means no
                                /// limit.
  Forward forward;
  Derivative derivatives[3];
};

/// All rows, in the order of the table.
const std::vector<Elementwise>& elementwise_rows();

}  // namespace crisol::reference
