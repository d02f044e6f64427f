// `crisol onnx info`
#include <iostream>

#include "cli/onnx/work.h"

namespace crisol::cli::onnx_command {

int print_info(const InfoOptions& options) {
  if (options.optimized) {
    const onnx::Model model = onnx::load(options.model);
    std::cout << model.optimized(inputs_of(model, options.inputs));
    return 0;
  }
  if (!options.inputs.file.empty() || !options.inputs.shapes.empty())
    throw bench::UsageError("--shape and --inputs need --optimized");
  const onnx::ModelInfo info = onnx::read_info(options.model);
  if (options.json)
    std::cout << to_json(info) << '\n';
  else
    std::cout << info;
  return 0;
}

}  // namespace crisol::cli::onnx_command
