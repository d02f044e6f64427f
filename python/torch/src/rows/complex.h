// Complex numbers. The library has none, so these functions compute with views of both parts.
#pragma once

#include "call.h"

namespace crisol_torch {

/// The real and the imaginary part of a tensor, which may be real itself: then the second one is undefined. Refuses
/// parts that the library does not compute with, and lazy bits.
struct Parts {
  crisol::Tensor real, imaginary;
};
Parts parts_of(const at::Tensor& x);

/// NAME.out of two tensors and a complex result.
Results multiply_complex(const Call& c);
/// (a, b, alpha, out): a + sign alpha b.
Results add_complex(const Call& c, double sign);

/// A row that calls `complex` if its result is complex.
Run or_complex(Run real, Run complex);

}  // namespace crisol_torch
