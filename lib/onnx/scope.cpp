#include "onnx/scope.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/op_names.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

constexpr std::size_t longest_name = 80, longest_prefix = 200;

std::string name_in_errors(const graph::Node& node) {
  return concat("[onnx] node ", node.name, " (", onnx_name(node), ")");
}

}  // namespace

Level::Level() { graph.names_in_errors = name_in_errors; }

int Level::add(graph::Value value) {
  graph.values.push_back(std::move(value));
  return static_cast<int>(graph.values.size()) - 1;
}

void Level::add_constant(int value, graph::Datum datum) {
  constants.emplace(value, graph.constants.size());
  graph.constants.emplace_back(value, std::move(datum));
}

int Level::capture(int value) {
  if (const auto known = captured.find(value); known != captured.end()) return known->second;
  const int own = add(outer->graph.values[static_cast<std::size_t>(value)]);
  captured.emplace(value, own);
  outer_of.emplace(own, value);
  return own;
}

void Level::take_part(int y, const std::vector<int>& from) {
  const std::vector<graph::Node>& nodes = outer->graph.nodes;
  const std::set<int> inputs(from.begin(), from.end());
  const auto is_one_of = [](const std::set<int>& values) {
    return [&values](int value) { return values.count(value) > 0; };
  };
  std::set<int> dependent = inputs;
  for (const graph::Node& node : nodes) {
    // Random numbers must stay as they were drawn, so their node is not copied.
    if (graph::is_random(node) || std::none_of(node.inputs.begin(), node.inputs.end(), is_one_of(dependent))) continue;
    dependent.insert(node.outputs.begin(), node.outputs.end());
    dependent.erase(graph::absent);
  }
  require(dependent.count(y) > 0, "onnx", "the value ",
          file::in_quotes(outer->graph.values[static_cast<std::size_t>(y)].name), " depends on none of the inputs");
  std::set<int> needed{y};
  std::vector<const graph::Node*> taken;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto makes = [&](int output) {
      return needed.count(output) > 0 && dependent.count(output) > 0 && inputs.count(output) == 0;
    };
    if (std::none_of(node->outputs.begin(), node->outputs.end(), makes)) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    taken.push_back(&*node);
  }
  std::map<int, int> own{{graph::absent, graph::absent}};
  const auto copy = [&](int value) { return own[value] = add(outer->graph.values[static_cast<std::size_t>(value)]); };
  for (const int input : from) graph.inputs.push_back(copy(input));
  for (auto node = taken.rbegin(); node != taken.rend(); ++node) {
    graph::Node& added = graph.nodes.emplace_back(**node);
    for (int& input : added.inputs) {
      const auto at = own.find(input);
      input = at != own.end() ? at->second : capture(input);
    }
    for (int& output : added.outputs)
      output = inputs.count(output) > 0 || output == graph::absent ? graph::absent : copy(output);
  }
  graph.outputs.push_back(own.at(y));
}

std::optional<int> Level::in_model(int value) const {
  if (outer == nullptr) return value;
  const auto at = outer_of.find(value);
  if (at == outer_of.end()) return {};
  return outer->in_model(at->second);
}

std::optional<int> NameScope::find(std::string_view name) const {
  if (const auto at = values.find(name); at != values.end()) return at->second;
  if (outer == nullptr) return {};
  const auto around = outer->find(name);
  if (!around || *around == graph::absent) return around;
  return level->capture(*around);
}

std::string NameScope::full_name(std::string_view name) const {
  return prefix + std::string(name.substr(0, longest_name));
}

std::string NameScope::inner_prefix(std::string_view name) const {
  return prefix.size() > longest_prefix ? prefix : concat(full_name(name), '/');
}

graph::Value NameScope::declared(std::string_view name) const {
  const auto at = types.find(name);
  return at == types.end() ? graph::Value() : declared_by(*at->second);
}

graph::Value declared_by(const file::Type& type) {
  try {
    return value_of_type(type);
  } catch (const Error&) {
    return {};  // The value's node is refused, or gives another type.
  }
}

void add_declared(const graph::Value& declared, graph::Value& value) {
  if (declared.is_sequence != value.is_sequence) return;
  if (!value.dtype) value.dtype = declared.dtype, value.small = declared.small;
  if (!value.shape && declared.shape) value.shape.emplace(declared.shape->size());
}

}  // namespace crisol::onnx
