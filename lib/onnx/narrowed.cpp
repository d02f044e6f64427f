// Nodes and constants of f64, which the library computes in f32.
#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "onnx/importer.h"

namespace crisol::onnx {

using file::ElementType;
using file::in_quotes;

namespace {

bool has_f64(const file::Type& type) {
  return type.element == ElementType::f64 || std::any_of(type.inner.begin(), type.inner.end(), has_f64);
}

bool asks_for_f64(const Call::Attribute& attribute) {
  const file::Attribute& value = *attribute.value;
  const auto is_f64 = [](const file::TensorProto& tensor) { return tensor.type == ElementType::f64; };
  const bool names_type = attribute.name == "to" || attribute.name == "dtype" || attribute.name == "output_datatype";
  return (names_type && value.integers == std::vector<std::int64_t>{static_cast<std::int64_t>(ElementType::f64)}) ||
         std::any_of(value.tensors.begin(), value.tensors.end(), is_f64);
}

}  // namespace

void Importer::check_model_output(const file::ValueInfoProto& output) {
  if (has_f64(output.type)) problems_.add("an output: elements of f64 are not supported", in_quotes(output.name));
}

void Importer::note_narrowed(const std::vector<Call::Attribute>& attributes, const std::string& node) {
  if (std::any_of(attributes.begin(), attributes.end(), asks_for_f64)) narrowed_.insert(node);
}

void Importer::warn_of_narrowed() const {
  if (narrowed_.empty()) return;
  constexpr std::size_t most = 5;
  std::string text = concat("crisol: warning: ", file_.path(), ": f64 is computed in f32:");
  std::size_t count = 0;
  for (const std::string& name : narrowed_)
    if (++count <= most) text += (count == 1 ? " " : ", ") + name;
  if (count > most) text += concat(" and ", count - most, " more");
  std::cerr << text << '\n';
}

}  // namespace crisol::onnx
