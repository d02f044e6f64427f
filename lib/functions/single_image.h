// Images, sequences and volumes without an axis for the batch. Convolutions and pools take them too.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// Whether x is an image (C, H, W), which stands for a batch of one image.
inline bool is_single(const Tensor& x) { return x.defined() && x.dim() == 3; }
/// The same for a sequence (C, L).
inline bool is_single_sequence(const Tensor& x) { return x.defined() && x.dim() == 2; }
/// The same for a volume (C, D, H, W).
inline bool is_single_volume(const Tensor& x) { return x.defined() && x.dim() == 4; }

}  // namespace crisol
