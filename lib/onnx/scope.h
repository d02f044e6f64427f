// Names while a model is imported: the graphs that are being made, and the values that names stand for in each of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "onnx/ops/call.h"
#include "onnx/reader/model.h"

namespace crisol::onnx {

/// A graph that is being made: the model's graph, or a body of a node of the outer level.
struct Level {
  graph::Graph graph;
  Level* outer = nullptr;
  std::map<int, int> captured;           ///< From values of the outer graph to the inputs that stand for them here.
  std::map<int, int> outer_of;           ///< The reverse.
  std::map<int, std::size_t> constants;  ///< From values to places in graph.constants.

  int add(graph::Value value);
  void add_constant(int value, graph::Datum datum);
  /// The input that stands for a value of the outer graph.
  int capture(int value);
  /// Takes a copy of the nodes of the outer graph that compute the value `y` from the values `from`, which become the
  /// inputs. Throws Error (invalid_argument) if `y` depends on none of them.
  void take_part(int y, const std::vector<int>& from);
  /// The value of the model's graph that a value stands for; nothing if a node or an input of this level gives it.
  std::optional<int> in_model(int value) const;
};

/// The names of one graph of the file, or of a function's body. A body of a node sees the names around it.
struct NameScope {
  Level* level;
  const NameScope* outer = nullptr;  ///< The scope around a body.
  std::string prefix = {};  ///< The beginning of the names of nodes and values in messages. Its length is limited.
  const std::vector<file::OperatorSetIdProto>* operator_sets = nullptr;
  const file::Function* function = nullptr;
  const std::vector<Call::Attribute>* arguments = nullptr;  ///< The attributes of the function's call.
  int calls = 0, bodies = 0;                                ///< How deep this is within functions and within bodies.
  std::map<std::string_view, int> values = {};
  std::map<std::string_view, const file::Type*> types = {};  ///< The file's types of values.

  /// The value of a name, seen from this scope's level; nothing if there is none.
  std::optional<int> find(std::string_view name) const;
  /// A name for messages. Long ones are cut off.
  std::string full_name(std::string_view name) const;
  /// The prefix of a scope inside of this one.
  std::string inner_prefix(std::string_view name) const;
  /// The file's description of a value that a node of this scope makes.
  graph::Value declared(std::string_view name) const;
};

/// The facts that a type gives about a value. Nothing if the library does not have such values.
graph::Value declared_by(const file::Type& type);
/// Adds the file's description to the known facts. It leaves out sizes, because some files have the sizes of another
/// batch.
void add_declared(const graph::Value& declared, graph::Value& value);

}  // namespace crisol::onnx
