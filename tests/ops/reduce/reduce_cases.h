// Cases for the tests of reductions.
#pragma once

#include <vector>

#include "crisol/shape.h"
#include "reference/reduce.h"

namespace crisol::testing {

struct ReduceCase {
  Shape shape, axes, result, kept;  ///< Shapes of the result without and with keepdim.
};

/// Every set of axes of a shape. The empty set means all axes.
inline std::vector<ReduceCase> every_set_of_axes(const Shape& shape) {
  std::vector<ReduceCase> cases;
  for (unsigned set = 0; set < (1u << shape.rank()); ++set) {
    ReduceCase c{shape, {}, {}, {}};
    for (int i = 0; i < shape.rank(); ++i) {
      const bool reduced = set == 0 || (set >> i & 1u) != 0;
      if (reduced && set != 0) c.axes.push_back(i % 2 == 0 ? i : i - shape.rank());
      if (!reduced) c.result.push_back(shape[i]);
      c.kept.push_back(reduced ? 1 : shape[i]);
    }
    cases.push_back(c);
  }
  return cases;
}

/// The reference's result for every output.
template <class Reduce>
std::vector<double> expect(const std::vector<double>& x, const ReduceCase& c, Reduce reduce) {
  std::vector<double> expected;
  for (const auto& group : reference::reduction_groups(x, c.shape, c.axes))
    expected.push_back(static_cast<double>(reduce(group)));
  return expected;
}

}  // namespace crisol::testing
