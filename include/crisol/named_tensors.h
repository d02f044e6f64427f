// Tensors by name: state dicts and files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol {

/// Names and tensors in a fixed order; names are unique. A vector of pairs, which also finds a tensor by its name:
///
///     NamedTensors arrays = io::load_npz("data.npz");
///     Tensor x = arrays["x"];
///     for (const auto& [name, tensor] : arrays) std::cout << name << ' ' << tensor.shape() << '\n';
class NamedTensors : public std::vector<std::pair<std::string, Tensor>> {
 public:
  using Pairs = std::vector<std::pair<std::string, Tensor>>;  ///< The base class: the vector of pairs.

  using Pairs::Pairs;
  /// From a vector of pairs.
  NamedTensors(Pairs pairs) : Pairs(std::move(pairs)) {}

  using Pairs::operator[];
  /// The tensor of that name. Throws invalid_argument, with all names, if there is none.
  CRISOL_API const Tensor& operator[](const std::string& name) const;
  /// Whether there is a tensor of that name.
  CRISOL_API bool contains(const std::string& name) const;
};

}  // namespace crisol
