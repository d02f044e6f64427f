#include "provider.h"

#include <memory>

#include "claim.h"
#include "compiled.h"
#include "context.h"
#include "crisol/error.h"
#include "graph_parts.h"

namespace crisol::ort {

Provider::Provider(Options options, const OrtLogger* logger, std::shared_ptr<const void> owner)
    : OrtEp{}, options_(std::move(options)), logger_(logger), owner_(std::move(owner)) {
  version = api_version;
  GetName = [](const OrtEp*) { return provider_name; };
  GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    return guarded([&] { static_cast<const Provider*>(self)->claim(graph, info); });
  };
  Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes, std::size_t count,
               OrtNodeComputeInfo** computes, OrtNode** context_nodes) {
    return guarded([&] {
      for (std::size_t i = 0; i < count; ++i)
        computes[i] = static_cast<const Provider*>(self)->compile(graphs[i], fused_nodes[i], &context_nodes[i]);
    });
  };
  ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** computes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) delete static_cast<Compiled*>(computes[i]);
  };
}

OrtNodeComputeInfo* Provider::compile(const OrtGraph* graph, const OrtNode* fused, OrtNode** context_node) const {
  GraphReader reader(graph);
  const onnx::ModelParts parts = std::move(reader).take();
  std::vector<std::string> inputs, outputs;
  if (is_context(parts.graph.nodes.front())) {
    onnx::Model model = load_context(parts.graph.nodes.front(), graph, options_);
    for (const onnx::ValueInfo& one : model.inputs()) inputs.push_back(one.name);
    for (const onnx::ValueInfo& one : model.outputs()) outputs.push_back(one.name);
    return std::make_unique<Compiled>(std::move(model), fused, inputs, outputs, options_).release();
  }
  for (const OrtValueInfo* value : inputs_of(fused)) inputs.push_back(is_constant(value) ? "" : name_of(value));
  for (const OrtValueInfo* value : outputs_of(fused)) outputs.push_back(name_of(value));
  auto compiled = std::make_unique<Compiled>(onnx::load(parts, options_.device), fused, inputs, outputs, options_);
  if (options_.context.is_stored) *context_node = make_context(parts, graph, fused, options_.context);
  return compiled.release();
}

/// A graph that the importer cannot read at all stays with ONNX Runtime.
void Provider::claim(const OrtGraph* graph, OrtEpGraphSupportInfo* info) const {
  std::vector<std::vector<const OrtNode*>> sets;
  try {
    sets = claimed_sets(graph, options_, logger_);
  } catch (const Error& error) {
    logger_.log(level_warning, std::string("crisol leaves the whole graph: ") + error.what());
  }
  for (const std::vector<const OrtNode*>& set : sets) {
    // The inputs of a stored model are known by their positions, so constants stay among them.
    const OrtNodeFusionOptions fusion{api_version, op_of(set.front()) != context_op};
    check(api().GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(info, set.data(), set.size(), &fusion));
  }
}

}  // namespace crisol::ort
