// The common parts of cross_entropy and nll_loss.
#pragma once

#include "crisol/ops/loss.h"
#include "ops/rowwise/rows.h"
#include "runtime/memory/fault_flag.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// Rows of scores, each with a label. A row has one score for each class, so its length is the number of classes.
struct LabelLossProblem : RowProblem {
  std::int64_t label_type;  ///< The labels' DType.
  std::int64_t reduction;   ///< A Reduction.
  std::int64_t ignore_index;

  bool reduces() const noexcept { return static_cast<Reduction>(reduction) != Reduction::none; }
};

/// Checks scores (N, C) and labels (N).
LabelLossProblem label_loss_problem(const char* op, const Tensor& scores, const Tensor& labels, Reduction reduction,
                                    std::int64_t ignore_index);

/// Checks the gradient of a loss.
void require_loss_gradient(const char* op, const Tensor& dy, const Tensor& labels, Reduction reduction);

/// A kernel of `source`, which includes rowwise/label_loss.h.
runtime::KernelSpec label_loss_spec(const LabelLossProblem& p, const Target& target, const RowGeometry& g,
                                    const char* source, const char* entry);

/// The results of a loss: the rows' losses, the loss itself (without reduction it is the same tensor), and the scale.
struct LabelLossOutput {
  Tensor rows, loss, scale;
};
LabelLossOutput make_label_loss_output(const LabelLossProblem& p, Device device);

/// Adds the launch that reduces the rows' losses, if there is a reduction.
void add_total(Plan& plan, const LabelLossProblem& p, const Target& target, const RowGeometry& g, const char* source,
               Place rows, Place labels, Place loss, Place scale);

}  // namespace crisol::ops
