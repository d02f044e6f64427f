// Sums of products, and determinants.
#include "base/text.h"
#include "crisol/functions/einsum.h"
#include "crisol/functions/linalg.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

Run einsum_(Call& call) {
  call.check_counts(1, call.inputs());
  call.gives_type_of(0);
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
  call.gives_type_of(0);
  return [](const Data& in, Device device) { return Data{det(in[0].tensor(device))}; };
}

}  // namespace

std::vector<Row> algebra_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"Det", 11, newest, det_},
      {"Einsum", 12, newest, einsum_},
  };
}

}  // namespace crisol::onnx
