#include "crisol/nn/attention.h"

#include "base/text.h"
#include "crisol/nn/init.h"

namespace crisol::nn {

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       const MultiheadAttentionOptions& options)
    : out_proj(embed_dim, embed_dim, LinearOptions{options.bias}),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(options) {
  constexpr const char* name = "MultiheadAttention";
  require(num_heads > 0 && embed_dim % num_heads == 0, name, num_heads, " heads do not divide ", embed_dim, " numbers");
  require(options.dropout >= 0 && options.dropout <= 1, name, "dropout ", options.dropout, " is not in [0, 1]");
  const std::int64_t kdim = options.kdim.value_or(embed_dim), vdim = options.vdim.value_or(embed_dim);
  require(kdim > 0 && vdim > 0, name, "kdim ", kdim, " and vdim ", vdim, " must be positive");
  const auto weight = [](std::int64_t out, std::int64_t in) { return init::xavier_uniform_(empty({out, in})); };
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = weight(3 * embed_dim, embed_dim);
  } else {
    q_proj_weight = weight(embed_dim, embed_dim);
    k_proj_weight = weight(embed_dim, kdim);
    v_proj_weight = weight(embed_dim, vdim);
  }
  if (options.bias) {
    in_proj_bias = zeros({3 * embed_dim});
    out_proj.bias = zeros({embed_dim});
  }
  if (options.add_bias_kv) {
    bias_k = init::xavier_normal_(empty({1, 1, embed_dim}));
    bias_v = init::xavier_normal_(empty({1, 1, embed_dim}));
  }
  register_parameter("in_proj_weight", in_proj_weight);
  register_parameter("q_proj_weight", q_proj_weight);
  register_parameter("k_proj_weight", k_proj_weight);
  register_parameter("v_proj_weight", v_proj_weight);
  register_parameter("in_proj_bias", in_proj_bias);
  register_parameter("bias_k", bias_k);
  register_parameter("bias_v", bias_v);
  register_module("out_proj", out_proj);
}

Tensor MultiheadAttention::forward(const Tensor& x) { return forward(x, x, x, {}, false).output; }

MultiHeadResult MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const AttentionMasks& masks, bool need_weights, bool average_weights) {
  return multi_head_attention(query, key, value,
                              {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, bias_k,
                               bias_v, out_proj.weight, out_proj.bias},
                              {.num_heads = num_heads_,
                               .dropout_p = training() ? options_.dropout : 0,
                               .add_zero_attn = options_.add_zero_attn,
                               .batch_first = options_.batch_first,
                               .need_weights = need_weights,
                               .average_weights = average_weights},
                              masks);
}

MultiHeadResult MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                               const AttentionMasks& masks, bool need_weights, bool average_weights) {
  const auto call = [&](const Tensor& x) { return forward(x, key, value, masks, need_weights, average_weights); };
  return call_with_hooks(query, call, &MultiHeadResult::output);
}

}  // namespace crisol::nn
