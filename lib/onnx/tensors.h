// The tensors of a file, as constants of a graph.
#pragma once

#include <map>
#include <optional>

#include "graph/graph.h"
#include "onnx/ops/call.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

class Tensors {
 public:
  Tensors(file::ModelFile& file, Device device) : file_(file), device_(device) {}

  /// On the host if it may be a shape, and else on the device. Throws Error: io for damaged data, invalid_argument for
  /// elements and numbers of axes that the library does not have.
  graph::Datum read(const file::TensorProto& tensor);
  /// The same. A function may be called often, so the tensor is kept and read once.
  graph::Datum shared(const file::TensorProto& tensor);
  /// The value of a node Constant. A large tensor stays in the file until it is needed.
  graph::Datum constant(const std::vector<Call::Attribute>& attributes);
  /// Whether two tensors have the same elements.
  bool equal(const file::TensorProto& a, const file::TensorProto& b);

 private:
  /// A tensor of which a program often needs only what a pass made of it. Nothing if it must be read now.
  std::optional<graph::Datum> left_in_file(const file::TensorProto& tensor);

  file::ModelFile& file_;
  Device device_;
  std::map<const file::TensorProto*, graph::Datum> known_;
};

/// What is known of a constant: all.
graph::Value value_of(const graph::Datum& datum);

}  // namespace crisol::onnx
