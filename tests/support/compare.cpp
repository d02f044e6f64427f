#include "support/compare.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "doctest/doctest.h"
#include "tensor/impl.h"

namespace crisol::testing {

namespace {

void encode(double value, DType dtype, std::byte* to) {
  const auto put = [&](auto encoded) { std::memcpy(to, &encoded, sizeof encoded); };
  switch (dtype) {
    case DType::f32: return put(static_cast<float>(value));
    case DType::f16: return put(Half(static_cast<float>(value)));
    case DType::i32: return put(static_cast<std::int32_t>(value));
    case DType::i64: return put(static_cast<std::int64_t>(value));
    case DType::u8: return put(static_cast<std::uint8_t>(value));
    case DType::boolean: return put(static_cast<std::uint8_t>(value != 0));
  }
}

double epsilon_of(DType dtype) {
  if (dtype == DType::f32) return std::numeric_limits<float>::epsilon();
  return dtype == DType::f16 ? 0x1p-10 : 0;
}

// Strides of the layout, the first element's position and the elements of the storage.
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

std::vector<double> random_values(std::uint64_t seed, std::int64_t count, double low, double high) {
  std::mt19937_64 engine(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = static_cast<float>(low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53);
  return values;
}

std::vector<double> random_integers(std::uint64_t seed, std::int64_t count, std::int64_t low, std::int64_t high) {
  std::mt19937_64 engine(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = static_cast<double>(low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low + 1)));
  return values;
}

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
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(placement.size) * size);
  const double between = is_floating(dtype) ? std::nan("") : 127;
  for (std::int64_t i = 0; i < placement.size; ++i)
    encode(between, dtype, bytes.data() + static_cast<std::size_t>(i) * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = placement.offset;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      at += rest % shape[axis] * placement.strides[axis];
      rest /= shape[axis];
    }
    encode(values[i], dtype, bytes.data() + static_cast<std::size_t>(at) * size);
  }
  return make_view(from_bytes(bytes.data(), {placement.size}, dtype), shape, placement.strides, placement.offset);
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  const auto take = [&](const auto& elements) {
    for (const auto element : elements) values.push_back(static_cast<double>(element));
  };
  switch (tensor.dtype()) {
    case DType::f32: take(tensor.to_vector<float>()); break;
    case DType::f16:
      for (const Half element : tensor.to_vector<Half>()) values.push_back(static_cast<float>(element));
      break;
    case DType::i32: take(tensor.to_vector<std::int32_t>()); break;
    case DType::i64: take(tensor.to_vector<std::int64_t>()); break;
    case DType::u8:
    case DType::boolean: take(tensor.to_vector<std::uint8_t>()); break;
  }
  return values;
}

std::string difference(const Tensor& actual, const std::vector<double>& expected, Tolerance tolerance) {
  const std::vector<double> values = values_of(actual);
  std::ostringstream text;
  text.precision(9);
  if (values.size() != expected.size()) {
    text << values.size() << " elements of shape " << actual.shape() << ", expected " << expected.size();
    return text.str();
  }
  double scale = tolerance.scale;
  if (scale == 0)
    for (const double value : expected)
      if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  const double allowed = tolerance.factor * epsilon_of(actual.dtype()) * scale;
  std::size_t wrong = 0, worst = 0;
  double worst_error = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double a = values[i], e = expected[i];
    if (a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= allowed) continue;
    // An error that is no number is worse than any number.
    const double error = std::isfinite(a - e) ? std::abs(a - e) : std::numeric_limits<double>::infinity();
    ++wrong;
    if (error > worst_error) {
      worst_error = error;
      worst = i;
    }
  }
  if (wrong == 0) return {};
  text << wrong << " of " << values.size() << " elements differ by more than " << allowed << "; worst at "
       << index_text(static_cast<std::int64_t>(worst), actual.shape()) << ": " << values[worst] << ", expected "
       << expected[worst] << ", error " << worst_error;
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

void check_error(const std::function<void()>& call, std::initializer_list<std::string_view> parts, ErrorCode code) {
  try {
    call();
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK_MESSAGE(error.code() == code, crisol::name_of(error.code()) << ": " << text);
    for (const std::string_view part : parts)
      CHECK_MESSAGE(text.find(part) != std::string::npos, "\"" << std::string(part) << "\" is not in: " << text);
    return;
  }
  CHECK_MESSAGE(false, "nothing was thrown");
}

}  // namespace crisol::testing
