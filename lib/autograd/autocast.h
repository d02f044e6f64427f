// The types in which functions compute under an Autocast. A function that has a rule begins with one line:
//
//     Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
//       if (const Autocasts casts("linear"); casts) return linear(casts(x), casts(weight), casts(bias));
//
// The line calls the function again with converted operands. Autocast is off in this call, so the functions that it is
// made of convert nothing.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "autograd/call.h"

namespace crisol::autograd {

/// The dtype in which a function of this name computes under the thread's Autocast, or nothing if no rule names it. For
/// functions that compute in the widest type of their inputs, `widest` is this type.
std::optional<DType> autocast_type(const char* op, DType widest);

/// If a scope of the thread that lasts made this tensor of a parameter: the parameter, outside of the graph. Else an
/// undefined tensor. converted_again(parameter, x.dtype()) gives the tensor at any time, while the parameter is not
/// written.
Tensor parameter_behind(const Tensor& x);
Tensor converted_again(const Tensor& parameter, DType type);

/// Sets the thread's Autocast aside while it lives.
class PauseAutocast {
 public:
  PauseAutocast() noexcept : enabled_(std::exchange(thread_context().grad.autocast.enabled, false)) {}
  ~PauseAutocast() { thread_context().grad.autocast.enabled = enabled_; }
  PauseAutocast(const PauseAutocast&) = delete;
  PauseAutocast& operator=(const PauseAutocast&) = delete;

 private:
  const bool enabled_;
};

/// The conversions of one call. If there are some, Autocast is off while the object lives.
class Autocasts {
 public:
  /// `inputs` are needed for functions that compute in the widest type of their inputs.
  template <class List = Inputs>
  explicit Autocasts(const char* op, const List& inputs = {}) {
    const AutocastMode& mode = thread_context().grad.autocast;
    if (!mode.enabled) return;
    DType widest = mode.dtype;
    for (const auto& input : inputs)
      if (const Tensor* const x = tensor_of(input); x != nullptr && converts(*x))
        widest = promote_types(widest, x->dtype());
    if ((type_ = autocast_type(op, widest))) pause_.emplace();
  }

  explicit operator bool() const noexcept { return type_.has_value(); }

  /// The tensor in the type in which the function computes. Tensors of whole numbers and of f64 keep their type.
  Tensor operator()(const Tensor& x) const;
  std::vector<Tensor> operator()(const std::vector<Tensor>& tensors) const;

 private:
  static bool converts(const Tensor& x) noexcept;

  std::optional<DType> type_;
  std::optional<PauseAutocast> pause_;
};

}  // namespace crisol::autograd
