// Gradients against finite differences.
#pragma once

#include <functional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::testing {

struct GradcheckOptions {
  double step = 1e-2;       ///< Half the distance of the central difference.
  double tolerance = 5e-3;  ///< Of the difference, relative to 1 + the largest derivative of the input: f32 forward
                            ///< values carry an error of some 1e-6 of their sum, which the step divides by.
  int elements = 12;        ///< Of each input that are checked one by one, spread evenly; 2 where launches are slow.
};

/// Compares backward() through f with central differences, for every input that is f32 (others are passed through). The
/// scalar is a fixed pseudo-random weighting of all elements of f's result, so that no two mistakes cancel. Beside
/// single elements a random direction over all of them is checked. f must be smooth within `step` of the inputs. An
/// input that is a leaf wanting a gradient is a parameter, which f has got by another way: it is changed in place, and
/// put back.
void check_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
                     const GradcheckOptions& options = {});

}  // namespace crisol::testing
