// Tensors by name: state dicts and files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "crisol/tensor.h"

namespace crisol {

/// Names and tensors in a fixed order; names are unique.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

}  // namespace crisol
