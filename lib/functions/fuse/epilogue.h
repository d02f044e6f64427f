// Running an op whose result goes through an epilogue, with gradients.
#pragma once

#include <functional>
#include <vector>

#include "autograd/node.h"
#include "crisol/fuse.h"
#include "ops/product/epilogue.h"

namespace crisol::detail {

/// How an op's result looks to its kernel: `rows` of `columns` elements. A matrix product has rows of its last axis, a
/// convolution a row for each channel.
struct ResultLayout {
  Shape shape;
  bool by_channel = false;   ///< (N, K, …) with a row for each k; else rows along the last axis,
  bool in_products = false;  ///< those of the last two axes being one product of many.
};

/// An op without its epilogue, in parts.
struct EpilogueOp {
  const char* name;
  ResultLayout layout;
  std::vector<Tensor> inputs;
  /// The differentiable op.
  std::function<Tensor()> plain;
  /// The raw op with an epilogue in its kernel; `applied` becomes false where the result is without it.
  std::function<Tensor(const ops::Epilogue&, bool& applied)> raw;
  /// Gradients of `inputs` from that of the plain op's result; made only where a gradient is wanted.
  std::function<std::function<autograd::Gradients(const Tensor&, autograd::Needs)>()> backward;
};

/// In one kernel forward where the op's kernel takes the epilogue and, where gradients are wanted, those of the
/// epilogue can be worked out from its result.
Tensor run_with_epilogue(const EpilogueOp& op, const Epilogue& epilogue);

/// The epilogue of an op that is a pointwise expression of tensors itself, all in one fused function. A body is known
/// by its address.
Tensor run_behind(Expr (*body)(const Expr* tensors), const std::vector<Tensor>& tensors, const Epilogue& epilogue);

}  // namespace crisol::detail
