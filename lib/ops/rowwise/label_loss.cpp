#include "ops/rowwise/label_loss.h"

#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "ops/check.h"

namespace crisol::ops {

LabelLossProblem label_loss_problem(const char* op, const Tensor& scores, const Tensor& labels, Reduction reduction,
                                    std::int64_t ignore_index) {
  require_storage(op, "the input", scores);
  require(scores.dim() == 2, op, "the input must be (N, C), its shape is ", scores.shape());
  const std::int64_t n = scores.shape()[0], classes = scores.shape()[1];
  require(classes > 0, op, "the input has no classes, its shape is ", scores.shape());
  require(is_whole(labels.dtype()), op, "the labels must be ", TypesThat{is_whole}, ", they are ", labels.dtype());
  require_shape(op, "the label tensor", labels, {n});
  require_device(op, "the input", scores, "the labels", labels);
  return {{n, classes, 1, storage_of(scores)},
          static_cast<std::int64_t>(labels.dtype()),
          static_cast<std::int64_t>(reduction),
          ignore_index};
}

void require_loss_gradient(const char* op, const Tensor& dy, const Tensor& labels, Reduction reduction) {
  require_operand(op, "the labels", labels, "the loss' gradient", dy,
                  reduction == Reduction::none ? labels.shape() : Shape{});
}

runtime::KernelSpec label_loss_spec(const LabelLossProblem& p, const Target& target, const RowGeometry& g,
                                    const char* source, const char* entry) {
  runtime::Defines defines = row_defines(target, g, p.type);
  defines.add({"LABEL", number_type(static_cast<DType>(p.label_type))});
  return {source, entry, defines};
}

LabelLossOutput make_label_loss_output(const LabelLossProblem& p, Device device) {
  const Tensor rows = empty({p.rows}, DType::f32, device);
  if (!p.reduces()) return {rows, rows, ones({}, DType::f32, device)};
  return {rows, empty({}, DType::f32, device), empty({}, DType::f32, device)};
}

void add_total(Plan& plan, const LabelLossProblem& p, const Target& target, const RowGeometry& g, const char* source,
               Place rows, Place labels, Place loss, Place scale) {
  if (!p.reduces()) return;
  const RowGeometry total = total_row(target, g, p.rows);
  const std::int32_t mean = static_cast<Reduction>(p.reduction) == Reduction::mean ? 1 : 0;
  plan.add(label_loss_spec(p, target, total, source, "label_loss_total"), total.range(1), rows, labels, loss, scale,
           p.rows, p.ignore_index, mean);
}

}  // namespace crisol::ops
