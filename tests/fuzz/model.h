// The expected content of a tensor: its elements are positions in a storage on the host. So views, and writes through
// views, need no strides.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::fuzz {

struct Model {
  std::shared_ptr<std::vector<double>> storage;
  std::vector<std::size_t> places;  ///< Position of each element in the storage, outermost axis first.
  Shape shape;
  DType dtype = DType::f32;

  std::vector<double> values() const;
  bool has_repeated_places() const;
};

/// The value that an element of this dtype holds; `value` is a whole number.
double stored(double value, DType dtype);

/// A model with its own storage. It holds the values as the dtype stores them.
Model make_model(const std::vector<double>& values, const Shape& shape, DType dtype);

/// A view of x. Its element at an index is the element of x at `source(index)`.
Model view_of(const Model& x, const Shape& shape, const std::function<Shape(const Shape&)>& source);

/// The shape to which both broadcast, if there is one.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
/// x, broadcast to a shape.
Model expanded(const Model& x, const Shape& shape);

/// The dtype of a result of two operands, by PyTorch's rules.
DType promoted(const Model& a, const Model& b);

/// The axis counted from 0, if x has this axis.
std::optional<int> axis_of(std::int64_t axis, int rank);

/// Whether a tensor may have this shape: no size is negative, and it has at most 2^62 bytes if a size of 0 counts as 1.
bool is_possible(const Shape& shape, DType dtype);

/// Describes how a tensor differs from its model. Empty if they agree.
std::string difference(const Tensor& tensor, const Model& model);

}  // namespace crisol::fuzz
