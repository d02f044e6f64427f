// Whether ops are recorded for backward().
#pragma once

#include "crisol/export.h"

namespace crisol {

/// Whether ops on this thread are recorded if an input wants a gradient. This is true, unless the innermost scope on
/// this thread is a NoGrad.
CRISOL_API bool grad_enabled() noexcept;

/// Switches recording off on this thread from construction to destruction: for inference, and to change parameters by
/// hand.
///
///     crisol::NoGrad no_grad;
///     Tensor logits = model.forward(images);
class CRISOL_API NoGrad {
 public:
  NoGrad() noexcept;
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// Switches recording on again inside a NoGrad, from construction to destruction.
class CRISOL_API EnableGrad {
 public:
  EnableGrad() noexcept;
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool before_;
};

}  // namespace crisol
