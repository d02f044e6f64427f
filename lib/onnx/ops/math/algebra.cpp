// Sums of products, determinants and running products.
#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/einsum.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/reduce.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

Run einsum_(Call& call) {
  call.check_counts(1, call.inputs());
  require(call.has("equation"), "onnx", "attribute equation is missing");
  const std::string equation = call.text("equation", "");
  return [=](const Data& in, Device device) {
    std::vector<Tensor> operands;
    for (const graph::Datum& operand : in) operands.push_back(operand.tensor(device));
    return Data{einsum(equation, operands)};
  };
}

Run det_(Call& call) {
  call.check_counts(1, 1);
  return [](const Data& in, Device device) { return Data{det(in[0].tensor(device))}; };
}

Run cum_prod(Call& call) {
  call.check_counts(2, 2);
  const bool excludes = call.integer("exclusive", 0) != 0, reverses = call.integer("reverse", 0) != 0;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const int axis = axis_of(number_of(in[1], "axis"), x.dim());
    Tensor y = cumprod(reverses ? x.flip(axis) : x, axis).to(x.dtype());
    if (excludes && y.size(axis) > 0) {
      Shape one = y.shape();
      one[axis] = 1;
      y = cat({ones(one, y.dtype(), device), y.narrow(axis, 0, y.size(axis) - 1)}, axis);
    }
    return Data{reverses ? y.flip(axis) : y};
  };
}

}  // namespace

std::vector<Row> algebra_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"CumProd", 26, newest, cum_prod},
      {"Det", 11, newest, det_},
      {"Einsum", 12, newest, einsum_},
  };
}

}  // namespace crisol::onnx
