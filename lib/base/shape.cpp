#include "crisol/shape.h"

#include <algorithm>
#include <ostream>

#include "base/text.h"

namespace crisol {

Shape::Shape(const std::int64_t* sizes, std::size_t count) : Shape() {
  require(count <= max_rank, "Shape", "at most ", max_rank, " dimensions, got ", count);
  for (std::size_t i = 0; i < count; ++i) sizes_[i] = sizes[i];
  rank_ = static_cast<int>(count);
}

Shape Shape::filled(int count, std::int64_t value) {
  require(count <= max_rank, "Shape", "at most ", max_rank, " dimensions, got ", count);
  Shape shape;
  for (int i = 0; i < count; ++i) shape[i] = value;
  shape.rank_ = count;
  return shape;
}

std::int64_t Shape::numel() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t size : *this) product *= size;
  return product;
}

void Shape::push_back(std::int64_t size) {
  require(rank_ < max_rank, "Shape", "at most ", max_rank, " dimensions, got ", rank_ + 1);
  (*this)[rank_++] = size;
}

void Shape::erase(int axis) noexcept {
  for (int i = axis; i + 1 < rank_; ++i) (*this)[i] = (*this)[i + 1];
  --rank_;
}

void Shape::insert(int axis, std::int64_t size) {
  push_back(size);
  std::rotate(sizes_ + axis, sizes_ + rank_ - 1, sizes_ + rank_);
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (int i = 0; i < shape.rank(); ++i) out << (i > 0 ? ", " : "") << shape[i];
  return out << ')';
}

std::string to_string(const Shape& shape) { return concat(shape); }

}  // namespace crisol
