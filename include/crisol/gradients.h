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

/// Makes the backward() that runs on this thread call `function` after its last op, before it returns. Call it in
/// hooks. If a backward() runs within another one, the outer one calls the function. An error that the function throws
/// leaves backward(). Throws invalid_argument outside backward().
CRISOL_API void call_after_backward(EndOfBackward function);

/// Replaces the grad() of a leaf by a copy of `gradient`, which has the shape, dtype and device of the leaf. An
/// undefined tensor discards the grad() of any tensor. Otherwise refuses a leaf that wants no gradient.
CRISOL_API void set_grad(const Tensor& leaf, const Tensor& gradient);

/// A number that grows with each write to the elements of a tensor or of one of its views.
CRISOL_API std::uint64_t element_version(const Tensor& x);

/// A function that gets the gradients of tensors (undefined if a tensor has none), and returns the gradients that
/// replace them.
using GradientsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& gradients)>;

/// Returns the tensors with one more step of the graph: backward() calls `function` with their gradients when all are
/// known. At least one tensor must want a gradient.
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
  /// The function of a checkpoint().
  virtual void checkpoint(const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& /*function*/) {}
};

/// Visits the functions that live only because of this tensor: its hooks, and the functions of the graph that it keeps.
/// Stops at parts that also have another owner. `handles` is the number of the tensor's handles that count as one
/// owner. For languages whose garbage collector must see the objects that these functions keep.
CRISOL_API void visit_functions(const Tensor& tensor, std::int64_t handles, FunctionVisitor& visitor);

}  // namespace crisol
