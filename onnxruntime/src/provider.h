// The provider of one session.
#pragma once

#include "api.h"
#include "options.h"

namespace crisol::ort {

class Provider : public OrtEp {
 public:
  Provider(Options options, const OrtLogger* logger);

 private:
  void claim(const OrtGraph* graph, OrtEpGraphSupportInfo* info) const;

  Options options_;
  Logger logger_;
};

}  // namespace crisol::ort
