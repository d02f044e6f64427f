// Whether ops are recorded for backward().
#pragma once

#include "crisol/export.h"

namespace crisol {

/// Ops on this thread are recorded when an input wants a gradient; true unless a NoGrad is the innermost scope.
CRISOL_API bool grad_enabled() noexcept;

/// Switches recording off on this thread while it lives: for inference, and for changing parameters by hand.
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

/// Switches recording on again while it lives, inside a NoGrad.
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
