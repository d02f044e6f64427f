#include "ops/rowwise/label_loss.h"

#include "crisol/ops/copy.h"
#include "ops/check.h"

namespace crisol::ops {

namespace {

const char* type_of_labels(DType dtype) {
  switch (dtype) {
    case DType::i64: return "long";
    case DType::i32: return "int";
    case DType::u8: return "uchar";
    default: return nullptr;
  }
}

}  // namespace

LabelLossProblem label_loss_problem(const char* op, const Tensor& scores, const Tensor& labels, Reduction reduction,
                                    std::int64_t ignore_index) {
  require_dtype(op, "the input", scores, DType::f32);
  require(scores.dim() == 2, op, "the input must be (N, C), its shape is ", scores.shape());
  const std::int64_t n = scores.shape()[0], classes = scores.shape()[1];
  require(classes > 0, op, "the input has no classes, its shape is ", scores.shape());
  require(type_of_labels(labels.dtype()) != nullptr, op, "the labels must be i64, i32 or u8, they are ",
          labels.dtype());
  require_shape(op, "the label tensor", labels, {n});
  require_device(op, "the input", scores, "the labels", labels);
  return {{state_of(scores), n, classes, 1}, contiguous(scores), contiguous(labels), classes, ignore_index, reduction};
}

void require_loss_gradient(const char* op, const Tensor& dy, const Tensor& labels, Reduction reduction) {
  require_operand(op, "the labels", labels, "the loss' gradient", dy,
                  reduction == Reduction::none ? labels.shape() : Shape{});
}

runtime::KernelSpec label_loss_spec(const LabelLossProblem& p, const RowGeometry& g, const char* entry) {
  runtime::Defines defines = row_defines(p.device, g);
  defines.add({"LABEL", type_of_labels(p.labels.dtype())});
  return {"rowwise/label_loss.cl", entry, std::move(defines)};
}

LabelLossOutput make_label_loss_output(const LabelLossProblem& p) {
  const Device device = p.scores.device();
  const Tensor rows = empty({p.rows}, DType::f32, device);
  if (p.reduction == Reduction::none) return {rows, rows, ones({}, DType::f32, device)};
  return {rows, empty({}, DType::f32, device), empty({}, DType::f32, device)};
}

runtime::Kernel& total_kernel(const LabelLossProblem& p, const RowGeometry& g) {
  return runtime::resolve(p.device, label_loss_spec(p, total_row(p.device, g, p.rows), "label_loss_total"));
}

void launch_total(const LabelLossProblem& p, const RowGeometry& g, runtime::Kernel& kernel, const LabelLossOutput& to) {
  if (p.reduction == Reduction::none) return;
  runtime::launch(p.device, kernel, total_row(p.device, g, p.rows).range(1), in(to.rows), in(p.labels), out(to.loss),
                  out(to.scale), p.rows, p.ignore_index, p.reduction == Reduction::mean ? 1 : 0);
}

}  // namespace crisol::ops
