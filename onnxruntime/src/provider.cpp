#include "provider.h"

#include <memory>

#include "claim.h"
#include "compiled.h"
#include "crisol/error.h"

namespace crisol::ort {

Provider::Provider(Options options, const OrtLogger* logger) : OrtEp{}, options_(options), logger_(logger) {
  version = api_version;
  GetName = [](const OrtEp*) { return provider_name; };
  GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    return guarded([&] { static_cast<const Provider*>(self)->claim(graph, info); });
  };
  Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes, std::size_t count,
               OrtNodeComputeInfo** computes, OrtNode**) {
    return guarded([&] {
      for (std::size_t i = 0; i < count; ++i)
        computes[i] =
            std::make_unique<Compiled>(graphs[i], fused_nodes[i], static_cast<Provider*>(self)->options_).release();
    });
  };
  ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** computes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) delete static_cast<Compiled*>(computes[i]);
  };
}

/// A graph that the importer cannot read at all stays with ONNX Runtime.
void Provider::claim(const OrtGraph* graph, OrtEpGraphSupportInfo* info) const {
  std::vector<std::vector<const OrtNode*>> sets;
  try {
    sets = claimed_sets(graph, options_.device, logger_);
  } catch (const Error& error) {
    logger_.log(level_warning, std::string("crisol leaves the whole graph: ") + error.what());
  }
  const OrtNodeFusionOptions fusion{api_version, true};
  for (const std::vector<const OrtNode*>& set : sets)
    check(api().GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(info, set.data(), set.size(), &fusion));
}

}  // namespace crisol::ort
