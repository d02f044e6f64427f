#include "claim.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "context.h"
#include "graph_parts.h"

namespace crisol::ort {

namespace {

// A set costs a submission and copies of its inputs and outputs. A product is worth that, and so are several small ops.
constexpr std::size_t least_nodes = 5;
constexpr const char* heavy_ops[] = {"Attention",
                                     "Conv",
                                     "ConvTranspose",
                                     "DeformConv",
                                     "Einsum",
                                     "FusedConv",
                                     "FusedGemm",
                                     "FusedMatMul",
                                     "Gemm",
                                     "GRU",
                                     "LSTM",
                                     "MatMul",
                                     "MatMulNBits",
                                     "MultiHeadAttention",
                                     "RNN",
                                     "SVMClassifier",
                                     "SVMRegressor",
                                     "TreeEnsemble",
                                     "TreeEnsembleClassifier",
                                     "TreeEnsembleRegressor"};

bool is_heavy(const std::string& op) {
  return std::find(std::begin(heavy_ops), std::end(heavy_ops), op) != std::end(heavy_ops);
}

/// Whether the node draws random numbers from a seed. crisol draws the same numbers in every run, and ONNX Runtime goes
/// on from run to run.
bool draws_from_seed(const onnx::NodeParts& node) {
  constexpr const char* ops[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                 "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  return node.domain.empty() && std::find(std::begin(ops), std::end(ops), node.op) != std::end(ops) &&
         std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const onnx::AttributeParts& one) { return one.name == "seed"; });
}

/// The whole number that an input always has, or nothing.
std::optional<std::int64_t> constant_of(const std::vector<const OrtValueInfo*>& inputs, std::size_t i) {
  if (i >= inputs.size() || !is_constant(inputs[i])) return {};
  const auto* value = get<const OrtValue*>(api().ValueInfo_GetInitializerValue, inputs[i]);
  const Layout layout = layout_of(value);
  if (layout.type == type_of_i64) return *static_cast<const std::int64_t*>(data_of(value));
  if (layout.type == type_of_i32) return *static_cast<const std::int32_t*>(data_of(value));
  return {};
}

/// Whether a run may refuse a Fourier transform, because its length is not known or is too large. ONNX Runtime computes
/// all lengths.
bool may_be_too_long(const OrtNode* node, const onnx::NodeParts& parts) {
  constexpr std::int64_t most = 8192;
  if (!parts.domain.empty() || parts.op != "DFT") return false;
  const std::vector<const OrtValueInfo*> inputs = inputs_of(node);
  const std::vector<std::int64_t> sizes = sizes_of(inputs.at(0));
  std::int64_t axis = constant_of(inputs, 2).value_or(-2);
  for (const onnx::AttributeParts& one : parts.attributes)  // Before version 20.
    if (one.name == "axis") axis = std::get<std::int64_t>(one.value);
  const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(sizes.size()) : axis;
  const bool has_size = place >= 0 && place < static_cast<std::int64_t>(sizes.size());
  const bool has_length = inputs.size() > 1 && inputs[1] != nullptr;
  const std::int64_t length = has_length ? constant_of(inputs, 1).value_or(-1)
                              : has_size ? sizes[static_cast<std::size_t>(place)]
                                         : -1;
  return length < 1 || length > most;
}

/// Why each node is refused, or an empty text.
std::vector<std::string> refusals(const std::vector<const OrtNode*>& nodes, const onnx::ModelParts& parts,
                                  Device device) {
  std::vector<std::string> reasons(parts.graph.nodes.size());
  for (onnx::RefusedNode& refused : onnx::refused_nodes(parts, device))
    reasons[refused.node] = std::move(refused.reason);
  for (std::size_t i = 0; i < reasons.size(); ++i)
    if (can_share_graphs() && draws_from_seed(parts.graph.nodes[i]))
      reasons[i] = "ONNX Runtime draws other numbers in each run";
    else if (may_be_too_long(nodes[i], parts.graph.nodes[i]))
      reasons[i] = "a Fourier transform of unknown length, or of more than 8192";
  return reasons;
}

/// The nodes in sets. Along a path, a node's number grows where the path goes from a claimed node to a node that is
/// left, or back. So a path between claimed nodes of one number has no node that is left. Of the nodes with one number,
/// those that exchange values are a set.
std::vector<std::vector<std::size_t>> sets_of(const std::vector<const OrtNode*>& nodes,
                                              const std::vector<std::string>& reasons) {
  std::map<std::string, std::size_t> source;  // From a value's name to the node that makes it.
  std::vector<int> number(nodes.size());
  std::vector<std::size_t> leader(nodes.size());
  std::iota(leader.begin(), leader.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (leader[i] != i) i = leader[i] = leader[leader[i]];
    return i;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::size_t> before;
    for (const OrtValueInfo* value : used_by(nodes[i]))
      if (const auto at = source.find(name_of(value)); at != source.end()) before.push_back(at->second);
    for (const std::size_t k : before)
      number[i] = std::max(number[i], number[k] + (reasons[k].empty() == reasons[i].empty() ? 0 : 1));
    for (const std::size_t k : before)
      if (number[k] == number[i]) leader[find(k)] = find(i);
    for (const OrtValueInfo* value : outputs_of(nodes[i]))
      if (value != nullptr) source[name_of(value)] = i;
  }
  std::map<std::size_t, std::vector<std::size_t>> by_leader;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (reasons[i].empty()) by_leader[find(i)].push_back(i);
  std::vector<std::vector<std::size_t>> sets;
  for (auto& [leading, set] : by_leader) sets.push_back(std::move(set));
  return sets;
}

/// The nodes of a set whose graphs use a value that no node of the set makes or has as an input.
std::vector<std::size_t> nodes_with_hidden_values(const std::vector<const OrtNode*>& nodes,
                                                  const std::vector<std::size_t>& set) {
  std::set<std::string> seen;
  for (const std::size_t i : set) {
    for (const OrtValueInfo* value : inputs_of(nodes[i])) seen.insert(name_of(value));
    for (const OrtValueInfo* value : outputs_of(nodes[i])) seen.insert(name_of(value));
  }
  std::vector<std::size_t> found;
  for (const std::size_t i : set) {
    const std::vector<const OrtValueInfo*> used = used_by(nodes[i]);
    if (std::any_of(used.begin(), used.end(),
                    [&](const OrtValueInfo* value) { return !is_constant(value) && seen.count(name_of(value)) == 0; }))
      found.push_back(i);
  }
  return found;
}

/// Whether nodes of the set use a value that is not the same in all runs and that no node of the set makes.
bool has_inputs(const std::vector<const OrtNode*>& nodes, const std::vector<std::size_t>& set) {
  std::set<std::string> made;
  for (const std::size_t i : set)
    for (const OrtValueInfo* value : outputs_of(nodes[i])) made.insert(name_of(value));
  return std::any_of(set.begin(), set.end(), [&](std::size_t i) {
    const std::vector<const OrtValueInfo*> used = used_by(nodes[i]);
    return std::any_of(used.begin(), used.end(), [&](const OrtValueInfo* value) {
      return value != nullptr && !is_constant(value) && made.count(name_of(value)) == 0;
    });
  });
}

/// The sets that ONNX Runtime gives all values. Adds the reasons of nodes that no set can take.
std::vector<std::vector<std::size_t>> complete_sets(const std::vector<const OrtNode*>& nodes,
                                                    std::vector<std::string>& reasons) {
  std::vector<std::vector<std::size_t>> sets = sets_of(nodes, reasons);
  if (gives_values_of_inner_graphs()) return sets;
  std::vector<std::size_t> left;
  do {
    left.clear();
    for (const std::vector<std::size_t>& set : sets)
      for (const std::size_t i : nodes_with_hidden_values(nodes, set)) left.push_back(i);
    for (const std::size_t i : left) reasons[i] = "this version of ONNX Runtime does not tell what its graphs use";
    if (!left.empty()) sets = sets_of(nodes, reasons);
  } while (!left.empty());
  return sets;
}

}  // namespace

std::vector<std::vector<const OrtNode*>> claimed_sets(const OrtGraph* graph, const Options& options,
                                                      const Logger& logger) {
  const std::vector<const OrtNode*> nodes = nodes_of(graph);
  if (nodes.empty()) return {};
  GraphReader reader(graph);
  const onnx::ModelParts parts = std::move(reader).take();
  // The graphs within a node come first. If no node of such a graph is refused, the whole outer node may be claimed
  // later. A stored model has EPContext nodes in its own graph alone. Version 1.23 does not tell where a graph is, but
  // a branch has no inputs.
  const bool is_within = get<const OrtNode*>(api().Graph_GetParentNode, graph) != nullptr;
  if (!can_share_graphs() && (is_within || parts.graph.inputs.empty())) return {};
  std::vector<std::string> reasons = refusals(nodes, parts, options.device);
  const bool is_taken = std::all_of(reasons.begin(), reasons.end(), [](const std::string& one) { return one.empty(); });
  if (is_within && (is_taken || options.context.is_stored || !names_sets_of_inner_graphs())) return {};
  const std::vector<std::vector<std::size_t>> sets = complete_sets(nodes, reasons);
  const auto tell = [&](std::size_t i, const std::string& reason) {
    logger.log(level_verbose, "crisol leaves node " + std::to_string(i) + " \"" +
                                  get<const char*>(api().Node_GetName, nodes[i]) + "\" (" + op_of(nodes[i]) +
                                  "): " + reason);
  };
  std::vector<std::vector<const OrtNode*>> claimed;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (is_context(parts.graph.nodes[i]))
      claimed.push_back({nodes[i]});
    else if (!reasons[i].empty())
      tell(i, reasons[i]);
  for (const std::vector<std::size_t>& set : sets) {
    // ONNX Runtime replaces ops that its CPU does not have, and then does not store the model.
    const bool is_worth = options.context.is_stored || set.size() >= std::min(least_nodes, nodes.size()) ||
                          std::any_of(set.begin(), set.end(), [&](std::size_t i) { return is_heavy(op_of(nodes[i])); });
    const bool can_be_stored = !options.context.is_stored || has_inputs(nodes, set);
    if (!is_worth || !can_be_stored) {
      for (const std::size_t i : set)
        tell(i, can_be_stored ? "too little work between nodes that are left" : "an EPContext node needs an input");
      continue;
    }
    std::vector<const OrtNode*>& own = claimed.emplace_back();
    for (const std::size_t i : set) own.push_back(nodes[i]);
  }
  const bool has_whole_graph = claimed.size() == 1 && claimed[0].size() == nodes.size();
  if (!claimed.empty() && !has_whole_graph && !can_share_graphs()) {
    logger.log(level_warning,
               "crisol leaves the whole graph, because ONNX Runtime 1.23 cannot share one with a plugin");
    return {};
  }
  return claimed;
}

}  // namespace crisol::ort
