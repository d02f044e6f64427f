// Differentiable attention.
#pragma once

#include "crisol/options/attention.h"
#include "crisol/tensor.h"

namespace crisol {

/// softmax(scale · query · keyᵀ + mask) · value, as in PyTorch. query is (…, L, E), key (…, S, E), value (…, S, V), and
/// the result (…, L, V). The leading axes broadcast. All have one floating-point type, and are on one device. f16
/// and bf16 are computed in f32.
///
/// The mask may be undefined. Its shape broadcasts to (…, L, S). A mask of bools says which keys a query sees. A mask
/// of floating-point numbers is added to the scores. A query that sees no key gets zeros.
///
/// With enable_gqa, axis -3 holds heads. query may have a multiple of the heads of key. Neighbouring heads of queries
/// then share a head of keys and values.
///
/// query, key, value and a mask of floating-point numbers have gradients. If nothing is recorded, or the scores would
/// take more than 64 MB, most devices write no scores to memory. The gradient then computes them again.
///
/// Throws invalid_argument, with the shapes, for a rank below 2 and for sizes that do not fit.
CRISOL_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                               const Tensor& mask = Tensor(), const AttentionOptions& options = {});

}  // namespace crisol
