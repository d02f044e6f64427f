#include "graph/ops/elements.h"

#include "functions/fuse/expr_node.h"
#include "functions/pointwise/pointwise.h"
#include "graph/ops/runs.h"

namespace crisol::graph {

namespace {

/// Whether the kernels of other nodes may compute the row too.
bool has_formula(const ops::PointwiseRow& row) {
  using Rule = ops::RowRule;
  return row.rule == Rule::any || row.rule == Rule::number || row.rule == Rule::floating || row.rule == Rule::channel;
}

}  // namespace

const ops::PointwiseRow* row_of(const Node& node) {
  const auto row = node.attributes.find("row");
  return row == node.attributes.end() ? nullptr : std::get<const ops::PointwiseRow*>(row->second);
}

std::vector<Scalar> scalars_of(const Node& node) {
  const ops::PointwiseRow& row = *row_of(node);
  std::vector<Scalar> scalars;
  for (std::size_t i = 0; i < row.scalar_count; ++i) {
    const Attribute& number = node.attributes.at(row.scalars[i]);
    const auto* whole = std::get_if<std::int64_t>(&number);
    scalars.push_back(whole != nullptr ? Scalar(*whole) : Scalar(std::get<double>(number)));
  }
  return scalars;
}

Run run_of_row(const ops::PointwiseRow& of, const std::vector<Scalar>& scalars) {
  const ops::PointwiseRow* row = &of;
  Run run([row, scalars](const Data& in, Device device) {
    const std::vector<Tensor> tensors = tensors_of(in, device);
    const std::vector<Operand> operands(tensors.begin(), tensors.end());
    return Data{autograd::pointwise(*row, operands, scalars)};
  });
  if (has_formula(*row))
    run.formula = [row, scalars](std::span<const Expr> in) {
      std::vector<Expr> operands(in.begin(), in.end());
      operands.insert(operands.end(), scalars.begin(), scalars.end());
      return detail::apply(*row, operands);
    };
  return run;
}

Run run_of_elements(const Node& node) { return run_of_row(*row_of(node), scalars_of(node)); }

}  // namespace crisol::graph
