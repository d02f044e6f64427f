// Compares gradients with finite differences.
#pragma once

#include <functional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::testing {

struct GradcheckOptions {
  double step = 1e-2;       ///< Half the distance of the central difference.
  double tolerance = 5e-3;  ///< Bound for the difference, relative to 1 + the input's largest derivative. f32 values
                            ///< have an error of some 1e-6 of their sum, and the check divides it by the step.
  int elements = 12;        ///< Elements per input to check one by one, spread evenly; 2 if launches are slow.
};

/// Compares backward() through f with central differences, for every f32 input. Other inputs are passed through. The
/// scalar is a fixed pseudo-random weighting of all elements of f's result, so that no two mistakes cancel. The check
/// covers single elements and a random direction over all elements. f must be smooth within `step` of the inputs. If an
/// input is a leaf that requires a gradient, f already holds it as a parameter: it is changed in place and restored.
void check_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs,
                     const GradcheckOptions& options = {});

/// Compares the gradients of f's gradients with central differences. They are checked by the f32 inputs and by the
/// gradient of f's result, so an f that is linear is checked too. All differentiable inputs must take part in f.
void check_gradients_of_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                                  const std::vector<Tensor>& inputs, const GradcheckOptions& options = {});

}  // namespace crisol::testing
