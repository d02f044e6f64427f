// ONNX models that a program holds in memory as parts, such as the graph of another runtime. No file is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"
#include "crisol/onnx.h"

namespace crisol::onnx {

/// A tensor whose elements lie in the caller's memory: contiguous, outermost axis first, little-endian. The elements
/// are only read while a function takes the parts.
struct TensorParts {
  std::string name;                 ///< The name of the value. Empty in attributes.
  int type = 0;                     ///< The number of the element type: TensorProto.DataType in onnx.proto.
  std::vector<std::int64_t> sizes;  ///< Outermost axis first.
  const void* elements = nullptr;   ///< May be null if there are no elements.
  std::size_t bytes = 0;            ///< The size of all elements.
};

/// A tensor that is known by its name, such as an input. Type 0 stands for a value that is no tensor.
struct ValueParts {
  std::string name;                             ///< The name by which nodes use it.
  int type = 0;                                 ///< The number of the element type, as in TensorParts.
  std::optional<std::vector<Dimension>> shape;  ///< Nothing if not even the number of axes is known.
};

struct GraphParts;

/// A setting of a node.
struct AttributeParts {
  std::string name;  ///< Such as "kernel_shape".
  /// The setting. The type of the attribute follows from the type of this value.
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
               std::vector<std::string>, TensorParts, std::shared_ptr<const GraphParts>>
      value;
};

/// A node. An empty name of an input or output means that an optional value is left out.
struct NodeParts {
  std::string name;                        ///< May be empty.
  std::string op;                          ///< Such as "Conv".
  std::string domain;                      ///< Empty for ONNX's own ops.
  std::vector<std::string> inputs;         ///< Names of values.
  std::vector<std::string> outputs;        ///< Names of values.
  std::vector<AttributeParts> attributes;  ///< In any order.
};

/// A graph: of a model, or in an attribute of a node.
struct GraphParts {
  std::string name;                       ///< For messages.
  std::vector<NodeParts> nodes;           ///< In any order.
  std::vector<TensorParts> initializers;  ///< Constants, such as weights.
  std::vector<ValueParts> inputs;         ///< In the order in which a run gets them.
  std::vector<ValueParts> outputs;        ///< In the order in which a run gives them.
  std::vector<ValueParts> values;         ///< What is known about values between nodes. May be empty.
};

/// A model.
struct ModelParts {
  std::string name;                        ///< For messages.
  std::vector<OperatorSet> operator_sets;  ///< With "" or "ai.onnx" for ONNX's own ops.
  GraphParts graph;                        ///< Its nodes, values and constants.
};

/// A node that load() would refuse.
struct RefusedNode {
  std::size_t node = 0;  ///< Its position in the graph.
  std::string reason;    ///< For people.
};

/// Makes a model of parts. Throws like load() for a file. Elements are copied to the device, so the caller may release
/// them after the call.
CRISOL_API Model load(const ModelParts& parts, Device device = Device());

/// The bytes of an ONNX file with these parts, without `values`. Throws invalid_argument if the elements take more than
/// 2 GiB, the most that a file of ONNX may have.
CRISOL_API std::string file_of(const ModelParts& parts);

/// Makes a model of the bytes of an ONNX file. `name` stands in messages, and data in other files are looked for in its
/// folder. Throws like load() for a file. The caller may release the bytes after the call.
CRISOL_API Model load_bytes(const std::string& name, std::string_view bytes, Device device = Device());

/// The nodes of the model's own graph that load() would refuse, in order. Nodes behind a refused node are judged by
/// what the parts say about its outputs, so `values` should describe them. A node counts as refused too if it has an
/// input or output of a type that load() would not compute as it is, such as a text or a sequence. Throws like
/// load() for parts that contradict each other.
CRISOL_API std::vector<RefusedNode> refused_nodes(const ModelParts& parts, Device device = Device());

}  // namespace crisol::onnx
