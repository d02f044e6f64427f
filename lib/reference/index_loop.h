// Iteration over the elements of a shape.
#pragma once

#include "crisol/shape.h"

namespace crisol::reference {

/// The position of an index among the elements in C's order.
inline std::size_t position(const Shape& index, const Shape& shape) {
  std::int64_t at = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) at = at * shape[axis] + index[axis];
  return static_cast<std::size_t>(at);
}

/// Calls visit(index) for every index of the shape; the innermost axis changes fastest.
template <class Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  if (shape.numel() == 0) return;
  Shape index = Shape::filled(shape.rank(), 0);
  while (true) {
    visit(index);
    int axis = shape.rank() - 1;
    while (axis >= 0 && ++index[axis] == shape[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

}  // namespace crisol::reference
