// Importer does the work of import_model. One object imports one model.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "crisol/onnx_parts.h"
#include "onnx/import.h"
#include "onnx/problems.h"
#include "onnx/scope.h"
#include "onnx/tensors.h"

namespace crisol::onnx {

class Importer {
 public:
  Importer(file::ModelFile& file, Device device)
      : file_(file), device_(device), narrows_(narrows(file.model(), device)), tensors_(file, device, narrows_) {}

  Imported import();
  /// Imports the graph as far as possible, and returns the nodes that import() would refuse.
  std::vector<RefusedNode> survey();

 private:
  class Bodies;
  using Initializers = std::map<std::string_view, const file::TensorProto*>;

  template <class... Parts>
  void require_io(bool holds, const Parts&... parts) const {
    if (!holds) fail(ErrorCode::io, "onnx", file_.path(), ": ", parts...);
  }
  /// Counts the parts that functions and bodies add to the parts in the file. Throws if there are too many.
  void charge(std::size_t parts);
  /// Defines the value of a name. A name can have only one value.
  void define(NameScope& scope, std::string_view name, int value) const;
  int find_value(const NameScope& scope, std::string_view name, const char* user, const std::string& user_name);

  /// Whether the graph computes f64 in f32: the device has no double precision, or an op does not compute f64.
  static bool narrows(const file::ModelProto& model, Device device);
  /// Notes an input or output of f64 as a problem, if the graph gives f32.
  void check_model_value(const file::ValueInfoProto& value, const char* what);
  /// What the file says about a value, without an element type that the graph does not compute.
  graph::Value kept(graph::Value declared) const;
  /// Remembers a node whose attributes ask for f64. An attribute that names the type then names f32.
  void narrow(std::vector<Call::Attribute>& attributes, const std::string& node);
  /// Prints to standard error what is computed in f32 although the file has f64.
  void warn_of_narrowed() const;

  /// Fills the graph of a scope's level. `known` describes the inputs of a body. It is null for the model's graph.
  void add_graph(NameScope& scope, const file::Graph& graph, const Values* known);
  Initializers add_initializers(NameScope& scope, const file::Graph& graph);
  /// `tensor` has the name. `read` returns the value.
  int add_initializer(const NameScope& scope, const file::TensorProto& tensor,
                      const std::function<graph::Datum()>& read);
  int add_weight(const NameScope& scope, const file::TensorProto& tensor, const std::function<graph::Datum()>& read);
  int capture_from_model(Level& level, int value);
  void add_model_input(NameScope& scope, const file::ValueInfoProto& input, const Initializers& initializers);
  void add_body_input(NameScope& scope, const file::ValueInfoProto& input, const graph::Value& known);
  /// Makes a graph the body of a node. Returns the known facts about the graph's outputs.
  Values add_body(const NameScope& outer, Level& level, const std::string& node, const file::Graph& graph,
                  const Values& inputs);

  void add_nodes(NameScope& scope, const std::vector<file::Node>& nodes);
  /// How many faults were found so far.
  struct Faults {
    std::size_t problems, narrowed;
  };
  /// In a survey: notes a node of the model's graph if faults were found since `before`, or if its values have other
  /// types than the library's.
  void note_if_refused(const NameScope& scope, const file::Node& node, std::size_t position, const Faults& before);
  /// Adds a node, and returns the positions of its outputs.
  std::vector<int> add_node(const NameScope& scope, const file::Node& node, const std::string& name,
                            const std::vector<int>& inputs);
  /// The node's attributes. If an attribute refers to an attribute of the surrounding function, it gets the value from
  /// there.
  std::vector<Call::Attribute> attributes_of(const NameScope& scope, const file::Node& node);
  /// Gives a node the function to run, from the table row of its op. Sets the known facts about the node's outputs.
  void build(const NameScope& scope, const file::Node& node, const std::vector<Call::Attribute>& attributes,
             graph::Node& made, Values& outputs);
  std::vector<int> inline_function(const NameScope& outer, const file::Node& node, const file::Function& function,
                                   const std::vector<Call::Attribute>& arguments, const std::string& name,
                                   const std::vector<int>& inputs);
  /// Finds all nodes of an op in the model's graph. Returns the shapes of their second inputs, if the file stores these
  /// inputs.
  const std::vector<std::vector<std::int64_t>>& weights_of(std::string_view domain, std::string_view op);
  /// Marks inputs that are no parameters: the mean and variance of BatchNormalization.
  void mark_untrained(const Level& level, const file::Node& node, const std::vector<int>& inputs);
  /// The value of a constant or a weight, also if a body captures it. Undefined for a value that nodes compute.
  graph::Datum stored(const Level& level, int place) const;

  file::ModelFile& file_;
  Device device_;
  const bool narrows_;
  Tensors tensors_;
  Level model_;
  std::vector<Imported::Weight> weights_;
  std::vector<Imported::Default> defaults_;
  std::map<const file::TensorProto*, int> weight_of_;  ///< Positions in the model's graph.
  std::map<int, std::size_t> place_of_weight_;         ///< From such a position to the position in weights_.
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const file::Function*> functions_;
  Problems problems_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::vector<std::int64_t>>> weights_of_;
  std::deque<file::Attribute> changed_;  ///< Attributes of the file that named f64.
  std::set<std::string> narrowed_;       ///< Names of the nodes and constants of f64, which are computed in f32.
  std::vector<file::Node> nodes_;        ///< The nodes of the model's graph, with groups of quantised numbers joined.
  std::vector<RefusedNode>* refused_ = nullptr;  ///< Of a survey.
  std::size_t parts_ = 0;
};

}  // namespace crisol::onnx
