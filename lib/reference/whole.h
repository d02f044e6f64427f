// Functions of whole numbers. Each has its library function and a host reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::reference {

struct WholeFunction {
  const char* name;
  std::size_t inputs;
  Tensor (*call)(const Tensor& a, const Tensor& b);
  /// The function's value for a dtype with `bits` bits.
  std::int64_t (*value)(std::int64_t a, std::int64_t b, int bits);

  /// The values that the dtype of whole numbers stores for these inputs.
  std::vector<std::int64_t> expected(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                                     DType dtype) const;
};

const std::vector<WholeFunction>& whole_functions();

}  // namespace crisol::reference
