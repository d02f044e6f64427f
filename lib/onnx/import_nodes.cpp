// Imports nodes: their attributes, the table rows that run them, functions and bodies.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "graph/spec.h"
#include "onnx/importer.h"
#include "onnx/node_order.h"
#include "onnx/ops/op_names.h"
#include "onnx/ops/table.h"
#include "runtime/memory/fault_flag.h"

namespace crisol::onnx {

using file::in_quotes;
using graph::Datum;
using graph::Value;

namespace {

constexpr int deepest_call = 50;

/// The number of nodes and values in a graph and in the bodies of its nodes.
std::size_t parts_of(const graph::Graph& graph) {
  std::size_t parts = graph.nodes.size() + graph.values.size();
  for (const graph::Node& node : graph.nodes)
    for (const graph::Graph& body : node.bodies) parts += parts_of(body);
  return parts;
}

std::string op_of(const file::Node& node) {
  constexpr std::size_t longest = 80;
  return concat(node.domain.substr(0, longest), node.domain.empty() ? "" : ".", node.op.substr(0, longest));
}

bool has_known_type(const Value& value) { return value.dtype || value.is_sequence || value.is_optional; }

/// Ops choose functions by the types of their inputs, so a builder must tell the types of all outputs if those of the
/// inputs are known. Only tests check this.
void check_types(const file::Node& node, const std::vector<int>& inputs, const Values& known, const Values& outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != graph::absent && !has_known_type(known[i])) return;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    require(node.outputs[k].empty() || has_known_type(outputs[k]), "onnx", "the builder of ", op_of(node),
            " does not tell the type of output ", k);
}

}  // namespace

/// Makes the bodies of one node.
class Importer::Bodies final : public Call::Context {
 public:
  Bodies(Importer& importer, const NameScope& scope, const file::Node& node, const std::string& name)
      : importer_(importer), scope_(scope), node_(node), name_(name) {}

  Datum load(const file::TensorProto& tensor) override { return importer_.tensors_.shared(tensor); }
  graph::Texts texts_of(const file::TensorProto& tensor) override { return importer_.tensors_.texts_of(tensor); }
  Datum stored(int place) override { return importer_.stored(*scope_.level, place); }
  Value declared(std::size_t output) override { return importer_.kept(scope_.declared(node_.outputs[output])); }

  Values add_body(const file::Graph& graph, const Values& inputs) override {
    levels_.push_back(std::make_unique<Level>());
    return importer_.add_body(scope_, *levels_.back(), name_, graph, inputs);
  }

  void add_part(const std::string& y, const std::vector<std::string>& from) override {
    const auto find = [&](const std::string& name) {
      const auto value = scope_.find(name);
      require(value && *value != graph::absent, "onnx", "nothing before the node makes the value ", in_quotes(name));
      return *value;
    };
    std::vector<int> inputs;
    inputs.reserve(from.size());
    for (const std::string& name : from) inputs.push_back(find(name));
    importer_.charge(parts_of(scope_.level->graph));  // Parts within parts grow fast.
    levels_.push_back(std::make_unique<Level>());
    levels_.back()->outer = scope_.level;
    levels_.back()->take_part(find(y), inputs);
  }

  const std::vector<std::vector<std::int64_t>>& weights_of(std::string_view domain, std::string_view op) override {
    return importer_.weights_of(domain, op);
  }

  /// Gives the bodies to their node, and adds the values that they capture to the node's inputs.
  void move_to(graph::Node& node) {
    std::set<int> captured;
    for (const auto& level : levels_)
      for (const auto& [outer, own] : level->captured) captured.insert(outer);
    for (const int outer : captured) {
      node.inputs.push_back(outer);
      for (const auto& level : levels_) level->graph.inputs.push_back(level->capture(outer));
    }
    node.captures = captured.size();
    for (const auto& level : levels_) node.bodies.push_back(std::move(level->graph));
  }

 private:
  Importer& importer_;
  const NameScope& scope_;
  const file::Node& node_;
  const std::string& name_;
  std::vector<std::unique_ptr<Level>> levels_;
};

void Importer::add_nodes(NameScope& scope, const std::vector<file::Node>& nodes) {
  for (const std::size_t i : order_of(nodes)) {
    const file::Node& node = nodes[i];
    const std::string name =
        in_quotes(node.name.empty() ? scope.full_name(concat('#', i)) : scope.full_name(node.name));
    if (scope.calls > 0) charge(1 + node.inputs.size() + node.outputs.size());
    std::vector<int> inputs;
    inputs.reserve(node.inputs.size());
    for (const std::string_view input : node.inputs)
      inputs.push_back(input.empty() ? graph::absent : find_value(scope, input, "node ", name));
    const Faults before{problems_.added(), narrowed_.size()};
    const std::vector<int> outputs = add_node(scope, node, name, inputs);
    note_if_refused(scope, node, i, before);
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (!node.outputs[k].empty()) define(scope, node.outputs[k], outputs[k]);
  }
}

std::vector<Call::Attribute> Importer::attributes_of(const NameScope& scope, const file::Node& node) {
  std::vector<Call::Attribute> attributes;
  for (const file::Attribute& attribute : node.attributes) {
    if (scope.calls > 0) charge(1 + attribute.integers.size() + attribute.floats.size());
    if (attribute.reference.empty()) {
      attributes.push_back({attribute.name, &attribute});
      continue;
    }
    if (scope.function == nullptr) continue;
    const auto is_meant = [&](const auto& a) { return a.name == attribute.reference; };
    const auto given = std::find_if(scope.arguments->begin(), scope.arguments->end(), is_meant);
    if (given != scope.arguments->end()) {
      attributes.push_back({attribute.name, given->value});
      continue;
    }
    const auto& defaults = scope.function->default_attributes;
    const auto usual = std::find_if(defaults.begin(), defaults.end(), is_meant);
    if (usual != defaults.end()) attributes.push_back({attribute.name, &*usual});
  }
  return attributes;
}

std::vector<int> Importer::add_node(const NameScope& scope, const file::Node& node, const std::string& name,
                                    const std::vector<int>& inputs) {
  std::vector<Call::Attribute> attributes = attributes_of(scope, node);
  const auto function = functions_.find({node.domain, node.op, node.overload});
  if (function != functions_.end()) return inline_function(scope, node, *function->second, attributes, name, inputs);
  if (narrows_) narrow(attributes, name);
  Values outputs(node.outputs.size());
  std::optional<Datum> constant;
  graph::Node made;
  made.name = name;
  if (node.domain.empty()) made.op = op_of_name(node.op);
  if (made.op == GraphOp::other) made.other_op = op_of(node);
  made.inputs = inputs;
  try {
    if (node.domain.empty() && node.op == "Constant") {
      require(node.outputs.size() == 1 && !node.outputs[0].empty(), "onnx", "a constant has one output");
      constant = tensors_.constant(attributes);
      outputs[0] = value_of(*constant);
      outputs[0].texts = tensors_.texts_of_constant(attributes);
      outputs[0].small = Tensors::small_type_of_constant(attributes);
    } else {
      build(scope, node, attributes, made, outputs);
    }
  } catch (const Error& error) {
    problems_.add_from(error, file::printable(onnx_name(made)), name);
  }
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    made.outputs.push_back(graph::absent);
    if (node.outputs[k].empty()) continue;
    outputs[k].name = scope.full_name(node.outputs[k]);
    add_declared(kept(scope.declared(node.outputs[k])), outputs[k]);
    made.outputs.back() = scope.level->add(std::move(outputs[k]));
  }
  std::vector<int> places = made.outputs;
  if (constant) scope.level->add_constant(places[0], std::move(*constant));
  if (made.run || made.control) scope.level->graph.nodes.push_back(std::move(made));
  return places;
}

void Importer::build(const NameScope& scope, const file::Node& node, const std::vector<Call::Attribute>& attributes,
                     graph::Node& made, Values& outputs) {
  const auto set = std::find_if(scope.operator_sets->begin(), scope.operator_sets->end(),
                                [&](const auto& one) { return one.domain == node.domain; });
  const std::int64_t version = set == scope.operator_sets->end() ? 0 : set->version;
  const Row* row = find_row(node.domain, node.op, version);
  if (row == nullptr) {
    const std::string covered = versions_of(node.domain, node.op);
    problems_.add(concat(file::printable(onnx_name(made)),
                         version == 0 ? " of no imported version" : concat(" of version ", version),
                         covered.empty() ? "" : concat(" (versions ", covered, " are supported)")),
                  made.name);
    return;
  }
  Values inputs;
  for (const int input : made.inputs) {
    inputs.emplace_back();
    if (input == graph::absent) continue;
    const Value& value = scope.level->graph.values[static_cast<std::size_t>(input)];
    inputs.back() = {"", value.dtype, value.shape, value.is_sequence, value.is_optional, value.texts, value.small};
  }
  Bodies bodies(*this, scope, node, made.name);
  Call call(node, attributes, version, made.inputs, std::move(inputs), bodies);
  graph::Run run = row->build(call);
  // A pass removes casts to the same type. But where numbers stand for texts, they change.
  if (call.is_different() || (made.op == GraphOp::cast && call.input(0).texts)) {
    made.op = GraphOp::other;
    made.other_op = op_of(node);
  }
  const bool moves = moves_elements(node);
  const graph::Texts moved = moves ? call.texts_of_input() : nullptr;
  if (moves) call.takes_small_types();
  call.check_all_known();
  mark_untrained(*scope.level, node, made.inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    outputs[k] = std::move(call.output(k));
    if (moved) outputs[k].texts = moved;
    if (moves) outputs[k].small = call.input(0).small;
  }
  if (graph::checks_graphs && run) check_types(node, made.inputs, call.known_inputs(), outputs);
  bodies.move_to(made);
  made.attributes = std::move(call.described());
  if (made.op != GraphOp::other)
    made.fault = runtime::fault_number(onnx_name(made.op).data(), runtime::FaultKind::index);
  made.run = std::move(run);
  made.control = std::move(call.control());
}

std::vector<int> Importer::inline_function(const NameScope& outer, const file::Node& node,
                                           const file::Function& function,
                                           const std::vector<Call::Attribute>& arguments, const std::string& name,
                                           const std::vector<int>& inputs) {
  require_io(outer.calls < deepest_call, "functions call each other more than ", deepest_call, " deep: ", name);
  require_io(node.outputs.size() <= function.outputs.size(), "node ", name, " has ", node.outputs.size(),
             " outputs, the function ", in_quotes(function.name), " gives ", function.outputs.size());
  require_io(inputs.size() <= function.inputs.size(), "node ", name, " has ", inputs.size(), " inputs, the function ",
             in_quotes(function.name), " takes ", function.inputs.size());
  charge(5 + function.inputs.size() + function.outputs.size());  // A call needs more memory and time than a node.
  NameScope scope{.level = outer.level,
                  .prefix = outer.inner_prefix(function.name),
                  .operator_sets = &function.operator_sets,
                  .function = &function,
                  .arguments = &arguments,
                  .calls = outer.calls + 1,
                  .bodies = outer.bodies};
  for (std::size_t i = 0; i < function.inputs.size(); ++i)
    define(scope, function.inputs[i], i < inputs.size() ? inputs[i] : graph::absent);
  add_nodes(scope, function.nodes);
  std::vector<int> outputs;
  for (const std::string_view output : function.outputs)
    outputs.push_back(find_value(scope, output, "function ", in_quotes(function.name)));
  return outputs;
}

const std::vector<std::vector<std::int64_t>>& Importer::weights_of(std::string_view domain, std::string_view op) {
  const auto [found, is_new] = weights_of_.try_emplace({domain, op});
  if (!is_new) return found->second;
  const file::Graph& graph = file_.model().graph;
  std::map<std::string_view, const file::TensorProto*> tensors;
  for (const file::TensorProto& tensor : graph.initializers) tensors.emplace(tensor.name, &tensor);
  for (const file::Node& node : graph.nodes) {
    if (node.domain != domain || node.op != op || node.inputs.size() < 2) continue;
    if (const auto weight = tensors.find(node.inputs[1]); weight != tensors.end())
      found->second.push_back(weight->second->sizes);
  }
  return found->second;
}

void Importer::mark_untrained(const Level& level, const file::Node& node, const std::vector<int>& inputs) {
  struct Inputs {
    const char* op;
    std::size_t first, last;
  };
  constexpr Inputs all[] = {{"BatchNormalization", 3, 4}, {"Resize", 1, 2}, {"Upsample", 1, 1}};
  for (const Inputs& untrained : all)
    for (std::size_t i = untrained.first;
         node.domain.empty() && node.op == untrained.op && i <= untrained.last && i < inputs.size(); ++i) {
      const auto value = level.in_model(inputs[i]);
      const auto at = value ? place_of_weight_.find(*value) : place_of_weight_.end();
      if (at != place_of_weight_.end()) weights_[at->second].is_trained = false;
    }
}

Datum Importer::stored(const Level& level, int place) const {
  if (const auto at = level.constants.find(place); at != level.constants.end())
    return level.graph.constants[at->second].second;
  if (level.outer != nullptr) {
    const auto at = level.outer_of.find(place);
    return at == level.outer_of.end() ? Datum() : stored(*level.outer, at->second);
  }
  const auto at = place_of_weight_.find(place);
  return at == place_of_weight_.end() ? Datum() : Datum(weights_[at->second].tensor);
}

}  // namespace crisol::onnx
