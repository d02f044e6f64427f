// What a tensor should be: its elements as places in a storage on the host, so that views and writes through them are
// followed without strides.
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
  std::vector<std::size_t> places;  ///< In the storage, of each element, outermost axis first.
  Shape shape;
  DType dtype = DType::f32;

  std::vector<double> values() const;
  bool has_repeated_places() const;
};

/// A value as an element of the dtype keeps it; `value` is whole.
double stored(double value, DType dtype);

/// A model of its own storage; the values as the dtype keeps them.
Model make_model(const std::vector<double>& values, const Shape& shape, DType dtype);

/// The view of x whose element at an index is that of x at `source(index)`.
Model view_of(const Model& x, const Shape& shape, const std::function<Shape(const Shape&)>& source);

/// The shape that both broadcast to, if there is one.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
/// x repeated over a shape that it broadcasts to.
Model expanded(const Model& x, const Shape& shape);

/// PyTorch's type of a result of two operands.
DType promoted(const Model& a, const Model& b);

/// The axis from 0, if x has it.
std::optional<int> axis_of(std::int64_t axis, int rank);

/// All sizes from 0, and the product of those that are not 0 at most 2^62 bytes: what a tensor may have.
bool is_possible(const Shape& shape, DType dtype);

/// What is wrong with a tensor that should be this; empty when nothing is.
std::string difference(const Tensor& tensor, const Model& model);

}  // namespace crisol::fuzz
