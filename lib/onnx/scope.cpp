#include "onnx/scope.h"

#include "base/text.h"
#include "onnx/ops/element_types.h"

namespace crisol::onnx {

namespace {

constexpr std::size_t longest_name = 80, longest_prefix = 200;

}  // namespace

int Level::add(graph::Value value) {
  graph.values.push_back(std::move(value));
  return static_cast<int>(graph.values.size()) - 1;
}

void Level::add_constant(int value, graph::Datum datum) {
  constants.emplace(value, graph.constants.size());
  graph.constants.emplace_back(value, std::move(datum));
}

int Level::capture(int value) {
  if (const auto known = captured.find(value); known != captured.end()) return known->second;
  const int own = add(outer->graph.values[static_cast<std::size_t>(value)]);
  captured.emplace(value, own);
  outer_of.emplace(own, value);
  return own;
}

std::optional<int> Level::in_model(int value) const {
  if (outer == nullptr) return value;
  const auto at = outer_of.find(value);
  if (at == outer_of.end()) return {};
  return outer->in_model(at->second);
}

std::optional<int> NameScope::find(std::string_view name) const {
  if (const auto at = values.find(name); at != values.end()) return at->second;
  if (outer == nullptr) return {};
  const auto around = outer->find(name);
  if (!around || *around == graph::absent) return around;
  return level->capture(*around);
}

std::string NameScope::full_name(std::string_view name) const {
  return prefix + std::string(name.substr(0, longest_name));
}

std::string NameScope::inner_prefix(std::string_view name) const {
  return prefix.size() > longest_prefix ? prefix : concat(full_name(name), '/');
}

graph::Value NameScope::declared(std::string_view name) const {
  const auto at = types.find(name);
  return at == types.end() ? graph::Value() : declared_by(*at->second);
}

graph::Value declared_by(const file::Type& type) {
  try {
    return value_of_type(type);
  } catch (const Error&) {
    return {};  // The node that makes the value is refused, or makes another one.
  }
}

void add_declared(const graph::Value& declared, graph::Value& value) {
  if (declared.is_sequence != value.is_sequence) return;
  if (!value.dtype) value.dtype = declared.dtype;
  if (!value.shape && declared.shape) value.shape.emplace(declared.shape->size());
}

}  // namespace crisol::onnx
