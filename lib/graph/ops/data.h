// Functions of data that traces and ONNX have in common. Tensors stay on the device, and whole numbers on the host,
// because they become shapes. Axes and positions may count from the end.
#pragma once

#include "graph/graph.h"

namespace crisol::graph {

using Numbers = std::vector<std::int64_t>;

/// The same elements in another shape.
Datum reshaped(const Datum& x, const Shape& shape, Device device);
/// Without these axes of size 1, or without all such axes if none are given.
Datum squeezed(const Datum& x, const Numbers& axes, Device device);
/// With axes of size 1 at these positions of the result.
Datum unsqueezed(const Datum& x, Numbers axes, Device device);
/// Along axes, the elements from `first` to before `end` in steps: bounds as in Python's slices, with one exception. If
/// a negative step starts before the first element, it starts at the first element.
Datum cut(const Datum& x, const Numbers& first, const Numbers& end, const Numbers& axes, const Numbers& steps,
          Device device);
/// All data behind each other along an axis.
Datum joined(const Data& all, std::int64_t axis, Device device);
/// The slices of x along an axis at the positions of an index of any rank.
Datum slices_at(const Datum& x, const Datum& index, std::int64_t axis, Device device);
/// Positions along an axis of this size, counted from 0.
Tensor counted(const Tensor& positions, std::int64_t size);

}  // namespace crisol::graph
