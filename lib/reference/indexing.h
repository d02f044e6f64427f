// Reading, adding, sorting and splitting by plain loops. Indices are whole numbers in Values.
#pragma once

#include <cstdint>

#include "reference/cat.h"

namespace crisol::reference {

/// The result is NaN for an index outside of the axis.
Values gather(const Values& x, int axis, const Values& index);
Values index_select(const Values& x, int axis, const std::vector<double>& index);

/// An index outside of the axis adds nothing.
Values scatter_add(const Values& x, int axis, const Values& index, const Values& src);
Values index_add(const Values& x, int axis, const std::vector<double>& index, const Values& src);

Values one_hot(const Values& indices, std::int64_t classes);
Values triangle(const Values& x, std::int64_t diagonal, bool upper);

struct Sorted {
  Values values, indices;
};
/// NaN counts as the largest value; equal elements stay in order.
Sorted sort(const Values& x, int axis, bool descending);

}  // namespace crisol::reference
