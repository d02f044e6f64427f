// Fully connected layer with a weight in 8 or 4 bits.
#pragma once

#include "crisol/nn/linear.h"
#include "crisol/quantized_weight.h"

namespace crisol::nn {

/// y = x · weightᵀ + bias, with a weight that is not trained. quantize() makes it of a Linear. x and bias have
/// gradients.
class CRISOL_API QuantizedLinear : public Module {
 public:
  /// The weight is zero. load_state_dict() gives the layer its values.
  QuantizedLinear(std::int64_t in_features, std::int64_t out_features, const QuantizeOptions& options = {},
                  bool with_bias = true);
  /// Takes the parts of `weight`. `bias` may be undefined.
  QuantizedLinear(const QuantizedWeight& weight, const Tensor& bias);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The weight, made of the buffers.
  QuantizedWeight weight() const;

  Buffer codes;        ///< u8: see QuantizedWeight.
  Buffer scales;       ///< (out_features, blocks)
  Buffer zero_points;  ///< (out_features, blocks); undefined if the weight is symmetric.
  Parameter bias;      ///< (out_features); undefined without bias.

 private:
  std::int64_t in_features_, block_;
  int bits_;
};

/// A layer with the nearest codes of the weight, and a copy of the bias.
CRISOL_API QuantizedLinear quantize(const Linear& linear, const QuantizeOptions& options = {});

}  // namespace crisol::nn
