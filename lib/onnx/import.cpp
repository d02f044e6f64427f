// Imports graphs: their names, initializers and inputs. import_nodes.cpp imports the nodes.
#include "onnx/import.h"

#include <algorithm>

#include "base/text.h"
#include "onnx/importer.h"
#include "onnx/node_order.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/network/quantized_groups.h"
#include "onnx/ops/small_types.h"

namespace crisol::onnx {

using file::in_quotes;
using graph::Datum;
using graph::Value;

namespace {

// Functions may call other functions, so few bytes of a file can mean many nodes.
constexpr std::size_t max_parts = 1'000'000;
constexpr int deepest_body = 30;

}  // namespace

Imported import_model(file::ModelFile& file, Device device) { return Importer(file, device).import(); }

Imported Importer::import() {
  const file::ModelProto& model = file_.model();
  for (const file::Function& f : model.functions) functions_.try_emplace({f.domain, f.name, f.overload}, &f);
  NameScope scope{.level = &model_, .operator_sets = &model.operator_sets};
  add_graph(scope, model.graph, nullptr);
  problems_.refuse(file_.path());
  warn_of_narrowed();
  return {std::move(model_.graph), std::move(weights_), std::move(defaults_)};
}

void Importer::charge(std::size_t parts) {
  parts_ += parts;
  require_io(parts_ <= max_parts, "the model has more than ", max_parts,
             " nodes and values, with those of the functions that it calls");
}

void Importer::define(NameScope& scope, std::string_view name, int value) const {
  require_io(scope.values.emplace(name, value).second, "the value ", in_quotes(scope.full_name(name)),
             " has two sources");
}

int Importer::find_value(const NameScope& scope, std::string_view name, const char* user,
                         const std::string& user_name) {
  const std::size_t before = scope.level->captured.size();
  const auto value = scope.find(name);
  require_io(value.has_value(), user, user_name, " uses the value ", in_quotes(scope.full_name(name)),
             ", which nothing before it makes");
  if (scope.level->captured.size() > before) charge(static_cast<std::size_t>(scope.bodies));
  return *value;
}

void Importer::add_graph(NameScope& scope, const file::Graph& graph, const Values* known) {
  for (const auto* values : {&graph.values, &graph.outputs})
    for (const file::ValueInfoProto& value : *values) scope.types.emplace(value.name, &value.type);
  const Initializers initializers = add_initializers(scope, graph);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    require_io(!graph.inputs[i].name.empty(), "an input of the graph has no name");
    if (known == nullptr)
      add_model_input(scope, graph.inputs[i], initializers);
    else
      add_body_input(scope, graph.inputs[i], (*known)[i]);
  }
  const bool is_imported_model = known == nullptr && refused_ == nullptr && problems_.added() == 0;
  if (is_imported_model) nodes_ = with_quantized_groups(file_.model(), tensors_, device_);
  add_nodes(scope, is_imported_model ? nodes_ : graph.nodes);
  for (const file::ValueInfoProto& output : graph.outputs) {
    if (known == nullptr) check_model_value(output, "an output");
    const int value = find_value(scope, output.name, "the graph's output", "");
    scope.level->graph.outputs.push_back(value);
    const bool is_text =
        output.type.kind == file::Type::Kind::tensor && output.type.element == file::ElementType::string;
    if (is_text && value != graph::absent && !scope.level->graph.values[static_cast<std::size_t>(value)].texts)
      problems_.add("texts that are not known before the run are not supported", in_quotes(output.name));
  }
}

void Importer::add_model_input(NameScope& scope, const file::ValueInfoProto& input, const Initializers& initializers) {
  Value value;
  try {
    value = value_of_type(input.type);
  } catch (const Error& error) {
    problems_.add_from(error, "an input", in_quotes(input.name));
  }
  check_model_value(input, "an input");
  value.name = input.name;
  if (initializers.count(input.name) > 0) {
    defaults_.push_back({scope.values.at(input.name), std::move(value)});
    return;
  }
  const int at = scope.level->add(std::move(value));
  scope.level->graph.inputs.push_back(at);
  define(scope, input.name, at);
}

void Importer::add_body_input(NameScope& scope, const file::ValueInfoProto& input, const Value& known) {
  Value value = known;
  value.name = scope.full_name(input.name);
  add_declared(kept(declared_by(input.type)), value);
  const int at = scope.level->add(std::move(value));
  scope.level->graph.inputs.push_back(at);
  define(scope, input.name, at);
}

Importer::Initializers Importer::add_initializers(NameScope& scope, const file::Graph& graph) {
  Initializers known;
  const auto add = [&](const file::TensorProto& tensor, const std::function<Datum()>& read) {
    int value = graph::absent;
    try {
      value = add_initializer(scope, tensor, read);
    } catch (const Error& error) {
      problems_.add_from(error, "an initializer", in_quotes(tensor.name));
    }
    define(scope, tensor.name, value);
  };
  for (const file::TensorProto& tensor : graph.initializers) {
    if (const auto [at, is_new] = known.emplace(tensor.name, &tensor); is_new)
      add(tensor, [&] { return scope.calls > 0 ? tensors_.shared(tensor) : tensors_.read(tensor); });
    else
      require_io(tensors_.equal(*at->second, tensor), "the initializer ", in_quotes(tensor.name),
                 " is there twice, with different elements");
  }
  for (const file::SparseTensor& tensor : graph.sparse_initializers) {
    known.emplace(tensor.values.name, &tensor.values);
    add(tensor.values, [&] { return tensors_.dense(tensor); });
  }
  return known;
}

/// A function's body is imported once for each call, but its initializers are stored only once.
int Importer::add_initializer(const NameScope& scope, const file::TensorProto& tensor,
                              const std::function<Datum()>& read) {
  const auto dtype = dtype_of(tensor.type);
  if (narrows_ && tensor.type == file::ElementType::f64) narrowed_.insert(in_quotes(tensor.name));
  if (dtype && is_floating(*dtype)) return capture_from_model(*scope.level, add_weight(scope, tensor, read));
  Datum datum = read();
  Value value = value_of(datum);
  value.texts = tensors_.texts_of(tensor);
  if (small_type(tensor.type) != nullptr) value.small = static_cast<int>(tensor.type);
  value.name = scope.full_name(tensor.name);
  const int constant = scope.level->add(std::move(value));
  scope.level->add_constant(constant, std::move(datum));
  return constant;
}

/// All weights belong to the model's graph. This is true also for the weights of bodies.
int Importer::add_weight(const NameScope& scope, const file::TensorProto& tensor, const std::function<Datum()>& read) {
  if (const auto known = weight_of_.find(&tensor); known != weight_of_.end()) return known->second;
  const Datum datum = read();
  Value value = value_of(datum);
  value.name = scope.full_name(tensor.name);
  const int weight = model_.add(std::move(value));
  weight_of_.emplace(&tensor, weight);
  place_of_weight_.emplace(weight, weights_.size());
  model_.graph.weights.push_back(weight);
  weights_.push_back({std::string(tensor.name), datum.tensor(device_), datum.shape().rank() > 0});
  return weight;
}

int Importer::capture_from_model(Level& level, int value) {
  if (level.outer == nullptr) return value;
  charge(1);
  return level.capture(capture_from_model(*level.outer, value));
}

Values Importer::add_body(const NameScope& outer, Level& level, const std::string& node, const file::Graph& graph,
                          const Values& inputs) {
  require_io(outer.bodies < deepest_body, "graphs lie within nodes more than ", deepest_body, " deep: ", node);
  if (outer.calls > 0)
    charge(graph.inputs.size() + graph.outputs.size() + graph.initializers.size() + graph.values.size());
  level.outer = outer.level;
  NameScope scope{.level = &level,
                  .outer = &outer,
                  .prefix = outer.inner_prefix(graph.name),
                  .operator_sets = outer.operator_sets,
                  .function = outer.function,
                  .arguments = outer.arguments,
                  .calls = outer.calls,
                  .bodies = outer.bodies + 1};
  add_graph(scope, graph, &inputs);
  Values outputs;
  for (const int output : level.graph.outputs)
    outputs.push_back(output == graph::absent ? Value() : level.graph.values[static_cast<std::size_t>(output)]);
  return outputs;
}

}  // namespace crisol::onnx
