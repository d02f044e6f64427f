#include "onnx/ops/call.h"

#include <algorithm>

#include "base/text.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using graph::SymbolicSize;
using graph::Value;
using Kind = file::Attribute::Kind;

/// The size to which two sizes are broadcast. Unknown if it is not known.
SymbolicSize broadcast(const SymbolicSize& a, const SymbolicSize& b) {
  if (a.size == 1) return b;
  if (b.size == 1 || a.size) return a;
  if (b.size) return b;
  return a.name == b.name ? a : SymbolicSize();
}

}  // namespace

Value broadcast(const Values& inputs, std::size_t k) {
  Value result = value_of(inputs.at(k).dtype, 0);
  for (const Value& input : inputs) {
    if (!input.shape) return value_of(result.dtype);
    std::vector<SymbolicSize>& sizes = *result.shape;
    const std::vector<SymbolicSize>& more = *input.shape;
    if (sizes.size() < more.size()) sizes.insert(sizes.begin(), more.size() - sizes.size(), {1, ""});
    const std::size_t shift = sizes.size() - more.size();
    for (std::size_t i = 0; i < more.size(); ++i) sizes[shift + i] = broadcast(sizes[shift + i], more[i]);
  }
  return result;
}

Value value_of(std::optional<DType> dtype, std::optional<int> rank) {
  Value value;
  value.dtype = dtype;
  if (rank) value.shape.emplace(static_cast<std::size_t>(std::max(*rank, 0)));
  return value;
}

Call::Call(const file::Node& node, std::vector<Attribute> attributes, std::int64_t version,
           const std::vector<int>& places, Values inputs, Context& context)
    : node_(node),
      attributes_(std::move(attributes)),
      version_(version),
      places_(places),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size()),
      context_(context) {}

const file::Attribute* Call::find(std::string_view name) const {
  const auto at = std::find_if(attributes_.begin(), attributes_.end(), [&](const auto& a) { return a.name == name; });
  return at == attributes_.end() ? nullptr : at->value;
}

const file::Attribute* Call::take(std::string_view name, Kind kind) {
  known_.insert(name);
  const file::Attribute* attribute = find(name);
  require(attribute == nullptr || attribute->kind == kind, "onnx", "attribute ", name, " is of the wrong kind");
  return attribute;
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) {
  const file::Attribute* attribute = take(name, Kind::integer);
  return attribute == nullptr ? otherwise : attribute->integers.front();
}

double Call::real(std::string_view name, double otherwise) {
  const file::Attribute* attribute = take(name, Kind::f32);
  return attribute == nullptr ? otherwise : static_cast<double>(attribute->floats.front());
}

std::vector<std::int64_t> Call::integers(std::string_view name, std::vector<std::int64_t> otherwise) {
  const file::Attribute* attribute = take(name, Kind::integers);
  if (attribute != nullptr) return attribute->integers;
  return otherwise;
}

std::string Call::text(std::string_view name, const char* otherwise) {
  const file::Attribute* attribute = take(name, Kind::string);
  return attribute == nullptr ? otherwise : std::string(attribute->strings.front());
}

std::vector<double> Call::reals(std::string_view name, std::vector<double> otherwise) {
  const file::Attribute* attribute = take(name, Kind::floats);
  return attribute == nullptr ? std::move(otherwise)
                              : std::vector<double>(attribute->floats.begin(), attribute->floats.end());
}

std::vector<std::string> Call::texts(std::string_view name) {
  const file::Attribute* attribute = take(name, Kind::strings);
  if (attribute == nullptr) return {};
  return {attribute->strings.begin(), attribute->strings.end()};
}

std::string Call::text_of(std::string_view name, std::initializer_list<const char*> allowed) {
  const std::string given = text(name, *allowed.begin());
  std::string all;
  for (const char* one : allowed) {
    if (given == one) return given;
    all += concat(all.empty() ? "" : ", ", one);
  }
  fail(ErrorCode::invalid_argument, "onnx", name, " is ", file::in_quotes(given), "; supported are: ", all);
}

graph::Datum Call::tensor(std::string_view name) {
  const file::Attribute* attribute = take(name, Kind::tensor);
  return attribute == nullptr ? graph::Datum() : context_.load(attribute->tensors.front());
}

std::vector<std::string> Call::texts_of_tensor(std::string_view name) {
  const file::Attribute* attribute = take(name, Kind::tensor);
  const graph::Texts all = attribute == nullptr ? nullptr : context_.texts_of(attribute->tensors.front());
  std::vector<std::string> texts;
  if (all != nullptr)
    for (const std::int64_t position : context_.load(attribute->tensors.front()).numbers())
      texts.push_back((*all)[static_cast<std::size_t>(position)]);
  return texts;
}

const file::Type* Call::type(std::string_view name) {
  const file::Attribute* attribute = take(name, Kind::type);
  return attribute == nullptr ? nullptr : &attribute->types.front();
}

Values Call::body(std::string_view name, const Values& inputs) {
  const file::Attribute* attribute = take(name, Kind::graph);
  require(attribute != nullptr, "onnx", "attribute ", name, " is missing");
  const file::Graph& graph = attribute->graphs.front();
  require(graph.inputs.size() == inputs.size(), "onnx", "the graph of attribute ", name, " has ", graph.inputs.size(),
          " inputs, ", inputs.size(), " expected");
  return context_.add_body(graph, inputs);
}

const Value& Call::input(std::size_t i) const {
  static const Value unknown;
  return i < inputs_.size() ? inputs_[i] : unknown;
}

std::optional<int> Call::rank_of(std::size_t i) const {
  const Value& value = input(i);
  if (!value.shape) return {};
  return static_cast<int>(value.shape->size());
}

void Call::require_dtype(std::size_t i, DType allowed) const {
  const auto dtype = dtype_of(i);
  require(!dtype || *dtype == allowed, "onnx", "input ", i, " of ", dtype.value_or(allowed), " is not supported, ",
          allowed, " is");
}

void Call::require_dtype(std::size_t i, TypesThat allowed) const {
  const auto dtype = dtype_of(i);
  require(!dtype || allowed.hold(*dtype), "onnx", "input ", i, " of ", dtype.value_or(DType::f32),
          " is not supported, ", allowed, " is");
}

void Call::require_rank(std::size_t i, int least, int most) const {
  const auto rank = rank_of(i);
  require(!rank || (*rank >= least && *rank <= most), "onnx", "input ", i, " with ", rank.value_or(0),
          " axes is not supported, ",
          least == most             ? concat(least)
          : most >= Shape::max_rank ? concat("at least ", least)
                                    : concat(least, " to ", most),
          " expected");
}

void Call::require_sequence(std::size_t i) const {
  require(input(i).is_sequence, "onnx", "input ", i, " is a tensor, a sequence expected");
}

void Call::gives(std::size_t output, Value value) {
  if (output < outputs_.size()) outputs_[output] = std::move(value);
}

void Call::check_counts(std::size_t min_inputs, std::size_t max_inputs, std::size_t max_outputs) const {
  require(inputs() <= max_inputs, "onnx", inputs(), " inputs, at most ", max_inputs, " allowed");
  for (std::size_t i = 0; i < min_inputs; ++i) require(has_input(i), "onnx", "input ", i, " is missing");
  for (std::size_t i = max_outputs; i < outputs(); ++i)
    require(!has_output(i), "onnx", "output ", i, " is not supported");
}

/// In version 1, consumed_inputs allows an op to overwrite inputs. Many files have it up to version 5.
bool Call::is_hint_of_version_1(std::string_view attribute) const {
  return node_.domain.empty() && version_ < 6 && attribute == "consumed_inputs";
}

void Call::check_all_known() const {
  for (const Attribute& attribute : attributes_)
    require(known_.count(attribute.name) > 0 || is_hint_of_version_1(attribute.name), "onnx", "attribute ",
            file::in_quotes(attribute.name), " is not supported");
  for (std::size_t i = 0; i < inputs_.size() && !takes_sequences_; ++i)
    require(!inputs_[i].is_sequence && !inputs_[i].is_optional, "onnx", "input ", i, " is ",
            inputs_[i].is_optional ? "optional" : "a sequence", ", a tensor expected");
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    require(!inputs_[i].texts || (takes_texts_ && i == 0), "onnx", "input ", i, " is text, numbers expected");
  for (std::size_t i = 0; i < inputs_.size() && !takes_small_types_; ++i)
    require(inputs_[i].small == 0, "onnx", "input ", i, " has elements of ",
            name_of(static_cast<file::ElementType>(inputs_[i].small)), ", which are not supported here");
}

}  // namespace crisol::onnx
