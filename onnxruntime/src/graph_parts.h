// Graphs of ONNX Runtime as parts of a crisol model.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "api.h"
#include "crisol/onnx_parts.h"

namespace crisol::ort {

/// Element types, as ONNX numbers them.
constexpr int type_of_i32 = 6, type_of_i64 = 7, type_of_texts = 8;

std::string name_of(const OrtValueInfo* value);
std::string op_of(const OrtNode* node);
std::string domain_of(const OrtNode* node);
/// A value that is left out is null.
std::vector<const OrtValueInfo*> inputs_of(const OrtNode* node);
std::vector<const OrtValueInfo*> outputs_of(const OrtNode* node);
/// The inputs, and the values of the surrounding graph that the graphs within a node use.
std::vector<const OrtValueInfo*> used_by(const OrtNode* node);
std::vector<const OrtNode*> nodes_of(const OrtGraph* graph);
/// Whether a value has the same elements in all runs.
bool is_constant(const OrtValueInfo* value);

/// A graph as parts. The elements of its constants stay in ONNX Runtime's memory, and live as long as the graph and
/// this object.
class GraphReader {
 public:
  explicit GraphReader(const OrtGraph* graph);
  ~GraphReader();
  GraphReader(const GraphReader&) = delete;
  GraphReader& operator=(const GraphReader&) = delete;

  /// The parts. Inputs are those of the graph that are no constants. For a graph within a node they are also the values
  /// of the surrounding graphs.
  onnx::ModelParts take() && { return std::move(parts_); }

 private:
  /// Adds the nodes, and what they use.
  void fill(onnx::GraphParts& parts, const OrtGraph* graph);
  void add_outer_values(const OrtGraph* graph);
  onnx::NodeParts node_of(const OrtNode* node);
  void add_attributes(onnx::NodeParts& parts, const OrtNode* node);
  void add_constant(const OrtValueInfo* value);
  onnx::TensorParts tensor_of(const std::string& name, const OrtValue* value);

  onnx::ModelParts parts_;
  std::set<std::string> constants_;  ///< The names of those that were added.
  std::vector<OrtValue*> owned_;     ///< Tensors of attributes.
};

/// What ONNX Runtime knows about a value.
onnx::ValueParts value_of(const OrtValueInfo* value);

/// The sizes of a tensor's axes, -1 for an axis without a fixed size. Empty if the number of axes is not known.
std::vector<std::int64_t> sizes_of(const OrtValueInfo* value);

/// The names of a tensor's axes. An axis with a fixed size has none, and one without a name in the model gets one.
std::vector<std::string> axes_of(const OrtValueInfo* value);

/// The element type and the sizes of a tensor.
struct Layout {
  int type = 0;
  std::vector<std::int64_t> sizes;
};
Layout layout_of(const OrtValue* value);

/// The memory of a tensor.
void* data_of(const OrtValue* value);

}  // namespace crisol::ort
