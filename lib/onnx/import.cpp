#include "onnx/import.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/table.h"
#include "onnx/problems.h"

namespace crisol::onnx {

namespace {

using file::in_quotes;
using graph::Datum;

// A function may call others, so few bytes can mean many nodes and copies of their attributes.
constexpr std::size_t most_parts = 1'000'000;
constexpr int deepest_call = 50;

std::vector<std::int64_t> numbers_of(std::string_view bytes, DType dtype) {
  std::vector<std::int64_t> numbers(bytes.size() / size_of(dtype));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int32_t narrow = 0;
    if (dtype == DType::i64)
      bytes.copy(reinterpret_cast<char*>(&numbers[i]), 8, 8 * i);
    else
      bytes.copy(reinterpret_cast<char*>(&narrow), 4, 4 * i);
    if (dtype == DType::i32) numbers[i] = narrow;
  }
  return numbers;
}

/// The nodes of the graph or of a function's body, with the values that their names stand for.
struct Scope {
  std::string prefix;  ///< Of the names of nodes and values, for messages.
  const std::vector<file::OperatorSetIdProto>* operator_sets;
  std::map<std::string_view, int> values;
  const file::Function* function = nullptr;
  const std::vector<file::Attribute>* arguments = nullptr;  ///< The attributes of the function's call.
  int depth = 0;
};

class Importer {
 public:
  Importer(file::ModelFile& file, Device device) : file_(file), device_(device) {}

  Imported import() {
    const file::Model& model = file_.model();
    for (const file::Function& f : model.functions) functions_.try_emplace({f.domain, f.name, f.overload}, &f);
    Scope scope{.prefix = "", .operator_sets = &model.operator_sets, .values = {}};
    require_io(model.graph.sparse_initializers.empty(), "sparse initializers are not supported");
    add_initializers(scope);
    for (const file::ValueInfoProto& input : model.graph.inputs)
      if (scope.values.count(input.name) == 0) graph_.inputs.push_back(add_value(scope, input));
    add_nodes(scope, model.graph.nodes);
    for (const file::ValueInfoProto& output : model.graph.outputs)
      graph_.outputs.push_back(find_value(scope, output.name, "the graph's output"));
    problems_.refuse(file_.path());
    mark_statistics();
    return {std::move(graph_), std::move(weights_)};
  }

 private:
  template <class... Parts>
  void require_io(bool holds, const Parts&... parts) const {
    if (!holds) fail(ErrorCode::io, "onnx", file_.path(), ": ", parts...);
  }

  int new_value(std::string name, std::optional<DType> dtype = {}) {
    graph_.values.push_back({std::move(name), dtype, {}});
    return static_cast<int>(graph_.values.size()) - 1;
  }

  void define(Scope& scope, std::string_view name, int value) {
    require_io(scope.values.emplace(name, value).second, "the value ", in_quotes(scope.prefix + std::string(name)),
               " has two sources");
  }

  int add_value(Scope& scope, const file::ValueInfoProto& input) {
    require_io(!input.name.empty(), "an input of the graph has no name");
    const auto dtype = dtype_of(input.type.element);
    if (input.type.kind != file::Type::Kind::tensor || !dtype)
      problems_.add(concat("an input of ", input.type.kind == file::Type::Kind::tensor ? name_of(input.type.element)
                                                                                       : "another kind than tensors"),
                    in_quotes(input.name));
    const int value = new_value(std::string(input.name), dtype);
    if (input.type.shape) {
      auto& shape = graph_.values.back().shape.emplace();
      for (const file::DimensionProto& d : *input.type.shape) shape.push_back({d.size, std::string(d.name)});
    }
    define(scope, input.name, value);
    return value;
  }

  int find_value(const Scope& scope, std::string_view name, const std::string& user) const {
    const auto at = scope.values.find(name);
    require_io(at != scope.values.end(), user, " uses the value ", in_quotes(scope.prefix + std::string(name)),
               ", which nothing before it makes");
    return at->second;
  }

  /// A tensor of the file on the device, or on the host if it may be a shape.
  Datum load(const file::TensorProto& tensor) {
    const auto dtype = dtype_of(tensor.type);
    require(dtype.has_value(), "onnx", "elements of ", name_of(tensor.type), " are not supported");
    require(tensor.sizes.size() <= Shape::max_rank, "onnx", "a tensor has ", tensor.sizes.size(), " axes, at most ",
            Shape::max_rank, " allowed");
    const Shape shape(tensor.sizes);
    const file::Elements elements = file_.elements_of(tensor);
    const bool is_integer = *dtype == DType::i64 || *dtype == DType::i32;
    if (is_integer && shape.rank() <= 1 && shape.numel() <= 1024)
      return Datum(numbers_of(elements.bytes(), *dtype), shape, *dtype);
    return from_bytes(elements.bytes().data(), shape, *dtype, device_);
  }

  void add_initializers(Scope& scope) {
    for (const file::TensorProto& tensor : file_.model().graph.initializers) {
      const int value = new_value(std::string(tensor.name), dtype_of(tensor.type));
      define(scope, tensor.name, value);
      try {
        Datum datum = load(tensor);
        if (datum.on_host() || !is_floating(datum.dtype())) {
          graph_.constants.emplace_back(value, std::move(datum));
          continue;
        }
        graph_.weights.push_back(value);
        weights_.push_back({std::string(tensor.name), datum.tensor(device_), tensor.sizes.size() > 0});
      } catch (const Error& error) {
        problems_.add_from(error, "an initializer", in_quotes(tensor.name));
      }
    }
  }

  void add_nodes(Scope& scope, const std::vector<file::Node>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const file::Node& node = nodes[i];
      const std::string name =
          in_quotes(scope.prefix + (node.name.empty() ? '#' + std::to_string(i) : std::string(node.name)));
      std::vector<int> inputs;
      for (const std::string_view input : node.inputs)
        inputs.push_back(input.empty() ? graph::absent : find_value(scope, input, "node " + name));
      const std::vector<int> outputs = add_node(scope, node, name, inputs);
      for (std::size_t k = 0; k < node.outputs.size(); ++k)
        if (!node.outputs[k].empty()) define(scope, node.outputs[k], outputs[k]);
    }
  }

  /// The node's attributes; those that refer to an attribute of the surrounding function get its value.
  static std::vector<file::Attribute> attributes_of(const Scope& scope, const file::Node& node) {
    std::vector<file::Attribute> attributes;
    for (const file::Attribute& attribute : node.attributes) {
      if (attribute.reference.empty()) {
        attributes.push_back(attribute);
        continue;
      }
      if (scope.function == nullptr) continue;
      for (const auto* list : {scope.arguments, &scope.function->default_attributes}) {
        const auto at =
            std::find_if(list->begin(), list->end(), [&](const auto& a) { return a.name == attribute.reference; });
        if (at == list->end()) continue;
        attributes.push_back(*at);
        attributes.back().name = attribute.name;
        break;
      }
    }
    return attributes;
  }

  std::vector<int> add_node(const Scope& scope, const file::Node& node, const std::string& name,
                            const std::vector<int>& inputs) {
    std::vector<file::Attribute> attributes = attributes_of(scope, node);
    const auto function = functions_.find({node.domain, node.op, node.overload});
    parts_ += function == functions_.end() ? 1 : 5;  // A call takes more memory and time than a node.
    for (const file::Attribute& a : attributes) parts_ += 1 + a.integers.size() + a.floats.size();
    require_io(parts_ <= most_parts, "the model has more than ", most_parts,
               " nodes and numbers in attributes, with those of the functions that it calls");
    if (function != functions_.end()) return inline_function(scope, node, *function->second, attributes, name, inputs);
    std::vector<int> outputs;
    for (const std::string_view output : node.outputs)
      outputs.push_back(output.empty() ? graph::absent : new_value(scope.prefix + std::string(output)));
    const std::string op = node.domain.empty() ? std::string(node.op) : concat(node.domain, '.', node.op);
    const auto set = std::find_if(scope.operator_sets->begin(), scope.operator_sets->end(),
                                  [&](const auto& one) { return one.domain == node.domain; });
    const std::int64_t version = set == scope.operator_sets->end() ? 0 : set->version;
    try {
      if (node.domain.empty() && node.op == "Constant") {
        require(outputs.size() == 1 && outputs[0] != graph::absent, "onnx", "a constant has one output");
        graph_.constants.emplace_back(outputs[0], constant(attributes, node));
        return outputs;
      }
      const Row* row = find_row(node.domain, node.op, version);
      if (row == nullptr) {
        const std::string covered = versions_of(node.domain, node.op);
        problems_.add(
            concat(file::printable(op), version == 0 ? " of no imported version" : concat(" of version ", version),
                   covered.empty() ? "" : concat(" (versions ", covered, " are supported)")),
            name);
        return outputs;
      }
      Call call(node, std::move(attributes), version, [this](const file::TensorProto& tensor) { return load(tensor); });
      graph::Run run = row->build(call);
      call.check_all_known();
      graph_.nodes.push_back({name, op, inputs, outputs, std::move(run)});
    } catch (const Error& error) {
      problems_.add_from(error, file::printable(op), name);
    }
    return outputs;
  }

  /// Calls of one function share the tensors of its constants.
  Datum constant(const std::vector<file::Attribute>& attributes, const file::Node& node) {
    using Kind = file::Attribute::Kind;
    require(attributes.size() == 1, "onnx", "a constant has ", attributes.size(), " attributes, 1 expected");
    const file::Attribute& a = attributes[0];
    const auto count = [](const auto& list) { return Shape(static_cast<std::int64_t>(list.size())); };
    switch (a.kind) {
      case Kind::tensor: {
        require(node.attributes[0].reference.empty(), "onnx",
                "a tensor as an attribute of a function is not supported");
        const auto [at, is_new] = constants_.try_emplace(&node);
        if (is_new) at->second = load(a.tensors[0]);
        return at->second;
      }
      case Kind::f32: return from_vector(a.floats, Shape(), device_);
      case Kind::floats: return from_vector(a.floats, count(a.floats), device_);
      case Kind::integer: return Datum(a.integers, Shape());
      case Kind::integers: return Datum(a.integers, count(a.integers));
      default: fail(ErrorCode::invalid_argument, "onnx", "attribute ", in_quotes(a.name), " is not supported");
    }
  }

  std::vector<int> inline_function(const Scope& outer, const file::Node& node, const file::Function& function,
                                   const std::vector<file::Attribute>& arguments, const std::string& name,
                                   const std::vector<int>& inputs) {
    require_io(outer.depth < deepest_call, "functions call each other more than ", deepest_call, " deep: ", name);
    require_io(node.outputs.size() <= function.outputs.size(), "node ", name, " has ", node.outputs.size(),
               " outputs, the function ", in_quotes(function.name), " gives ", function.outputs.size());
    require_io(inputs.size() <= function.inputs.size(), "node ", name, " has ", inputs.size(), " inputs, the function ",
               in_quotes(function.name), " takes ", function.inputs.size());
    Scope scope{.prefix = concat(outer.prefix, function.name, '/'),
                .operator_sets = &function.operator_sets,
                .values = {},
                .function = &function,
                .arguments = &arguments,
                .depth = outer.depth + 1};
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      define(scope, function.inputs[i], i < inputs.size() ? inputs[i] : graph::absent);
    add_nodes(scope, function.nodes);
    std::vector<int> outputs;
    for (const std::string_view output : function.outputs)
      outputs.push_back(find_value(scope, output, "function " + in_quotes(function.name)));
    return outputs;
  }

  /// The mean and variance of BatchNormalization are no parameters.
  void mark_statistics() {
    for (const graph::Node& node : graph_.nodes) {
      if (node.op != "BatchNormalization") continue;
      for (std::size_t i = 3; i < 5; ++i) {
        const auto at = std::find(graph_.weights.begin(), graph_.weights.end(), node.inputs[i]);
        if (at != graph_.weights.end())
          weights_[static_cast<std::size_t>(at - graph_.weights.begin())].is_trained = false;
      }
    }
  }

  file::ModelFile& file_;
  Device device_;
  graph::Graph graph_;
  std::vector<Imported::Weight> weights_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const file::Function*> functions_;
  std::map<const file::Node*, Datum> constants_;
  Problems problems_;
  std::size_t parts_ = 0;
};

}  // namespace

Imported import_model(file::ModelFile& file, Device device) { return Importer(file, device).import(); }

}  // namespace crisol::onnx
