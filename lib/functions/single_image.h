// Images without a batch, which convolutions and pools take too.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// True for an image (C, H, W), which stands for a batch of one image.
inline bool is_single(const Tensor& x) { return x.defined() && x.dim() == 3; }

}  // namespace crisol
