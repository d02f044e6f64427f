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
  /// Makes the model of a graph. `fused` is the node that ONNX Runtime runs in its place.
  Compiled(const OrtGraph* graph, const OrtNode* fused, Options options);

 private:
  /// Runs the model on the inputs of a run, and gives its outputs.
  void run(OrtKernelContext* context);

  Options options_;
  onnx::Model model_;
  OtherSizes other_sizes_;
  std::vector<std::string> inputs_;   ///< Names, in the order of the fused node. Empty for constants.
  std::vector<std::string> outputs_;  ///< The same for the outputs.
};

}  // namespace crisol::ort
