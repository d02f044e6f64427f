// The facts about an ONNX file as JSON, and as text for people.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "crisol/onnx.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using file::printable;
using nlohmann::ordered_json;

ordered_json json_of(const ValueInfo& value) {
  ordered_json shape;
  if (value.has_shape) {
    shape = ordered_json::array();
    for (const Dimension& d : value.shape)
      shape.push_back(d.size >= 0 ? ordered_json(d.size) : d.name.empty() ? ordered_json() : ordered_json(d.name));
  }
  return {{"name", value.name}, {"type", value.type}, {"shape", shape}};
}

/// A JSON list with one object for each element.
template <class T, class Function>
ordered_json list_of(const std::vector<T>& parts, Function&& json) {
  auto list = ordered_json::array();
  for (const T& part : parts) list.push_back(json(part));
  return list;
}

std::string value_shape_text(const ValueInfo& value) {
  if (!value.has_shape) return " of any shape";
  std::string text = " (";
  for (std::size_t i = 0; i < value.shape.size(); ++i) {
    const Dimension& d = value.shape[i];
    text += concat(i == 0 ? "" : ", ", d.size >= 0 ? std::to_string(d.size) : d.name.empty() ? "?" : printable(d.name));
  }
  return text + ')';
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10000) return concat(bytes, " B");
  const bool large = bytes >= 10'000'000;
  const double value = std::round(static_cast<double>(bytes) / (large ? 1e5 : 1e2)) / 10;
  return concat(value, large ? " MB" : " kB");
}

/// Prints the rows of a page. Rows with the same name follow each other, and only the first shows the name.
class Rows {
 public:
  explicit Rows(std::ostream& out) : out_(out) {}

  template <class... Parts>
  void add(const std::string& name, const Parts&... parts) {
    const std::string shown = name == last_ ? "" : name;
    last_ = name;
    out_ << "  " << shown << std::string(14 - shown.size(), ' ') << concat(parts...) << '\n';
  }

 private:
  std::ostream& out_;
  std::string last_;
};

void print_values(Rows& rows, const char* name, const std::vector<ValueInfo>& values) {
  for (const ValueInfo& value : values)
    rows.add(name, file::in_quotes(value.name), ": ", value.type, value_shape_text(value));
}

std::string op_text(const std::string& domain, const std::string& name) {
  return printable(domain == "ai.onnx" ? name : domain + '.' + name);
}

}  // namespace

std::string to_json(const ModelInfo& info) {
  ordered_json json{{"path", info.path},
                    {"bytes", info.file_bytes},
                    {"ir_version", info.ir_version},
                    {"producer", info.producer},
                    {"producer_version", info.producer_version},
                    {"domain", info.domain},
                    {"model_version", info.model_version}};
  json["opsets"] = list_of(info.operator_sets, [](const OperatorSet& set) {
    return ordered_json{{"domain", set.domain}, {"version", set.version}};
  });
  json["inputs"] = list_of(info.inputs, json_of);
  json["outputs"] = list_of(info.outputs, json_of);
  json["ops"] = list_of(info.ops, [](const OpCount& op) {
    return ordered_json{{"domain", op.domain}, {"name", op.name}, {"nodes", op.nodes}};
  });
  json["functions"] = list_of(info.functions, [](const FunctionInfo& function) {
    return ordered_json{{"domain", function.domain}, {"name", function.name}, {"nodes", function.nodes}};
  });
  json["parameters"] = info.parameters;
  json["initializers"] = list_of(info.initializers, [](const InitializerCount& count) {
    return ordered_json{
        {"type", count.type}, {"tensors", count.tensors}, {"elements", count.elements}, {"bytes", count.bytes}};
  });
  json["external_files"] = list_of(info.external_files, [](const ExternalFile& file) {
    return ordered_json{{"location", file.location},
                        {"tensors", file.tensors},
                        {"bytes", file.bytes},
                        {"fault", file.fault.empty() ? ordered_json() : ordered_json(file.fault)}};
  });
  json["metadata"] = info.metadata;
  json["training"] = info.has_training;
  // Texts in a file need not be UTF-8.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::ostream& operator<<(std::ostream& out, const ModelInfo& info) {
  out << info.path << ": " << size_text(info.file_bytes) << ", ONNX IR version " << info.ir_version << '\n';
  Rows rows(out);
  if (!info.producer.empty())
    rows.add("producer", printable(info.producer + (info.producer_version.empty() ? "" : ' ' + info.producer_version)));
  if (!info.domain.empty() || info.model_version != 0)
    rows.add("model", printable(info.domain), " version ", info.model_version);
  for (const OperatorSet& set : info.operator_sets) rows.add("opset", printable(set.domain), ' ', set.version);
  print_values(rows, "inputs", info.inputs);
  print_values(rows, "outputs", info.outputs);
  rows.add("parameters", info.parameters);
  for (const InitializerCount& count : info.initializers)
    rows.add("initializers", count.type, ": ", count.tensors, count.tensors == 1 ? " tensor, " : " tensors, ",
             size_text(count.bytes));
  for (const ExternalFile& file : info.external_files) {
    rows.add("external", file::in_quotes(file.location), ": ", file.tensors,
             file.tensors == 1 ? " tensor, " : " tensors, ", size_text(file.bytes));
    if (!file.fault.empty()) rows.add("external", file.fault);
  }
  for (const FunctionInfo& function : info.functions)
    rows.add("functions", op_text(function.domain, function.name), ": ", function.nodes,
             function.nodes == 1 ? " node" : " nodes");
  for (const OpCount& op : info.ops) rows.add("ops", op_text(op.domain, op.name), ": ", op.nodes);
  for (const auto& [key, text] : info.metadata) rows.add("metadata", file::in_quotes(key), ": ", file::in_quotes(text));
  if (info.has_training) rows.add("training", "the file also holds graphs for training");
  return out;
}

}  // namespace crisol::onnx
