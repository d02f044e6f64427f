#include "onnx/reader/decode.h"

namespace crisol::onnx::file {

namespace {

void decode_function(Message& in, Function& function) {
  while (in.next()) switch (in.field()) {
      case 1: in.set_name(function.name = in.text()); break;
      case 4: in.add(function.inputs, in.text()); break;
      case 5: in.add(function.outputs, in.text()); break;
      case 6: in.add(function.attributes, in.text()); break;
      case 7: decode_into(function.nodes, in, "node", decode_node); break;
      case 9: decode_into(function.operator_sets, in, "opset import", decode_operator_set); break;
      case 10: function.domain = in.text(); break;
      case 11: decode_into(function.default_attributes, in, "attribute", decode_attribute); break;
      case 12: decode_into(function.values, in, "value", decode_value); break;
      case 13: function.overload = in.text(); break;
      default: break;
    }
  if (function.name.empty()) in.refuse("the function has no name");
}

}  // namespace

void decode_entry(Message& in, std::pair<std::string_view, std::string_view>& entry) {
  while (in.next()) switch (in.field()) {
      case 1: in.set_name(entry.first = in.text()); break;
      case 2: entry.second = in.text(); break;
      default: break;
    }
}

void decode_operator_set(Message& in, OperatorSetIdProto& set) {
  while (in.next()) switch (in.field()) {
      case 1: in.set_name(set.domain = in.text()); break;
      case 2: set.version = in.integer(); break;
      default: break;
    }
  if (set.domain == "ai.onnx") set.domain = {};
  if (set.version < 1) in.refuse("version ", set.version, ", at least 1 expected");
}

void decode_graph(Message& in, Graph& graph) {
  while (in.next()) switch (in.field()) {
      case 1: decode_into(graph.nodes, in, "node", decode_node); break;
      case 2: in.set_name(graph.name = in.text()); break;
      case 5: decode_into(graph.initializers, in, "initializer", decode_tensor); break;
      case 11: decode_into(graph.inputs, in, "input", decode_value); break;
      case 12: decode_into(graph.outputs, in, "output", decode_value); break;
      case 13: decode_into(graph.values, in, "value", decode_value); break;
      case 15: decode_into(graph.sparse_initializers, in, "sparse initializer", decode_sparse_tensor); break;
      default: break;
    }
}

ModelProto decode_model(Message& in) {
  ModelProto model;
  bool has_graph = false;
  while (in.next()) switch (in.field()) {
      case 1: model.ir_version = in.integer(); break;
      case 2: model.producer = in.text(); break;
      case 3: model.producer_version = in.text(); break;
      case 4: model.domain = in.text(); break;
      case 5: model.version = in.integer(); break;
      case 6: model.doc = in.text(); break;
      case 7: {
        in.only_once("graph");
        Message message(in, "graph");
        decode_graph(message, model.graph);
        has_graph = true;
        break;
      }
      case 8: decode_into(model.operator_sets, in, "opset import", decode_operator_set); break;
      case 14: decode_into(model.metadata, in, "metadata", decode_entry); break;
      case 20: model.has_training = true; break;
      case 25: decode_into(model.functions, in, "function", decode_function); break;
      default: break;
    }
  if (!has_graph) in.refuse("there is no graph");
  if (model.ir_version < 1) in.refuse("ir_version is ", model.ir_version, ", at least 1 expected");
  return model;
}

}  // namespace crisol::onnx::file
