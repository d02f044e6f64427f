// The tensors of a module: parameters, and buffers. Only parameters are trained.
#pragma once

#include <string>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::nn {

/// A parameter of a module. All its handles are the same tensor: the member of the module, the module's list, copies,
/// and the list of an optimiser. So a new value is seen everywhere:
///
///     nn::Linear layer(3, 1);
///     layer.weight = ones({1, 3});               // New values for forward, parameters(), state_dict() and optimisers.
///     out.weight = embedding.weight;             // Ties: both are one parameter from now on.
///     out.weight = embedding.weight.detach();    // Copies the values. Both stay parameters of their own.
///
/// Do not assign through a `Tensor&` that refers to a parameter: C++ then calls Tensor's assignment, which only makes
/// that one handle another tensor.
class CRISOL_API Parameter : public Tensor {
 public:
  /// The undefined parameter: the bias of a layer without bias.
  Parameter() noexcept = default;
  /// Makes `value` a parameter, without a copy of its memory. With `requires_grad` it wants a gradient from now on.
  /// Throws invalid_argument for the result of a recorded op, and, with `requires_grad`, for a dtype that has no
  /// gradients.
  explicit Parameter(Tensor value, bool requires_grad = true);
  /// Another handle to the same parameter. Inside clone() it is a copy with its own memory.
  Parameter(const Parameter& other);

  /// Ties this parameter to `other`: from now on both share the memory and the gradient of `other`. A module lists tied
  /// parameters once, under the first of their names. An optimiser that already has both parameters refuses its next
  /// step. If this parameter was tied to a third parameter, that tie ends. Throws invalid_argument for another shape,
  /// and for an undefined `other`.
  Parameter& operator=(const Parameter& other);
  /// Gives this parameter the values of `value`. A value of the same shape, dtype and device is copied into the
  /// existing memory. For any other value the parameter gets new memory: its gradient is dropped, and an optimiser that
  /// was made before refuses its next step. Throws invalid_argument for an undefined value, for the result of a
  /// recorded op (detach() it first), and if the layer was made without this parameter.
  Parameter& operator=(const Tensor& value);

 private:
  friend class Module;
  std::string absent_name_;  ///< The name under which a module registered it as absent.
};

/// A tensor that belongs to the state of a module and is not trained, such as a running mean. All its handles are the
/// same tensor, as with Parameter. A Tensor made of a buffer is no handle: it keeps its elements when the buffer is
/// assigned.
class CRISOL_API Buffer : public Tensor {
 public:
  /// The undefined buffer.
  Buffer() noexcept = default;
  /// Makes `value` a buffer, without a copy of its memory.
  explicit Buffer(Tensor value) noexcept : Tensor(std::move(value)) {}
  /// Another handle to the same buffer. Inside clone() it is a copy with its own memory.
  Buffer(const Buffer& other);

  /// Copies the values of `other`.
  Buffer& operator=(const Buffer& other) { return *this = static_cast<const Tensor&>(other); }
  /// Makes this buffer a new tensor with the values of `value`. Tensors and views that were taken from it before keep
  /// the old elements. Within capture() a value of the same shape, dtype and device is copied into the existing memory,
  /// so that each replay finds the last value. Throws as Parameter does, and for a value that wants a gradient while
  /// ops are recorded.
  Buffer& operator=(const Tensor& value);

 private:
  friend class Module;
  std::string absent_name_;  ///< The name under which a module registered it as absent.
};

}  // namespace crisol::nn
