#include "onnx/ops/table.h"

#include <algorithm>

#include "base/text.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using Kind = file::Attribute::Kind;

}  // namespace

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (const auto& family : {pointwise_rows(), activation_rows(), network_rows(), shape_rows(), reduce_rows(),
                               select_rows(), bit_rows(), index_rows(), algebra_rows(), random_rows(), feature_rows()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return rows;
}

const file::Attribute* Call::find(std::string_view name) const {
  const auto at = std::find_if(attributes_.begin(), attributes_.end(), [&](const auto& a) { return a.name == name; });
  return at == attributes_.end() ? nullptr : &*at;
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
  return attribute == nullptr ? std::move(otherwise) : attribute->integers;
}

std::vector<double> Call::reals(std::string_view name, std::vector<double> otherwise) {
  const file::Attribute* attribute = take(name, Kind::floats);
  if (attribute == nullptr) return otherwise;
  return {attribute->floats.begin(), attribute->floats.end()};
}

std::string Call::text(std::string_view name, const char* otherwise) {
  const file::Attribute* attribute = take(name, Kind::string);
  return attribute == nullptr ? otherwise : std::string(attribute->strings.front());
}

graph::Datum Call::tensor(std::string_view name) {
  const file::Attribute* attribute = take(name, Kind::tensor);
  return attribute == nullptr ? graph::Datum() : load_(attribute->tensors.front());
}

void Call::check_counts(std::size_t least_inputs, std::size_t most_inputs, std::size_t most_outputs) const {
  require(inputs() <= most_inputs, "onnx", inputs(), " inputs, at most ", most_inputs, " allowed");
  for (std::size_t i = 0; i < least_inputs; ++i) require(has_input(i), "onnx", "input ", i, " is missing");
  for (std::size_t i = most_outputs; i < outputs(); ++i)
    require(!has_output(i), "onnx", "output ", i, " is not supported");
}

void Call::check_all_known() const {
  for (const file::Attribute& attribute : attributes_)
    require(known_.count(attribute.name) > 0, "onnx", "attribute ", file::in_quotes(attribute.name),
            " is not supported");
}

const Row* find_row(std::string_view domain, std::string_view op, std::int64_t version) {
  for (const Row& row : all_rows())
    if (row.domain == domain && row.name == op && row.first <= version && version <= row.last) return &row;
  return nullptr;
}

std::string versions_of(std::string_view domain, std::string_view op) {
  std::string text;
  for (const Row& row : all_rows())
    if (row.domain == domain && row.name == op)
      text += concat(text.empty() ? "" : ", ", row.first, row.last == row.first ? "" : concat(" to ", row.last));
  return text;
}

}  // namespace crisol::onnx
