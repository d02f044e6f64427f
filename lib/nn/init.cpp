#include "crisol/nn/init.h"

#include <cmath>

#include "base/text.h"

namespace crisol::nn::init {

Fans fans_of(const Shape& weight) {
  require(weight.rank() >= 2, "init", "fans need a weight of rank 2 or more, got shape ", weight);
  std::int64_t window = 1;
  for (int i = 2; i < weight.rank(); ++i) window *= weight[i];
  return {weight[1] * window, weight[0] * window};
}

namespace {

double kaiming_deviation(const Tensor& weight, double a, Fan fan) {
  const Fans fans = fans_of(weight.shape());
  const std::int64_t count = std::max<std::int64_t>(1, fan == Fan::in ? fans.in : fans.out);
  return std::sqrt(2 / ((1 + a * a) * static_cast<double>(count)));
}

double xavier_deviation(const Tensor& weight, double gain) {
  const Fans fans = fans_of(weight.shape());
  return gain * std::sqrt(2 / static_cast<double>(std::max<std::int64_t>(1, fans.in + fans.out)));
}

// A uniform distribution with the given standard deviation.
Tensor uniform_of_deviation(Tensor weight, double deviation) {
  const double bound = std::sqrt(3.0) * deviation;
  return init::uniform_(std::move(weight), -bound, bound);
}

}  // namespace

Tensor uniform_(Tensor t, double low, double high) {
  crisol::uniform_(t, low, high);
  return t;
}

Tensor normal_(Tensor t, double mean, double deviation) {
  crisol::normal_(t, mean, deviation);
  return t;
}

Tensor kaiming_uniform_(Tensor weight, double a) {
  return uniform_of_deviation(weight, kaiming_deviation(weight, a, Fan::in));
}

Tensor kaiming_normal_(Tensor weight, double a, Fan fan) {
  return init::normal_(weight, 0, kaiming_deviation(weight, a, fan));
}

Tensor xavier_uniform_(Tensor weight, double gain) {
  return uniform_of_deviation(weight, xavier_deviation(weight, gain));
}

Tensor xavier_normal_(Tensor weight, double gain) { return init::normal_(weight, 0, xavier_deviation(weight, gain)); }

}  // namespace crisol::nn::init
