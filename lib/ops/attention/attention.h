// Attention in one kernel, which never writes the scores to memory.
#pragma once

#include "attention/parameters.h"
#include "crisol/ops/attention.h"
#include "crisol/precision.h"
#include "crisol/tensor.h"
#include "dispatch/choose.h"

namespace crisol::ops {

class Engine;
struct TileShape;

/// The strides of an operand. Heads have up to three axes.
struct HeadStrides {
  std::int64_t axes[3];
  std::int64_t row, column;

  kernels::HeadParameters parameters() const { return {axes[0], axes[1], axes[2], row, column}; }
};

/// softmax(scale · QKᵀ + bias) V for heads of `rows` queries and `keys` keys, of `depth` elements, with values of
/// `columns` elements. A plan's operands are Q, K, V, the bias (any buffer if has_bias is 0), and the result. Its
/// scalar is the scale.
struct AttentionProblem {
  std::int64_t heads[3];
  std::int64_t rows, keys, depth, columns;
  std::int64_t causal, has_bias;
  std::int64_t records;       ///< Whether the result is recorded for backward.
  std::int64_t of_precision;  ///< A Precision to which operands of products may be rounded.
  std::int64_t aligned;       ///< Whether sizes, strides and positions of Q, K and V are multiples of 4.
  HeadStrides q, k, v, bias, y;
  std::int64_t type;  ///< The DType of the elements in memory. A bias is f32.

  std::int64_t head_count() const noexcept { return heads[0] * heads[1] * heads[2]; }
  Precision precision() const noexcept { return static_cast<Precision>(of_precision); }
  /// The arguments of the kernels. `block`, `key_block` and `slice` are 0.
  kernels::AttentionParameters parameters() const;
  dispatch::ProblemKey key() const {
    const dispatch::ProblemKey key{{"heads", head_count()}, {"rows", rows},       {"keys", keys},
                                   {"depth", depth},        {"columns", columns}, {"causal", causal},
                                   {"bias", has_bias},      {"grad", records},    {"precision", of_precision}};
    return key.with_types(type);
  }
};

/// The gradients of attention. A plan's operands are Q, K, V, the bias, the result Y, its gradient, and the gradients
/// of Q, K and V. Its scalar is the scale.
struct AttentionGradientProblem {
  AttentionProblem forward;
  HeadStrides dy, dq, dk, dv;
};

/// Operands of one type, whose leading axes broadcast. The bias is undefined, or f32 that broadcasts to the scores.
struct Attention {
  Tensor q, k, v, bias;
  bool causal;
  double scale;
};

/// The result, or an undefined tensor if a composition of other ops takes less time. `records` says whether the result
/// is recorded for backward.
Tensor fused_attention(const Attention& a, bool records);

/// The gradients of Q, K and V for each head, as if nothing had been broadcast, from the result `y` and its gradient,
/// of the type of the operands. They are undefined if a composition of other ops takes less time.
AttentionGradients attention_backward(const Attention& a, const Tensor& y, const Tensor& dy);

/// Whether fused_attention() computes it for contiguous operands of these shapes.
bool fuses_attention(const Shape& q, const Shape& k, const Shape& v, bool has_bias, Device device);

// ---- The variants ----

dispatch::PlanOr plan_attention_rows(const AttentionProblem& problem, const dispatch::Target& target, std::size_t);
dispatch::PlanOr plan_attention_single(const AttentionProblem& problem, const dispatch::Target& target, std::size_t);
dispatch::PlanOr plan_attention_backward_rows(const AttentionGradientProblem& problem, const dispatch::Target& target,
                                              std::size_t);
dispatch::PlanOr plan_attention_tiles(const AttentionProblem& problem, const dispatch::Target& target, std::size_t);
/// The plan of the variant "tiles" on an engine. V must have at most as many columns as the tile.
dispatch::Plan plan_attention_on(const Engine& engine, const TileShape& tile, const AttentionProblem& problem,
                                 const dispatch::Target& target);
/// The plan of a variant. If the result is recorded for backward and the probabilities are small enough to be kept for
/// the gradient, the plan is taken only if the variant is forced.
dispatch::PlanOr unless_kept(const AttentionProblem& problem, dispatch::Plan plan);
/// The reason why the kernels do not support the sizes or strides, or nullptr.
const char* against_operands(const AttentionProblem& problem);

}  // namespace crisol::ops
