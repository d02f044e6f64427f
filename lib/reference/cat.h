// Joining, splitting and padding by plain loops.
#pragma once

#include <vector>

#include "crisol/ops/pad.h"
#include "crisol/shape.h"

namespace crisol::reference {

struct Values {
  Shape shape;
  std::vector<double> values;
};

Values cat(const std::vector<Values>& parts, int axis);
Values stack(const std::vector<Values>& parts, int axis);
Values narrow(const Values& x, int axis, std::int64_t start, std::int64_t length);
Values pad(const Values& x, const std::vector<AxisPadding>& paddings, double value);

}  // namespace crisol::reference
