#include "provider.h"

#include <algorithm>
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
    return guarded([&] { static_cast<Provider*>(self)->claim(graph, info); });
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

namespace {

/// The model's names for the values of a fused node. The EPContext node in it has these values in the order of the
/// model's; ONNX Runtime may order those of the fused node in another way, and leaves out outputs that nobody uses.
std::vector<std::string> model_names(const std::vector<const OrtValueInfo*>& fused,
                                     const std::vector<std::string>& context,
                                     const std::vector<onnx::ValueInfo>& model) {
  if (context.size() != model.size())
    throw RuntimeError("[crisol] an EPContext node has " + std::to_string(context.size()) +
                       " inputs or outputs, and its data have " + std::to_string(model.size()));
  std::vector<std::string> names;
  for (const OrtValueInfo* value : fused) {
    const auto at = std::find(context.begin(), context.end(), name_of(value));
    names.push_back(at == context.end() ? "" : model[static_cast<std::size_t>(at - context.begin())].name);
  }
  return names;
}

}  // namespace

OrtNodeComputeInfo* Provider::compile(const OrtGraph* graph, const OrtNode* fused, OrtNode** context_node) const {
  GraphReader reader(graph);
  const onnx::ModelParts parts = std::move(reader).take();
  std::vector<std::string> inputs, outputs;
  if (const onnx::NodeParts& first = parts.graph.nodes.front(); is_context(first)) {
    onnx::Model model = load_context(first, graph, options_);
    inputs = model_names(inputs_of(fused), first.inputs, model.inputs());
    outputs = model_names(outputs_of(fused), first.outputs, model.outputs());
    return std::make_unique<Compiled>(std::move(model), fused, inputs, outputs, options_).release();
  }
  for (const OrtValueInfo* value : inputs_of(fused)) inputs.push_back(is_constant(value) ? "" : name_of(value));
  for (const OrtValueInfo* value : outputs_of(fused)) outputs.push_back(name_of(value));
  auto compiled = std::make_unique<Compiled>(onnx::load(parts, options_.device), fused, inputs, outputs, options_);
  if (options_.context.is_stored) *context_node = make_context(parts, graph, fused, options_.context);
  return compiled.release();
}

/// A graph that the importer cannot read at all stays with ONNX Runtime.
void Provider::claim(const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
  std::vector<std::vector<const OrtNode*>> sets;
  try {
    sets = claimed_sets(graph, options_, logger_);
  } catch (const Error& error) {
    logger_.log(level_warning, std::string("crisol leaves the whole graph: ") + error.what());
  }
  if (has_claimed_ && !sets.empty() && !can_share_graphs()) {
    logger_.log(level_warning, "crisol leaves a graph, because ONNX Runtime 1.23 gives sets in two graphs one name");
    return;
  }
  has_claimed_ = has_claimed_ || !sets.empty();
  for (const std::vector<const OrtNode*>& set : sets) {
    // The inputs of a stored model are known by their positions, so constants stay among them.
    const OrtNodeFusionOptions fusion{api_version, op_of(set.front()) != context_op};
    check(api().GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(info, set.data(), set.size(), &fusion));
  }
}

}  // namespace crisol::ort
