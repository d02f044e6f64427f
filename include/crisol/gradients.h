// Gradients for libraries that exchange them with other devices, and for bindings to other languages.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "crisol/autograd.h"
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

/// A function that gets the gradients of tensors, undefined where there is none, and gives the gradients that take
/// their places.
using GradientsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& gradients)>;

/// The same tensors, of which at least one wants a gradient, with one step of the graph behind them: backward() calls
/// `function` with their gradients when all are known.
CRISOL_API std::vector<Tensor> watch_gradients(const std::vector<Tensor>& tensors, const GradientsFunction& function);

/// Gets the functions that a tensor keeps.
class CRISOL_API FunctionVisitor {
 public:
  virtual ~FunctionVisitor();
  /// A hook of register_hook().
  virtual void hook(const GradientHook& function) = 0;
  /// A hook of register_post_accumulate_grad_hook().
  virtual void leaf_hook(const std::function<void(const Tensor& leaf)>& function) = 0;
  /// The gradient function of a custom_function().
  virtual void backward(const BackwardFunction& function) = 0;
  /// The function of a watch_gradients().
  virtual void watch(const GradientsFunction& function) = 0;
};

/// Visits the functions that live only because of this tensor: its own hooks, and those of the graph behind it. Stops
/// at parts that something else keeps too. `handles` is the number of the tensor's handles that count as one owner. For
/// languages whose collector must see the objects that these functions keep.
CRISOL_API void visit_functions(const Tensor& tensor, std::int64_t handles, FunctionVisitor& visitor);

}  // namespace crisol
