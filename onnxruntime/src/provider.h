// The provider of one session.
#pragma once

#include <memory>

#include "api.h"
#include "options.h"

namespace crisol::ort {

class Provider : public OrtEp {
 public:
  /// Keeps `owner`, which ONNX Runtime calls to release the provider.
  Provider(Options options, const OrtLogger* logger, std::shared_ptr<const void> owner);

 private:
  /// Makes what computes a set of nodes. If the session stores its model, also makes the node for it.
  OrtNodeComputeInfo* compile(const OrtGraph* graph, const OrtNode* fused, OrtNode** context_node) const;
  void claim(const OrtGraph* graph, OrtEpGraphSupportInfo* info);

  Options options_;
  Logger logger_;
  bool has_claimed_ = false;  ///< Whether a set of nodes of the session was claimed.
  std::shared_ptr<const void> owner_;
};

}  // namespace crisol::ort
