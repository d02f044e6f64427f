#include "support/onnx_op.h"

#include "base/element_number.h"
#include "crisol/functions/compare.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

namespace crisol::testing {

namespace of = onnx_file;

std::vector<Tensor> run_op(const OnnxOp& op, const std::vector<Tensor>& inputs) {
  std::vector<std::string> names;
  of::GraphParts parts;
  NamedTensors given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.push_back(inputs[i].defined() ? "x" + std::to_string(i) : "");
    if (!inputs[i].defined()) continue;
    const of::Proto type = of::Proto().message(1, of::Proto().integer(1, onnx_element_number(inputs[i].dtype())));
    parts.inputs.push_back(of::value(names.back(), type));
    given.emplace_back(names.back(), inputs[i]);
  }
  for (const std::string& name : op.outputs)
    if (!name.empty())
      parts.outputs.push_back(of::value(name, of::Proto().message(1, of::Proto().integer(1, of::f32))));
  parts.nodes = {of::node(op.name, names, op.outputs, op.attributes, op.domain)};
  of::Proto file = of::model(of::graph(parts), op.version);
  if (!op.domain.empty()) file.message(8, of::operator_set(op.domain, op.domain_version));
  const TemporaryFolder folder;
  write_file(folder.path() + "/op.onnx", file.bytes());
  const onnx::Outputs outputs = onnx::load(folder.path() + "/op.onnx")(given);
  std::vector<Tensor> tensors;
  for (const std::string& name : op.outputs)
    if (!name.empty()) tensors.push_back(outputs[name]);
  return tensors;
}

doctest::String refusal_of_op(const OnnxOp& op, const std::vector<Tensor>& inputs) {
  return refusal(ErrorCode::invalid_argument, [&] { run_op(op, inputs); });
}

bool nearly(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && allclose(a, b, 1e-4, 1e-5); }

}  // namespace crisol::testing
