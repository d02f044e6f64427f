// Reading, adding, sorting and splitting by plain loops. Indices are stored as Values.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/options/scatter.h"
#include "reference/cat.h"

namespace crisol::reference {

/// The result is NaN for an index outside of the axis.
Values gather(const Values& x, int axis, const Values& index);
Values index_select(const Values& x, int axis, const std::vector<double>& index);

/// An index outside of the axis changes nothing. Without a reduction, the last of several elements stays. In amax and
/// amin, NaN wins.
Values scatter(const Values& x, int axis, const Values& index, const Values& src,
               std::optional<ScatterReduction> reduction);
Values scatter_slices(const Values& x, int axis, const std::vector<double>& index, const Values& src,
                      std::optional<ScatterReduction> reduction);
Values scatter_add(const Values& x, int axis, const Values& index, const Values& src);
Values index_add(const Values& x, int axis, const std::vector<double>& index, const Values& src);

/// One row for each element that is not 0: its position along each axis.
Values nonzero(const Values& x);

Values one_hot(const Values& indices, std::int64_t classes);
Values triangle(const Values& x, std::int64_t diagonal, bool upper);

struct Sorted {
  Values values, indices;
};
/// NaN counts as the largest value. Equal elements keep their order.
Sorted sort(const Values& x, int axis, bool descending);

}  // namespace crisol::reference
