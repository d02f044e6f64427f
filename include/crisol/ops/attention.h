// The raw gradient of attention, not recorded by autograd.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The gradients of queries, keys and values.
struct AttentionGradients {
  Tensor q;  ///< (…, queries, depth)
  Tensor k;  ///< (…, keys, depth)
  Tensor v;  ///< (…, keys, columns)
};

/// The gradients of y = scaled_dot_product_attention(q, k, v) without a mask, from y and its gradient `dy`, in one
/// kernel. The leading axes of the results are those of y. All operands have one dtype, f32, f16 or bf16. The results
/// are undefined where a composition of products and softmax takes less time, as on GPUs: then the caller composes
/// them. Throws invalid_argument if the shapes or dtypes do not fit.
CRISOL_API AttentionGradients attention_backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& y,
                                                 const Tensor& dy, bool causal, double scale);

}  // namespace crisol::ops
