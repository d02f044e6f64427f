// Runs an op whose result goes through an epilogue, with gradients.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "autograd/node.h"
#include "crisol/fuse.h"
#include "ops/product/with_epilogue.h"

namespace crisol::detail {

/// The layout of an op's result as its kernel sees it: rows of elements. A row of a matrix product runs along the last
/// axis. A convolution has one row for each channel, or for each block of channels.
struct ResultLayout {
  Shape shape;
  bool by_channel = false;   ///< (N, K, …) with one row for each k. If false, rows run along the last axis.
  bool in_products = false;  ///< The last two axes are one of several products.
  bool by_block = false;     ///< (N, blocks, …, c): channels in blocks of c; see ops/conv/conv2d_blocks.h.
  bool reads_bytes = false;  ///< The kernel reads operands of u8 and i8.
};

/// An op whose kernel may take an epilogue.
struct EndingOp {
  const char* name;
  ResultLayout layout;
  std::vector<Tensor> inputs;
  /// The differentiable op.
  std::function<Tensor()> plain;
  /// The raw op with an epilogue in its kernel.
  std::function<ops::ProductResult(const ops::ProductEpilogue&)> raw;
  /// Returns a function that computes the gradients of `inputs` from the gradient of the op's result before the
  /// epilogue. Called only if a gradient is wanted.
  std::function<std::function<autograd::Gradients(const Tensor&, autograd::Needs)>()> backward;
  autograd::Order order = autograd::Order::every;
};

/// Runs the op and its epilogue. Forward is one kernel under two conditions. The op's kernel must accept the epilogue,
/// and backward must be able to compute the wanted gradients from the result.
Tensor run_with_epilogue(const EndingOp& op, const Epilogue& epilogue);

/// The epilogue as a function of single elements, for kernels that compute more after it. Nothing if it reads other
/// tensors, or if no kernel can compute it. The function's argument has the dtype and the device of `like`.
std::optional<ops::ProductEpilogue> function_of_element(const Epilogue& epilogue, const Tensor& like);

/// Runs an op and its epilogue as one fused function. The op is itself a pointwise expression of tensors, and the
/// address of `body` identifies it.
Tensor run_behind(Expr (*body)(const Expr* tensors), const std::vector<Tensor>& tensors, const Epilogue& epilogue);

}  // namespace crisol::detail
