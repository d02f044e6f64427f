#include "onnx/ops/table.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace crisol::onnx {

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    const auto add = [&](const std::vector<std::vector<Row>>& families, bool computes_f64) {
      for (const auto& family : families)
        for (Row row : family) {
          row.computes_f64 = computes_f64;
          all.push_back(row);
        }
    };
    add({pointwise_rows(), unary_rows(), activation_rows(), bit_rows(), reduce_rows(), algebra_rows(), product_rows(),
         random_rows(), shape_rows(), select_rows(), index_rows(), pad_rows(), control_rows(), sequence_rows(),
         network_rows(), normalize_rows(), recurrent_rows(), window_rows()},
        true);
    add({loss_rows(), attention_rows(), token_rows(), signal_rows(), quantize_rows(), microsoft_rows(),
         quantized_node_rows(), nchwc_rows(), resize_rows(), vision_rows(), detection_rows(), feature_rows(),
         training_rows(), tree_rows(), tree_ensemble_rows(), support_vector_rows(), linear_model_rows(), label_rows(),
         label_encoder_rows()},
        false);
    return all;
  }();
  return rows;
}

namespace {

/// The rows of all ops with a name.
auto rows_named(std::string_view op) {
  static const std::multimap<std::string_view, const Row*> rows = [] {
    std::multimap<std::string_view, const Row*> by_name;
    for (const Row& row : all_rows()) by_name.emplace(row.name, &row);
    return by_name;
  }();
  return rows.equal_range(op);
}

}  // namespace

const Row* find_row(std::string_view domain, std::string_view op, std::int64_t version) {
  const auto [begin, end] = rows_named(op);
  for (auto at = begin; at != end; ++at)
    if (at->second->domain == domain && at->second->first <= version && version <= at->second->last) return at->second;
  return nullptr;
}

bool computes_f64(std::string_view domain, std::string_view op) {
  const auto [begin, end] = rows_named(op);
  return std::none_of(begin, end,
                      [&](const auto& row) { return row.second->domain == domain && !row.second->computes_f64; });
}

std::string versions_of(std::string_view domain, std::string_view op) {
  std::string text;
  for (const Row& row : all_rows())
    if (row.domain == domain && row.name == op)
      text += concat(text.empty() ? "" : ", ", row.first, row.last == row.first ? "" : concat(" to ", row.last));
  return text;
}

}  // namespace crisol::onnx
