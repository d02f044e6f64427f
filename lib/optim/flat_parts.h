// Tensors of many parameters joined into a few flat tensors.
#pragma once

#include <cstddef>
#include <vector>

#include "crisol/dtype_table.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// The type of an arena's values: f32, or f64 if a parameter is f64.
inline DType arena_type(const std::vector<Tensor>& parameters) {
  DType type = DType::f32;
  for (const Tensor& p : parameters) type = promote_types(type, p.dtype());
  return type;
}

/// The elements of the tensors first … last - 1 of a list.
struct FlatPart {
  Tensor elements;
  std::size_t first = 0, last = 0;
};

/// The values of the parameters. Neighbours in an optimiser's arena become one flat part.
std::vector<FlatPart> flat_values(const std::vector<Tensor>& parameters);

/// The gradients of the parameters that have a gradient, joined in the same way. Gaps between them hold zeros.
std::vector<Tensor> flat_gradients(const std::vector<Tensor>& parameters);

}  // namespace crisol::optim
