#include "model.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "reference/compare.h"
#include "reference/index_loop.h"

namespace crisol::fuzz {

using reference::for_each_index;
using reference::position;

std::vector<double> Model::values() const {
  std::vector<double> values;
  for (const std::size_t place : places) values.push_back((*storage)[place]);
  return values;
}

bool Model::has_repeated_places() const {
  std::vector<std::size_t> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

double stored(double value, DType dtype) {
  if (dtype == DType::boolean) return value != 0;
  if (dtype == DType::u8) return value - 256 * std::floor(value / 256);
  return value;  // Programs only use numbers that the other dtypes hold exactly.
}

Model make_model(const std::vector<double>& values, const Shape& shape, DType dtype) {
  Model model{std::make_shared<std::vector<double>>(), {}, shape, dtype};
  for (const double value : values) {
    model.places.push_back(model.storage->size());
    model.storage->push_back(stored(value, dtype));
  }
  return model;
}

Model view_of(const Model& x, const Shape& shape, const std::function<Shape(const Shape&)>& source) {
  Model view{x.storage, {}, shape, x.dtype};
  for_each_index(shape, [&](const Shape& index) { view.places.push_back(x.places[position(source(index), x.shape)]); });
  return view;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape joint = longer;
  for (int i = 0; i < shorter.rank(); ++i) {
    std::int64_t& size = joint[longer.rank() - 1 - i];
    const std::int64_t other = shorter[shorter.rank() - 1 - i];
    if (size == 1) size = other;
    if (other != 1 && other != size) return std::nullopt;
  }
  return joint;
}

Model expanded(const Model& x, const Shape& shape) {
  return view_of(x, shape, [&](const Shape& index) {
    Shape from = x.shape;
    for (int i = 0; i < from.rank(); ++i) from[i] = x.shape[i] == 1 ? 0 : index[shape.rank() - x.shape.rank() + i];
    return from;
  });
}

DType promoted(const Model& a, const Model& b) {
  const auto kind = [](const Model& x) { return is_floating(x.dtype) ? 2 : x.dtype == DType::boolean ? 0 : 1; };
  // A scalar changes the dtype of a tensor with axes only if the scalar is of a higher kind.
  if ((a.shape.rank() == 0) != (b.shape.rank() == 0)) {
    const Model& scalar = a.shape.rank() == 0 ? a : b;
    const Model& other = a.shape.rank() == 0 ? b : a;
    if (kind(scalar) <= kind(other)) return other.dtype;
  }
  return promote_types(a.dtype, b.dtype);
}

std::optional<int> axis_of(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool is_possible(const Shape& shape, DType dtype) {
  double bytes = static_cast<double>(size_of(dtype));
  for (const std::int64_t size : shape) {
    if (size < 0) return false;
    bytes *= std::max<double>(1, static_cast<double>(size));
  }
  return bytes <= 0x1p62;
}

std::string difference(const Tensor& tensor, const Model& model) {
  if (tensor.dtype() != model.dtype) return concat("dtype ", tensor.dtype(), ", expected ", model.dtype);
  if (tensor.shape() != model.shape) return concat("shape ", tensor.shape(), ", expected ", model.shape);
  const std::vector<double> actual = reference::values_of(tensor), expected = model.values();
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (actual[i] != expected[i] && !(std::isnan(actual[i]) && std::isnan(expected[i])))
      return concat("element ", i, " of shape ", model.shape, " is ", actual[i], ", expected ", expected[i]);
  return {};
}

}  // namespace crisol::fuzz
