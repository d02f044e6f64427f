// The host references of crisol/ops/pointwise.def, in double.
#pragma once

#include <cstddef>
#include <vector>

namespace crisol::reference {

/// One row: the value, and its derivative with respect to each input times dy, for one element.
struct Elementwise {
  const char* name;
  const char* formula;
  std::size_t inputs;
  std::vector<double> scalars;  ///< The values that tests use.
  double low, high;             ///< Range of the inputs in tests.
  double (*forward)(const double* inputs, const double* scalars);
  double (*derivatives[2])(double dy, const double* inputs, double y, const double* scalars);
};

/// All rows but the comparisons, in the table's order.
const std::vector<Elementwise>& elementwise_rows();

struct Comparison {
  const char* name;
  bool (*holds)(double a, double b);
};
const std::vector<Comparison>& comparison_rows();

}  // namespace crisol::reference
