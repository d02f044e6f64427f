#include "support/compare.h"

#include <cmath>
#include <sstream>

#include "doctest/doctest.h"
#include "tensor/impl.h"

namespace crisol::testing {

namespace {

// Strides of the layout, the position of the first element, and the number of elements in the storage.
struct Placement {
  Shape strides;
  std::int64_t offset = 0, size = 0;
};

Placement place(const Shape& shape, Layout layout) {
  const std::int64_t step = layout == Layout::strided ? 2 : 1;
  Placement placement;
  placement.strides = contiguous_strides(shape);
  if (layout == Layout::permuted || layout == Layout::strided) {
    std::int64_t next = step;
    for (int i = 0; i < shape.rank(); ++i) {
      const int axis = layout == Layout::permuted ? i : shape.rank() - 1 - i;
      placement.strides[axis] = next;
      next *= shape[axis] * step;
    }
  }
  placement.offset = layout == Layout::offset || layout == Layout::strided ? 3 : 0;
  std::int64_t last = placement.offset;
  for (int i = 0; i < shape.rank(); ++i) last += (shape[i] - 1) * placement.strides[i];
  placement.size = shape.numel() == 0 ? placement.offset : last + 1;
  return placement;
}

std::string index_text(std::int64_t flat, const Shape& shape) {
  Shape index = shape;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return to_string(index);
}

}  // namespace

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype) {
  return view_of(values, shape, Layout::contiguous, dtype);
}

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::contiguous: return "contiguous";
    case Layout::offset: return "offset";
    case Layout::permuted: return "permuted";
    case Layout::strided: return "strided";
  }
  return "unknown";
}

Tensor view_of(const std::vector<double>& values, const Shape& shape, Layout layout, DType dtype) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == shape.numel());
  const Placement placement = place(shape, layout);
  std::vector<double> stored(static_cast<std::size_t>(placement.size), is_floating(dtype) ? std::nan("") : 127);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = placement.offset;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      at += rest % shape[axis] * placement.strides[axis];
      rest /= shape[axis];
    }
    stored[static_cast<std::size_t>(at)] = values[i];
  }
  const std::vector<std::byte> bytes = reference::encoded(stored, dtype);
  return make_view(from_bytes(bytes.data(), {placement.size}, dtype), shape, placement.strides, placement.offset);
}

std::string difference(const Tensor& actual, const std::vector<double>& expected, Tolerance tolerance) {
  const std::vector<double> values = values_of(actual);
  std::ostringstream text;
  text.precision(9);
  if (values.size() != expected.size()) {
    text << values.size() << " elements of shape " << actual.shape() << ", expected " << expected.size();
    return text.str();
  }
  const reference::Difference found = reference::difference(values, expected, tolerance, actual.dtype());
  if (found.wrong == 0) return {};
  text << found.wrong << " of " << values.size() << " elements differ by more than " << found.allowed << "; worst at "
       << index_text(static_cast<std::int64_t>(found.worst), actual.shape()) << ": " << values[found.worst]
       << ", expected " << expected[found.worst] << ", error " << found.error;
  return text.str();
}

bool check_close(const Tensor& actual, const std::vector<double>& expected, Tolerance tolerance) {
  const std::string wrong = difference(actual, expected, tolerance);
  CHECK_MESSAGE(wrong.empty(), wrong);
  return wrong.empty();
}

bool check_close(const Tensor& actual, const Shape& shape, const std::vector<double>& expected, Tolerance tolerance) {
  CHECK_MESSAGE(actual.shape() == shape, "shape " << to_string(actual.shape()) << ", expected " << to_string(shape));
  return actual.shape() == shape && check_close(actual, expected, tolerance);
}

void check_wrong_index(const Tensor& read, std::initializer_list<std::string_view> parts) {
  check_error([&] { values_of(read); }, parts);
}

}  // namespace crisol::testing
