// First values of parameters, as PyTorch's torch.nn.init. All draw from the default generator of the tensor's device
// unless given one, and return the tensor.
#pragma once

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol::nn::init {

/// Inputs and outputs of one unit: (O, I, R, S) has I·R·S and O·R·S, (O, I) has I and O. Refuses ranks below 2.
struct Fans {
  std::int64_t in;   ///< Inputs of one unit.
  std::int64_t out;  ///< Units that read one input.
};
/// The fans of a weight.
CRISOL_API Fans fans_of(const Shape& weight);

/// Uniform in [low, high).
CRISOL_API Tensor uniform_(Tensor t, double low, double high);
/// Normal.
CRISOL_API Tensor normal_(Tensor t, double mean, double deviation);
/// Uniform in [-b, b), b = sqrt(6 / ((1 + a²) · fan_in)); He et al. 2015. PyTorch's layers use a = sqrt(5), which makes
/// b = 1 / sqrt(fan_in).
CRISOL_API Tensor kaiming_uniform_(Tensor weight, double a = 0);
/// Which of the fans a deviation is scaled by: `in` keeps the variance of activations, `out` that of gradients.
enum class Fan : std::uint8_t { in, out };
/// Normal with standard deviation sqrt(2 / ((1 + a²) · fan)).
CRISOL_API Tensor kaiming_normal_(Tensor weight, double a = 0, Fan fan = Fan::in);
/// Uniform in [-b, b), b = gain · sqrt(6 / (fan_in + fan_out)); Glorot and Bengio 2010.
CRISOL_API Tensor xavier_uniform_(Tensor weight, double gain = 1);
/// Normal with standard deviation gain · sqrt(2 / (fan_in + fan_out)).
CRISOL_API Tensor xavier_normal_(Tensor weight, double gain = 1);

}  // namespace crisol::nn::init
