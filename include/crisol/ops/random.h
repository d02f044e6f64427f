// Random numbers that are written to given tensors, not recorded by autograd. crisol/random.h says which numbers they
// are. `out` has any strides, and is on the device of the generator.
#pragma once

#include <cstdint>

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// uniform_ of crisol/random.h: f32 in [low, high).
CRISOL_API void uniform_into(const Tensor& out, double low, double high, const Generator& generator);
/// normal_ of crisol/random.h, f32.
CRISOL_API void normal_into(const Tensor& out, double mean, double deviation, const Generator& generator);
/// randint: i64 or i32 in [low, high).
CRISOL_API void randint_into(const Tensor& out, std::int64_t low, std::int64_t high, const Generator& generator);
/// bernoulli: f32, 1 with probability p, else 0.
CRISOL_API void bernoulli_into(const Tensor& out, double p, const Generator& generator);
/// randperm: a permutation of 0 … n-1, i64 (n). n is the size of `out`. The call waits.
CRISOL_API void randperm_into(const Tensor& out, const Generator& generator);

}  // namespace crisol::ops
