// Gradients for libraries that exchange them with other devices.
#pragma once

#include <exception>
#include <functional>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol {

/// A function that backward() calls at its end, with the error that ended it, or null.
using EndOfBackward = std::function<void(std::exception_ptr error)>;

/// Lets the backward() that runs on this thread call `function` after its last op, before it returns. Hooks call this.
/// If a backward() runs within another one, the outer one calls the function. An error that the function throws leaves
/// backward(). Throws invalid_argument outside backward().
CRISOL_API void call_after_backward(EndOfBackward function);

/// Replaces the grad() of a leaf by a copy of `gradient`, which has the shape, dtype and device of the leaf. An
/// undefined tensor discards the grad() of any tensor. Otherwise refuses a leaf that wants no gradient.
CRISOL_API void set_grad(const Tensor& leaf, const Tensor& gradient);

}  // namespace crisol
