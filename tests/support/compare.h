// Host values for tests, views of them in every layout, and comparison with a reference.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/error.h"
#include "crisol/tensor.h"
#include "reference/compare.h"

namespace crisol::testing {

using reference::random_integers;
using reference::random_values;
using reference::Tolerance;
using reference::values_of;

/// A contiguous tensor of these values, outermost axis first, converted to the dtype.
Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype = DType::f32);

/// The layout of a tensor's values. Storage between the elements is NaN (127 in integer dtypes).
enum class Layout {
  contiguous,
  offset,    ///< Contiguous, but starts at element 3 of its storage.
  permuted,  ///< Axes stored in reverse order.
  strided,   ///< Every second element along every axis, and an offset.
};
inline constexpr Layout all_layouts[] = {Layout::contiguous, Layout::offset, Layout::permuted, Layout::strided};
const char* name_of(Layout layout);

/// A tensor of these values in a layout.
Tensor view_of(const std::vector<double>& values, const Shape& shape, Layout layout, DType dtype = DType::f32);

/// Describes how `actual` is wrong: the number of wrong elements, and the worst error with its index and values. Empty
/// if nothing is wrong. NaN equals only NaN, infinity only itself.
std::string difference(const Tensor& actual, const std::vector<double>& expected, Tolerance tolerance);

/// Unless `actual` has the shape and values, fails the running test case, which continues. Returns whether it has them.
bool check_close(const Tensor& actual, const std::vector<double>& expected, Tolerance tolerance);
bool check_close(const Tensor& actual, const Shape& shape, const std::vector<double>& expected, Tolerance tolerance);

/// Fails the running test case unless the call throws crisol::Error with this code and a text that contains every part.
void check_error(const std::function<void()>& call, std::initializer_list<std::string_view> parts,
                 ErrorCode code = ErrorCode::invalid_argument);

/// Checks that the next read to the host throws, because a kernel noted a wrong index. Then reads work again.
void check_wrong_index(const Tensor& read, std::initializer_list<std::string_view> parts = {"is not in ["});

}  // namespace crisol::testing
