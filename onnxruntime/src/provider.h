// The provider of one session.
#pragma once

#include "api.h"
#include "options.h"

namespace crisol::ort {

class Provider : public OrtEp {
 public:
  Provider(Options options, const OrtLogger* logger);

 private:
  /// Makes what computes a set of nodes. If the session stores its model, also makes the node for it.
  OrtNodeComputeInfo* compile(const OrtGraph* graph, const OrtNode* fused, OrtNode** context_node) const;
  void claim(const OrtGraph* graph, OrtEpGraphSupportInfo* info) const;

  Options options_;
  Logger logger_;
};

}  // namespace crisol::ort
