// The tensors of a file, as constants of a graph.
#pragma once

#include <map>

#include "graph/graph.h"
#include "onnx/ops/call.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

class Tensors {
 public:
  /// `narrows`: elements of f64 become f32.
  Tensors(file::ModelFile& file, Device device, bool narrows) : file_(file), device_(device), narrows_(narrows) {}

  /// Reads a tensor. Texts become positions in texts_of(). The result is on the host if it may be a shape, otherwise on
  /// the device. Large floating-point tensors stay in the file until their values are needed. Throws Error: io for
  /// damaged data, and invalid_argument for elements and numbers of axes that the library does not have.
  graph::Datum read(const file::TensorProto& tensor);
  /// A sparse tensor as a dense tensor, with zeros for the other elements.
  graph::Datum dense(const file::SparseTensor& tensor);
  /// The same as read, but the tensor is read once and kept, because a function may be called often.
  graph::Datum shared(const file::TensorProto& tensor);
  /// The value of a Constant node.
  graph::Datum constant(const std::vector<Call::Attribute>& attributes);
  /// The list of texts for a tensor of texts. Each text is in the list once, and the tensor's numbers are positions in
  /// it. Null for numbers.
  graph::Texts texts_of(const file::TensorProto& tensor);
  graph::Texts texts_of_constant(const std::vector<Call::Attribute>& attributes);
  /// The number of a Constant node's type if it is small (onnx/ops/small_types.h), otherwise 0.
  static int small_type_of_constant(const std::vector<Call::Attribute>& attributes);
  /// Whether two tensors have the same elements.
  bool equal(const file::TensorProto& a, const file::TensorProto& b);

 private:
  graph::Datum positions_of(const file::TensorProto& tensor);
  graph::Datum made_of(std::string_view bytes, const Shape& shape, DType dtype);

  /// The type of a constant, and its shape.
  std::pair<DType, Shape> layout_of(const file::TensorProto& tensor) const;

  file::ModelFile& file_;
  Device device_;
  bool narrows_;
  std::map<const file::TensorProto*, graph::Datum> known_;
  std::map<const file::TensorProto*, graph::Texts> texts_;
};

/// The known facts about a constant: its type and its sizes.
graph::Value value_of(const graph::Datum& datum);

}  // namespace crisol::onnx
