#include "crisol/nn/transformer.h"

#include "base/text.h"
#include "crisol/nn/init.h"

namespace crisol::nn {

namespace {

MultiheadAttentionOptions attention_options(const TransformerLayerOptions& o) {
  return {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first};
}

LayerNormOptions norm_options(const TransformerLayerOptions& o) { return {.eps = o.layer_norm_eps, .bias = o.bias}; }

/// x plus a part of the layer, with the norm before the part or behind the sum.
template <class Part>
Tensor added(const Tensor& x, LayerNorm& norm, bool norm_first, const Part& part) {
  return norm_first ? x + part(norm(x)) : norm(x + part(x));
}

/// The copies of a layer.
template <class Layer>
ModuleList copies(const char* name, const Layer& layer, std::int64_t count) {
  require(count > 0, name, "num_layers must be positive, it is ", count);
  ModuleList layers;
  for (std::int64_t i = 0; i < count; ++i) layers.append(clone(layer));
  return layers;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t num_heads,
                                                 const TransformerLayerOptions& options)
    : self_attn(d_model, num_heads, attention_options(options)),
      linear1(d_model, options.dim_feedforward, options.bias),
      dropout(options.dropout),
      linear2(options.dim_feedforward, d_model, options.bias),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      activation_(options.activation),
      norm_first_(options.norm_first) {
  require(activation_ != nullptr, "TransformerEncoderLayer", "the activation is null");
  register_module("self_attn", self_attn);
  register_module("linear1", linear1);
  register_module("dropout", dropout);
  register_module("linear2", linear2);
  register_module("norm1", norm1);
  register_module("norm2", norm2);
  register_module("dropout1", dropout1);
  register_module("dropout2", dropout2);
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMasks& masks) {
  const Tensor attended = added(x, norm1, norm_first_,
                                [&](const Tensor& in) { return dropout1(self_attn(in, in, in, masks, false).output); });
  return added(attended, norm2, norm_first_,
               [&](const Tensor& in) { return dropout2(linear2(dropout(activation_(linear1(in))))); });
}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionMasks& masks) {
  return call_with_hooks(x, [&](const Tensor& in) { return forward(in, masks); });
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                                       const std::optional<LayerNorm>& last)
    : layers(copies("TransformerEncoder", layer, num_layers)), norm(last) {
  register_module("layers", layers);
  if (norm) register_module("norm", *norm);
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMasks& masks) {
  Tensor y = x;
  for (std::size_t i = 0; i < layers.size(); ++i) y = layers.at<TransformerEncoderLayer>(i)(y, masks);
  return norm ? (*norm)(y) : y;
}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionMasks& masks) {
  return call_with_hooks(x, [&](const Tensor& in) { return forward(in, masks); });
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t num_heads,
                                                 const TransformerLayerOptions& options)
    : self_attn(d_model, num_heads, attention_options(options)),
      multihead_attn(d_model, num_heads, attention_options(options)),
      linear1(d_model, options.dim_feedforward, options.bias),
      dropout(options.dropout),
      linear2(options.dim_feedforward, d_model, options.bias),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)),
      norm3(d_model, norm_options(options)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      dropout3(options.dropout),
      activation_(options.activation),
      norm_first_(options.norm_first) {
  require(activation_ != nullptr, "TransformerDecoderLayer", "the activation is null");
  register_module("self_attn", self_attn);
  register_module("multihead_attn", multihead_attn);
  register_module("linear1", linear1);
  register_module("dropout", dropout);
  register_module("linear2", linear2);
  register_module("norm1", norm1);
  register_module("norm2", norm2);
  register_module("norm3", norm3);
  register_module("dropout1", dropout1);
  register_module("dropout2", dropout2);
  register_module("dropout3", dropout3);
}

Tensor TransformerDecoderLayer::forward(const Tensor& target, const Tensor& memory, const AttentionMasks& target_masks,
                                        const AttentionMasks& memory_masks) {
  const Tensor own = added(target, norm1, norm_first_, [&](const Tensor& in) {
    return dropout1(self_attn(in, in, in, target_masks, false).output);
  });
  const Tensor other = added(own, norm2, norm_first_, [&](const Tensor& in) {
    return dropout2(multihead_attn(in, memory, memory, memory_masks, false).output);
  });
  return added(other, norm3, norm_first_,
               [&](const Tensor& in) { return dropout3(linear2(dropout(activation_(linear1(in))))); });
}

Tensor TransformerDecoderLayer::operator()(const Tensor& target, const Tensor& memory,
                                           const AttentionMasks& target_masks, const AttentionMasks& memory_masks) {
  return call_with_hooks(target, [&](const Tensor& in) { return forward(in, memory, target_masks, memory_masks); });
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                                       const std::optional<LayerNorm>& last)
    : layers(copies("TransformerDecoder", layer, num_layers)), norm(last) {
  register_module("layers", layers);
  if (norm) register_module("norm", *norm);
}

Tensor TransformerDecoder::forward(const Tensor& target, const Tensor& memory, const AttentionMasks& target_masks,
                                   const AttentionMasks& memory_masks) {
  Tensor y = target;
  for (std::size_t i = 0; i < layers.size(); ++i)
    y = layers.at<TransformerDecoderLayer>(i)(y, memory, target_masks, memory_masks);
  return norm ? (*norm)(y) : y;
}

Tensor TransformerDecoder::operator()(const Tensor& target, const Tensor& memory, const AttentionMasks& target_masks,
                                      const AttentionMasks& memory_masks) {
  return call_with_hooks(target, [&](const Tensor& in) { return forward(in, memory, target_masks, memory_masks); });
}

Transformer::Transformer(const TransformerOptions& o)
    : encoder(TransformerEncoderLayer(o.d_model, o.num_heads, o.layer), o.num_encoder_layers,
              LayerNorm(o.d_model, norm_options(o.layer))),
      decoder(TransformerDecoderLayer(o.d_model, o.num_heads, o.layer), o.num_decoder_layers,
              LayerNorm(o.d_model, norm_options(o.layer))) {
  register_module("encoder", encoder);
  register_module("decoder", decoder);
  const NoGrad no_grad;
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor Transformer::forward(const Tensor& source, const Tensor& target, const AttentionMasks& source_masks,
                            const AttentionMasks& target_masks, const AttentionMasks& memory_masks) {
  return decoder(target, encoder(source, source_masks), target_masks, memory_masks);
}

Tensor Transformer::operator()(const Tensor& source, const Tensor& target, const AttentionMasks& source_masks,
                               const AttentionMasks& target_masks, const AttentionMasks& memory_masks) {
  return call_with_hooks(
      source, [&](const Tensor& in) { return forward(in, target, source_masks, target_masks, memory_masks); });
}

}  // namespace crisol::nn
