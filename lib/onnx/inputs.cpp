#include "onnx/inputs.h"

#include <algorithm>

#include "base/text.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

std::string shape_text(const std::vector<graph::SymbolicSize>& shape) {
  std::string text;
  for (const graph::SymbolicSize& d : shape)
    text += concat(text.empty() ? "(" : ", ", d.size           ? std::to_string(*d.size)
                                              : d.name.empty() ? "?"
                                                               : file::printable(d.name));
  return text.empty() ? "()" : text + ')';
}

namespace {

/// Checks a tensor against the file's description of an input. `sizes` has the known sizes of names. New sizes are
/// added. Texts are made only for failures, because they take longer than a small model's run.
void check_input(const graph::Value& value, const Tensor& tensor, std::map<std::string, std::int64_t>& sizes) {
  const auto refuse = [&](const auto&... why) {
    fail(ErrorCode::invalid_argument, "onnx", "input ", file::in_quotes(value.name), why...);
  };
  if (!tensor.defined()) refuse(" is undefined");
  if (value.dtype && tensor.dtype() != *value.dtype)
    refuse(" has elements of ", tensor.dtype(), ", ", name_of(*value.dtype), " expected");
  if (!value.shape) return;
  bool fits = tensor.dim() == static_cast<int>(value.shape->size());
  for (int i = 0; fits && i < tensor.dim(); ++i) {
    const graph::SymbolicSize& d = (*value.shape)[static_cast<std::size_t>(i)];
    if (d.size) fits = tensor.size(i) == *d.size;
    if (d.name.empty()) continue;
    const std::int64_t size = sizes.try_emplace(d.name, tensor.size(i)).first->second;
    if (size != tensor.size(i))
      refuse(" has shape ", tensor.shape(), ", and ", file::in_quotes(d.name), " is ", size, " already");
  }
  if (!fits) refuse(" has shape ", tensor.shape(), ", ", shape_text(*value.shape), " expected");
}

}  // namespace

RunInputs::RunInputs(const graph::Graph& graph, const std::vector<Imported::Default>& defaults,
                     const NamedTensors& given)
    : graph_(graph), defaults_(defaults) {
  std::map<std::string_view, graph::Data> sequences;
  for (const auto& [name, tensor] : given) add(name, tensor, sequences);
  data.reserve(graph.inputs.size());
  for (const int input : graph.inputs) {
    const graph::Value& value = value_at(input);
    const auto own = sequences.find(value.name);
    const bool is_there = own != sequences.end();
    if (!is_there && !value.is_sequence && !value.is_optional)
      fail(ErrorCode::invalid_argument, "onnx", "input ", file::in_quotes(value.name), " is missing");
    if (!is_there)
      data.push_back(value.is_optional ? graph::Datum() : graph::Datum::sequence({}));
    else
      data.push_back(value.is_sequence ? graph::Datum::sequence(std::move(own->second)) : own->second.front());
  }
}

bool RunInputs::fit_programs() const {
  return replaced.empty() && std::all_of(data.begin(), data.end(), [](const graph::Datum& datum) {
           return datum.defined() && !datum.is_sequence();
         });
}

std::vector<Tensor> RunInputs::tensors(Device device) const {
  std::vector<Tensor> list;
  for (const graph::Datum& datum : data) list.push_back(datum.tensor(device));
  return list;
}

void RunInputs::add(const std::string& name, const Tensor& tensor, std::map<std::string_view, graph::Data>& sequences) {
  const auto input =
      std::find_if(graph_.inputs.begin(), graph_.inputs.end(), [&](int value) { return value_at(value).name == name; });
  const auto usual =
      std::find_if(defaults_.begin(), defaults_.end(), [&](const auto& d) { return d.input.name == name; });
  const bool has_default = input == graph_.inputs.end() && usual != defaults_.end();
  if (!has_default && input == graph_.inputs.end())
    fail(ErrorCode::invalid_argument, "onnx", "the model has no input ", file::in_quotes(name));
  const graph::Value& value = has_default ? usual->input : value_at(*input);
  graph::Data& elements = sequences[value.name];
  if (!elements.empty() && !value.is_sequence)
    fail(ErrorCode::invalid_argument, "onnx", "input ", file::in_quotes(name), " is given twice");
  // The elements of a sequence may have different sizes for one name.
  std::map<std::string, std::int64_t> own_sizes;
  check_input(value, tensor, value.is_sequence ? own_sizes : sizes_);
  elements.emplace_back(tensor);
  if (has_default) replaced.emplace_back(usual->value, tensor);
}

}  // namespace crisol::onnx
