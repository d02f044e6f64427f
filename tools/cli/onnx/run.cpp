// `crisol onnx run`
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/onnx/work.h"
#include "crisol/grad_mode.h"
#include "crisol/io/safetensors.h"

namespace crisol::cli::onnx_command {

std::string in_quotes(const std::string& name) {
  return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string describe(const std::string& name, const Tensor& tensor) {
  return concat(in_quotes(name), ": ", tensor.dtype(), ' ', tensor.shape());
}

namespace {

/// What the numbers or the columns of an output stand for.
std::string meaning(const std::vector<std::string>& texts) {
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i) list += concat(i == 0 ? "; " : ", ", i, ' ', in_quotes(texts[i]));
  return list;
}

}  // namespace

int run_model(const RunOptions& options) {
  const onnx::Model model = onnx::load(options.model);
  const NoGrad no_grad;
  const NamedTensors outputs = model(io::load_safetensors(options.inputs)).tensors();
  io::save_safetensors(options.outputs, outputs);
  for (const auto& [name, tensor] : outputs) std::cout << describe(name, tensor) << meaning(model.texts(name)) << '\n';
  return 0;
}

}  // namespace crisol::cli::onnx_command
