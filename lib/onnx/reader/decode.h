// Decoders for the messages of onnx.proto. Each reads a message to its end, and throws for content that no valid model
// has.
#pragma once

#include "onnx/reader/message.h"
#include "onnx/reader/model.h"

namespace crisol::onnx::file {

ModelProto decode_model(Message& in);
void decode_graph(Message& in, Graph& graph);
void decode_node(Message& in, Node& node);
void decode_attribute(Message& in, Attribute& attribute);
void decode_value(Message& in, ValueInfoProto& value);
void decode_type(Message& in, Type& type);
void decode_tensor(Message& in, TensorProto& tensor);
void decode_sparse_tensor(Message& in, SparseTensor& tensor);
void decode_entry(Message& in, std::pair<std::string_view, std::string_view>& entry);
void decode_operator_set(Message& in, OperatorSetIdProto& set);

/// Decodes the element type in the current field.
ElementType decode_element_type(Message& in);

/// Decodes the current field as one more message of a repeated field.
template <class T>
void decode_into(std::vector<T>& list, Message& in, const char* what, void (*decode)(Message&, T&)) {
  Message message(in, what, list.size());
  decode(message, in.add(list));
}

}  // namespace crisol::onnx::file
