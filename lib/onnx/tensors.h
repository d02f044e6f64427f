// The tensors of a file, as constants of a graph.
#pragma once

#include <map>

#include "graph/graph.h"
#include "onnx/ops/call.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

class Tensors {
 public:
  Tensors(file::ModelFile& file, Device device) : file_(file), device_(device) {}

  /// Texts become their positions in texts_of(). On the host if it may be a shape, and else on the device. Large
  /// tensors of floating-point numbers stay in the file until their values are needed. Throws Error: io for damaged
  /// data, invalid_argument for elements and numbers of axes that the library does not have.
  graph::Datum read(const file::TensorProto& tensor);
  /// The elements of a sparse tensor, with zeros between them.
  graph::Datum dense(const file::SparseTensor& tensor);
  /// The same as read. A function may be called often, so the tensor is kept and read once.
  graph::Datum shared(const file::TensorProto& tensor);
  /// The value of a node Constant.
  graph::Datum constant(const std::vector<Call::Attribute>& attributes);
  /// The texts that the numbers of a tensor of texts are positions of: each text once. Null for numbers.
  graph::Texts texts_of(const file::TensorProto& tensor);
  graph::Texts texts_of_constant(const std::vector<Call::Attribute>& attributes);
  /// Whether two tensors have the same elements.
  bool equal(const file::TensorProto& a, const file::TensorProto& b);

 private:
  graph::Datum positions_of(const file::TensorProto& tensor);
  graph::Datum made_of(std::string_view bytes, const Shape& shape, DType dtype);

  file::ModelFile& file_;
  Device device_;
  std::map<const file::TensorProto*, graph::Datum> known_;
  std::map<const file::TensorProto*, graph::Texts> texts_;
};

/// The known facts about a constant: its type and its sizes.
graph::Value value_of(const graph::Datum& datum);

}  // namespace crisol::onnx
