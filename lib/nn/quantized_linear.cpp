#include "crisol/nn/quantized_linear.h"

#include "base/text.h"
#include "nn/repr.h"

namespace crisol::nn {

namespace {

Tensor zero_weight(std::int64_t in_features, std::int64_t out_features) {
  require(in_features > 0 && out_features > 0, "QuantizedLinear", "in_features ", in_features, " and out_features ",
          out_features, " must be positive");
  return zeros({out_features, in_features}, DType::f32);
}

}  // namespace

QuantizedLinear::QuantizedLinear(std::int64_t in_features, std::int64_t out_features, const QuantizeOptions& options,
                                 bool with_bias)
    : QuantizedLinear(crisol::quantize(zero_weight(in_features, out_features), options),
                      with_bias ? zeros({out_features}, DType::f32) : Tensor()) {}

QuantizedLinear::QuantizedLinear(const QuantizedWeight& weight, const Tensor& shift)
    : codes(weight.codes()),
      scales(weight.scales()),
      zero_points(weight.zero_points()),
      in_features_(weight.columns()),
      block_(weight.block()),
      bits_(weight.bits()) {
  require(!shift.defined() || shift.shape() == Shape{weight.rows()}, "QuantizedLinear", "the bias has shape ",
          shift.defined() ? shift.shape() : Shape(), " for ", weight.rows(), " rows");
  if (shift.defined()) bias = Parameter(shift);
  register_buffer("codes", codes);
  register_buffer("scales", scales);
  register_buffer("zero_points", zero_points);
  register_parameter("bias", bias);
}

QuantizedWeight QuantizedLinear::weight() const {
  return {codes, scales.to(DType::f32), zero_points, in_features_, bits_, block_};
}

Tensor QuantizedLinear::forward(const Tensor& x) { return linear(x, weight(), bias); }

std::string QuantizedLinear::extra_repr() const {
  return concat("in_features=", in_features_, ", out_features=", codes.size(0), ", bits=", bits_, ", block=", block_,
                ", symmetric=", word(!zero_points.defined()), ", bias=", word(bias.defined()));
}

QuantizedLinear quantize(const Linear& linear, const QuantizeOptions& options) {
  return {crisol::quantize(linear.weight, options), linear.bias.defined() ? linear.bias.detach().clone() : Tensor()};
}

}  // namespace crisol::nn
