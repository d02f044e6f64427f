// Convolutions and pools of whole numbers, which are exact modulo the size of their type.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dtype_table.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "reference/images/pool.h"
#include "reference/images/pool_cases.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

std::vector<DType> whole_types() {
  std::vector<DType> types;
  std::copy_if(all_dtypes.begin(), all_dtypes.end(), std::back_inserter(types), is_whole);
  return types;
}

/// Small numbers that each type of whole numbers holds, or with a sign also numbers below 0.
std::vector<double> small_numbers(std::uint64_t seed, const Shape& shape, DType dtype) {
  return random_integers(seed, shape.numel(), kind_of(dtype) == DTypeKind::integer ? -3 : 0, 3);
}

/// The elements that whole numbers have in a type: modulo its size.
std::vector<double> stored(std::vector<double> numbers, DType dtype) {
  with_host_type(dtype, [&](auto element) {
    using T = decltype(element);
    for (double& number : numbers)
      if constexpr (std::is_integral_v<T>)
        number = static_cast<double>(static_cast<T>(static_cast<std::int64_t>(number)));
  });
  return numbers;
}

void check_whole(const Tensor& found, const Shape& shape, const std::vector<double>& expected, DType dtype) {
  CHECK(found.dtype() == dtype);
  check_close(found, shape, stored(expected, dtype), {0});
}

}  // namespace

TEST_CASE("convolutions of whole numbers are exact modulo the size of the type") {
  for (const DType dtype : whole_types())
    for (const auto& [x_shape, w_shape, options] : reference::small_conv2d_cases) {
      CAPTURE(dtype);
      CAPTURE(x_shape);
      CAPTURE(w_shape);
      const std::vector<double> x = small_numbers(1, x_shape, dtype), w = small_numbers(2, w_shape, dtype),
                                b = small_numbers(3, {w_shape[0]}, dtype);
      const Tensor weight = tensor_of(w, w_shape, dtype);
      const Shape y_shape = reference::conv2d_shape(x_shape, w_shape, options);
      check_whole(ops::conv2d(tensor_of(x, x_shape, dtype), weight, tensor_of(b, {w_shape[0]}, dtype), options),
                  y_shape, reference::conv2d(x, x_shape, w, w_shape, b, options), dtype);
      const std::vector<double> dy = small_numbers(4, y_shape, dtype);
      check_whole(ops::conv2d_backward_data(tensor_of(dy, y_shape, dtype), weight, x_shape, options), x_shape,
                  reference::conv2d_backward_data(dy, w, w_shape, x_shape, options), dtype);
    }
}

TEST_CASE("convolutions of volumes and of sequences of whole numbers") {
  const Shape x_shape{2, 4, 3, 4, 5}, w_shape{6, 2, 2, 3, 2};
  const Conv3dOptions options{.stride = {1, 2, 1}, .padding = 1, .groups = 2};
  for (const DType dtype : whole_types()) {
    CAPTURE(dtype);
    const std::vector<double> x = small_numbers(1, x_shape, dtype), w = small_numbers(2, w_shape, dtype);
    const Tensor weight = tensor_of(w, w_shape, dtype);
    const Shape y_shape = reference::conv3d_shape(x_shape, w_shape, options);
    check_whole(conv3d(tensor_of(x, x_shape, dtype), weight, {}, options), y_shape,
                reference::conv3d(x, x_shape, w, w_shape, {}, options), dtype);
    const std::vector<double> dy = small_numbers(4, y_shape, dtype);
    check_whole(ops::conv3d_backward_data(tensor_of(dy, y_shape, dtype), weight, x_shape, options), x_shape,
                reference::conv3d_backward_data(dy, w, w_shape, x_shape, options), dtype);
    const Tensor sequence = tensor_of({1, 2, 3, 4}, {1, 1, 4}, dtype), taps = tensor_of({2, 1}, {1, 1, 2}, dtype),
                 shift = tensor_of({5}, {1}, dtype);
    check_whole(conv1d(sequence, taps, shift), {1, 1, 3}, {9, 12, 15}, dtype);
    check_whole(conv_transpose1d(sequence, taps, shift), {1, 1, 5}, {7, 10, 13, 16, 9}, dtype);
  }
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  const Tensor y =
      conv1d(from_vector<std::int64_t>({large, 3}, {1, 1, 2}), from_vector<std::int64_t>({3, -2}, {1, 1, 2}));
  CHECK(y.to_vector<std::int64_t>() == std::vector<std::int64_t>{3 * large - 6});
  check_whole(conv1d(tensor_of({100, 100}, {1, 1, 2}, DType::i8), tensor_of({1, 2}, {1, 1, 2}, DType::i8)), {1, 1, 1},
              {300}, DType::i8);
}

TEST_CASE("max_pool2d of whole numbers: the first of equal elements, also at the type's lowest number") {
  for (const DType dtype : whole_types()) {
    CAPTURE(dtype);
    for (const auto& [shape, options] : reference::max_pool_cases) {
      CAPTURE(shape);
      const std::vector<double> x = small_numbers(1, shape, dtype);
      const reference::MaxPool expected = reference::max_pool2d(x, shape, options);
      const ops::MaxPool2dResult found = ops::max_pool2d(tensor_of(x, shape, dtype), options);
      check_whole(found.values, expected.shape, expected.values, dtype);
      check_close(found.indices, expected.shape, expected.indices, {0});
    }
    const double lowest = kind_of(dtype) == DTypeKind::integer ? -std::ldexp(1.0, dtype_row(dtype).digits) : 0;
    const Tensor same = full({1, 1, 3, 3}, lowest, dtype);
    const ExtremeResult found = max_pool2d_with_indices(same, {.kernel = 2, .stride = 2, .padding = 1});
    check_close(found.values, std::vector<double>(4, lowest), {0});
    check_close(found.indices, {0, 1, 3, 4}, {0});
  }
  const Shape shape{2, 2, 4, 5, 4};
  const MaxPool3dOptions options{.kernel = {2, 3, 2}, .stride = 1, .padding = {1, 1, 0}};
  const std::vector<double> x = small_numbers(2, shape, DType::i64);
  const reference::MaxPool expected = reference::max_pool3d(x, shape, options);
  const ExtremeResult found = max_pool3d_with_indices(tensor_of(x, shape, DType::i64), options);
  check_whole(found.values, expected.shape, expected.values, DType::i64);
  check_close(found.indices, expected.shape, expected.indices, {0});
}

TEST_CASE("avg_pool2d of whole numbers drops the fractions of quotients") {
  const Shape shape{2, 2, 7, 9};
  for (const DType dtype : whole_types())
    for (const AvgPool2dOptions& options : reference::avg_pool_options) {
      CAPTURE(dtype);
      const std::vector<double> x = small_numbers(1, shape, dtype);
      reference::AvgPool expected = reference::avg_pool2d(x, shape, options);
      for (double& mean : expected.values)
        mean = std::trunc(mean * (1 + 1e-12));  // A quotient may be just below a whole number.
      check_whole(ops::avg_pool2d(tensor_of(x, shape, dtype), options), expected.shape, expected.values, dtype);
    }
  // The sums are wider than the elements.
  check_whole(avg_pool2d(full({1, 1, 2, 2}, 127, DType::i8), {2}), {1, 1, 1, 1}, {127}, DType::i8);
}

TEST_CASE("matrix_power of whole numbers is exact modulo the size of the type") {
  for (const DType dtype : whole_types()) {
    CAPTURE(dtype);
    const Tensor x = tensor_of({1, 1, 1, 0}, {2, 2}, dtype);
    check_whole(matrix_power(x, 14), {2, 2}, {610, 377, 377, 233}, dtype);
    check_whole(matrix_power(x, 0), {2, 2}, {1, 0, 0, 1}, dtype);
    check_error([&] { matrix_power(x, -1); }, {"[inv]", name_of(dtype)});
  }
}

TEST_CASE("convolutions, pools and powers of matrices take no bool") {
  const Tensor x = zeros({1, 1, 4, 4}, DType::boolean);
  check_error([&] { conv2d(x, x); }, {"[conv2d]", "numbers, not bool"});
  check_error([&] { conv_transpose2d(x, x); }, {"[conv_transpose2d]", "numbers, not bool"});
  check_error([&] { conv3d(x.unsqueeze(0), x.unsqueeze(0)); }, {"[conv3d]", "numbers, not bool"});
  check_error([&] { max_pool2d(x, {2}); }, {"[max_pool2d]", "numbers, not bool"});
  check_error([&] { max_pool3d(x.unsqueeze(0), {2}); }, {"[max_pool3d]", "numbers, not bool"});
  check_error([&] { avg_pool2d(x, {2}); }, {"[avg_pool2d]", "numbers, not bool"});
  check_error([&] { matrix_power(x, 2); }, {"[matrix_power]", "numbers, not bool"});
}
