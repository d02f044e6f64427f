// A set of nodes that became one node: a crisol model that ONNX Runtime calls.
#pragma once

#include <string>
#include <vector>

#include "api.h"
#include "crisol/onnx_parts.h"
#include "options.h"
#include "other_sizes.h"

namespace crisol::ort {

class Compiled : public OrtNodeComputeInfo {
 public:
  /// Takes the model of a graph. `fused` is the node that ONNX Runtime runs in its place. `inputs` and `outputs` are
  /// the model's names for this node's. An empty name stands for a constant that the model has.
  Compiled(onnx::Model model, const OrtNode* fused, std::vector<std::string> inputs, std::vector<std::string> outputs,
           Options options);

 private:
  /// Runs the model on the inputs of a run, and gives its outputs.
  void run(OrtKernelContext* context);

  Options options_;
  onnx::Model model_;
  OtherSizes other_sizes_;
  std::vector<std::string> inputs_, outputs_;
};

}  // namespace crisol::ort
