// Names during the import of a model: the graphs that are being made, and the value that each name means in each graph.
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

/// A graph that is being made: the model's graph, or a body of a node in the outer level.
struct Level {
  Level();

  graph::Graph graph;
  Level* outer = nullptr;
  std::map<int, int> captured;           ///< For a value of the outer graph, the input that represents it here.
  std::map<int, int> outer_of;           ///< The reverse.
  std::map<int, std::size_t> constants;  ///< From values to positions in graph.constants.

  int add(graph::Value value);
  void add_constant(int value, graph::Datum datum);
  /// The input that represents a value of the outer graph.
  int capture(int value);
  /// Copies nodes of the outer graph into this graph: those that compute the value `y` from the values `from`. The
  /// values `from` become the inputs. Throws Error (invalid_argument) if `y` depends on none of them.
  void take_part(int y, const std::vector<int>& from);
  /// The value of the model's graph that this value represents. Nothing if a node or an input of this level gives the
  /// value.
  std::optional<int> in_model(int value) const;
};

/// The names in one graph of the file, or in a function's body. The body of a node also sees the names of the
/// surrounding graphs.
struct NameScope {
  Level* level;
  const NameScope* outer = nullptr;  ///< For a body: the surrounding scope.
  std::string prefix = {};           ///< A prefix for the names of nodes and values in messages. Its length is limited.
  const std::vector<file::OperatorSetIdProto>* operator_sets = nullptr;
  const file::Function* function = nullptr;
  const std::vector<Call::Attribute>* arguments = nullptr;  ///< The attributes that the call gives the function.
  int calls = 0, bodies = 0;                                ///< The nesting depth of functions and of bodies.
  std::map<std::string_view, int> values = {};
  std::map<std::string_view, const file::Type*> types = {};  ///< The types of values in the file.

  /// The value that a name means at this scope's level. Nothing if there is none.
  std::optional<int> find(std::string_view name) const;
  /// A name for messages. Long names are cut off.
  std::string full_name(std::string_view name) const;
  /// The prefix for a scope inside of this scope.
  std::string inner_prefix(std::string_view name) const;
  /// The file's description of a value that a node of this scope makes.
  graph::Value declared(std::string_view name) const;
};

/// What a type says about a value. Nothing if the library does not have such values.
graph::Value declared_by(const file::Type& type);
/// Adds facts from the file's description to the known facts. Sizes are left out, because some files have the sizes of
/// another batch.
void add_declared(const graph::Value& declared, graph::Value& value);

}  // namespace crisol::onnx
