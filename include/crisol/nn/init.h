// Initial values of parameters, as in PyTorch's torch.nn.init. All functions use the default generator of the tensor's
// device, overwrite the tensor and return it.
#pragma once

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol::nn::init {

/// The fans of a weight: fan_in and fan_out. A weight (O, I) has I and O. A weight (O, I, R, S) has I·R·S and O·R·S.
struct Fans {
  std::int64_t in;   ///< fan_in: the number of inputs of one output unit.
  std::int64_t out;  ///< fan_out: the number of output units that read one input.
};
/// Computes the fans of a weight. Refuses ranks below 2.
CRISOL_API Fans fans_of(const Shape& weight);

/// Uniform numbers in [low, high).
CRISOL_API Tensor uniform_(Tensor t, double low, double high);
/// Normal numbers with this mean and standard deviation.
CRISOL_API Tensor normal_(Tensor t, double mean, double deviation);
/// Uniform numbers in [-b, b) with b = sqrt(6 / ((1 + a²) · fan_in)); He et al. 2015. PyTorch's layers use a = sqrt(5),
/// which gives b = 1 / sqrt(fan_in).
CRISOL_API Tensor kaiming_uniform_(Tensor weight, double a = 0);
/// The fan that determines the deviation. `in` keeps the variance of activations, `out` the variance of gradients.
enum class Fan : std::uint8_t { in, out };
/// Normal numbers with mean 0 and standard deviation sqrt(2 / ((1 + a²) · fan)).
CRISOL_API Tensor kaiming_normal_(Tensor weight, double a = 0, Fan fan = Fan::in);
/// Uniform numbers in [-b, b) with b = gain · sqrt(6 / (fan_in + fan_out)); Glorot and Bengio 2010.
CRISOL_API Tensor xavier_uniform_(Tensor weight, double gain = 1);
/// Normal numbers with mean 0 and standard deviation gain · sqrt(2 / (fan_in + fan_out)).
CRISOL_API Tensor xavier_normal_(Tensor weight, double gain = 1);

}  // namespace crisol::nn::init
