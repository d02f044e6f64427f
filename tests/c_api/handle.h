// Handles of the C interface that release themselves, functions that read tensors, and checks of calls.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "crisol/c/crisol.h"
#include "doctest/doctest.h"

namespace crisol::testing::c_api {

inline constexpr crisol_device here = CRISOL_DEFAULT_DEVICE;

/// A handle that releases its tensor.
class Handle {
 public:
  Handle() = default;
  Handle(const std::vector<float>& values, const std::vector<std::int64_t>& sizes) {
    REQUIRE(crisol_tensor_create(here, CRISOL_F32, static_cast<int>(sizes.size()), sizes.data(), values.data(),
                                 &tensor_) == CRISOL_OK);
  }
  explicit Handle(const std::vector<std::int64_t>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    REQUIRE(crisol_tensor_create(here, CRISOL_I64, 1, &count, values.data(), &tensor_) == CRISOL_OK);
  }
  ~Handle() { crisol_tensor_destroy(tensor_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  crisol_tensor* get() const noexcept { return tensor_; }
  crisol_tensor** place() noexcept {
    crisol_tensor_destroy(tensor_);
    tensor_ = nullptr;
    return &tensor_;
  }

 private:
  crisol_tensor* tensor_ = nullptr;
};

inline std::vector<std::int64_t> sizes_of(const crisol_tensor* x) {
  int rank = -1;
  REQUIRE(crisol_tensor_rank(x, &rank) == CRISOL_OK);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(rank) + 1);
  REQUIRE(crisol_tensor_sizes(x, sizes.data()) == CRISOL_OK);
  sizes.pop_back();
  return sizes;
}

template <class T = float>
std::vector<T> values_of(const crisol_tensor* x) {
  std::int64_t count = -1;
  REQUIRE(crisol_tensor_count(x, &count) == CRISOL_OK);
  std::vector<T> values(static_cast<std::size_t>(count));
  REQUIRE(crisol_tensor_read(x, values.data(), values.size() * sizeof(T)) == CRISOL_OK);
  return values;
}

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

inline void refused(crisol_status status, crisol_status expected, std::initializer_list<const char*> parts) {
  CHECK(status == expected);
  const std::string message = crisol_error_message();
  for (const char* part : parts) CHECK_MESSAGE(message.find(part) != std::string::npos, message);
}

}  // namespace crisol::testing::c_api

#define OK(call) CHECK_MESSAGE((call) == CRISOL_OK, std::string(crisol_error_message()))
