// The layers of transformers (Vaswani et al. 2017), with PyTorch's names, formulas and first values.
//
// Sequences are (length, N, d_model), or (N, length, d_model) with batch_first. One sequence has no axis N.
// AttentionMasks says which positions are seen (crisol/functions/attention.h): `layer(x, {.is_causal = true})`.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/functions/elementwise.h"
#include "crisol/nn/attention.h"
#include "crisol/nn/dropout.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/module_list.h"
#include "crisol/nn/norm.h"

namespace crisol::nn {

/// Settings of TransformerEncoderLayer and TransformerDecoderLayer.
struct TransformerLayerOptions {
  std::int64_t dim_feedforward = 2048;          ///< The numbers between the two linear layers.
  double dropout = 0.1;                         ///< The probability of all dropouts.
  Tensor (*activation)(const Tensor&) = &relu;  ///< The function between the two linear layers.
  double layer_norm_eps = 1e-5;                 ///< eps of the norms.
  bool batch_first = false;                     ///< Sequences are (N, length, d_model).
  bool norm_first = false;                      ///< A norm is before each part and not behind its sum.
  bool bias = true;                             ///< Linear layers, attention and norms have biases.
};

/// Attention of a sequence to itself and two linear layers, each one with dropout, a sum with its input and a norm.
class CRISOL_API TransformerEncoderLayer : public Module {
 public:
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t num_heads, const TransformerLayerOptions& options = {});
  /// The next representation, without masks.
  Tensor forward(const Tensor& x) override { return forward(x, AttentionMasks()); }
  /// The next representation.
  Tensor forward(const Tensor& x, const AttentionMasks& masks);
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see the sequence and the result.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks);

  MultiheadAttention self_attn;  ///< Attention of the sequence to itself.
  Linear linear1;                ///< (d_model) to (dim_feedforward).
  Dropout dropout;               ///< Behind the activation.
  Linear linear2;                ///< (dim_feedforward) to (d_model).
  LayerNorm norm1;               ///< Of the attention.
  LayerNorm norm2;               ///< Of the linear layers.
  Dropout dropout1;              ///< Of the attention's result.
  Dropout dropout2;              ///< Of the linear layers' result.

 private:
  Tensor (*activation_)(const Tensor&);
  bool norm_first_;
};

/// Copies of a layer, one after another, and a norm behind them if there is one.
class CRISOL_API TransformerEncoder : public Module {
 public:
  /// `num_layers` deep copies of the layer, which begin with equal parameters.
  TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                     const std::optional<LayerNorm>& norm = std::nullopt);
  /// The last representation, without masks.
  Tensor forward(const Tensor& x) override { return forward(x, AttentionMasks()); }
  /// The last representation. All layers get the masks.
  Tensor forward(const Tensor& x, const AttentionMasks& masks);
  using Module::operator();
  /// Calls the hooks and forward(). Hooks see the sequence and the result.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks);

  ModuleList layers;              ///< The copies: `encoder.layers.at<nn::TransformerEncoderLayer>(0)`.
  std::optional<LayerNorm> norm;  ///< The last norm.
};

/// Attention of the target to itself, attention to the encoder's result and two linear layers, each one with dropout, a
/// sum with its input and a norm.
class CRISOL_API TransformerDecoderLayer : public Module {
 public:
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t num_heads, const TransformerLayerOptions& options = {});
  using Module::forward;
  /// The next representation of the target. `memory` is the encoder's result.
  Tensor forward(const Tensor& target, const Tensor& memory, const AttentionMasks& target_masks = {},
                 const AttentionMasks& memory_masks = {});
  /// Calls the hooks and forward(). Hooks see the target and the result.
  Tensor operator()(const Tensor& target, const Tensor& memory, const AttentionMasks& target_masks = {},
                    const AttentionMasks& memory_masks = {});

  MultiheadAttention self_attn;       ///< Attention of the target to itself.
  MultiheadAttention multihead_attn;  ///< Attention to the encoder's result.
  Linear linear1;                     ///< (d_model) to (dim_feedforward).
  Dropout dropout;                    ///< Behind the activation.
  Linear linear2;                     ///< (dim_feedforward) to (d_model).
  LayerNorm norm1;                    ///< Of the first attention.
  LayerNorm norm2;                    ///< Of the second attention.
  LayerNorm norm3;                    ///< Of the linear layers.
  Dropout dropout1;                   ///< Of the first attention's result.
  Dropout dropout2;                   ///< Of the second attention's result.
  Dropout dropout3;                   ///< Of the linear layers' result.

 private:
  Tensor (*activation_)(const Tensor&);
  bool norm_first_;
};

/// Copies of a layer, one after another, and a norm behind them if there is one.
class CRISOL_API TransformerDecoder : public Module {
 public:
  /// `num_layers` deep copies of the layer, which begin with equal parameters.
  TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                     const std::optional<LayerNorm>& norm = std::nullopt);
  using Module::forward;
  /// The last representation of the target. All layers get `memory` and the masks.
  Tensor forward(const Tensor& target, const Tensor& memory, const AttentionMasks& target_masks = {},
                 const AttentionMasks& memory_masks = {});
  /// Calls the hooks and forward(). Hooks see the target and the result.
  Tensor operator()(const Tensor& target, const Tensor& memory, const AttentionMasks& target_masks = {},
                    const AttentionMasks& memory_masks = {});

  ModuleList layers;              ///< The copies: `decoder.layers.at<nn::TransformerDecoderLayer>(0)`.
  std::optional<LayerNorm> norm;  ///< The last norm.
};

/// Settings of Transformer.
struct TransformerOptions {
  std::int64_t d_model = 512;           ///< The numbers of a position.
  std::int64_t num_heads = 8;           ///< The heads of each attention.
  std::int64_t num_encoder_layers = 6;  ///< The layers of the encoder.
  std::int64_t num_decoder_layers = 6;  ///< The layers of the decoder.
  TransformerLayerOptions layer = {};   ///< The options of all layers.
};

/// An encoder that reads the source, and a decoder that reads the target and the encoder's result.
class CRISOL_API Transformer : public Module {
 public:
  explicit Transformer(const TransformerOptions& options = {});
  using Module::forward;
  /// The decoder's result, in the target's shape. memory_masks is for the attention of the target to the source.
  Tensor forward(const Tensor& source, const Tensor& target, const AttentionMasks& source_masks = {},
                 const AttentionMasks& target_masks = {}, const AttentionMasks& memory_masks = {});
  /// Calls the hooks and forward(). Hooks see the source and the result.
  Tensor operator()(const Tensor& source, const Tensor& target, const AttentionMasks& source_masks = {},
                    const AttentionMasks& target_masks = {}, const AttentionMasks& memory_masks = {});

  TransformerEncoder encoder;  ///< Reads the source.
  TransformerDecoder decoder;  ///< Reads the target and the encoder's result.
};

}  // namespace crisol::nn
