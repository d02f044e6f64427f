// What cross_entropy and nll_loss share.
#pragma once

#include "crisol/ops/loss.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// Rows of scores with a label each; contiguous.
struct LabelLossProblem : RowProblem {
  Tensor scores, labels;
  std::int64_t classes;
  std::int64_t ignore_index;
  Reduction reduction;
  float smoothing = 0;
};

/// Checks scores f32 (N, C) and labels (N).
LabelLossProblem label_loss_problem(const char* op, const Tensor& scores, const Tensor& labels, Reduction reduction,
                                    std::int64_t ignore_index);

/// Checks the gradient of a loss.
void require_loss_gradient(const char* op, const Tensor& dy, const Tensor& labels, Reduction reduction);

/// A kernel of label_loss.cl.
runtime::KernelSpec label_loss_spec(const LabelLossProblem& p, const RowGeometry& g, const char* entry);

/// The loss before the rows' losses are known, and where the kernel of the rows writes them: the loss itself without
/// reduction.
struct LabelLossOutput {
  Tensor rows, loss, scale;
};
LabelLossOutput make_label_loss_output(const LabelLossProblem& p);

/// The kernel that sums; resolve it before the rows' kernel is launched.
runtime::Kernel& total_kernel(const LabelLossProblem& p, const RowGeometry& g);
void launch_total(const LabelLossProblem& p, const RowGeometry& g, runtime::Kernel& kernel, const LabelLossOutput& to);

}  // namespace crisol::ops
