#include "onnx/ops/table.h"

#include <map>

#include "base/text.h"

namespace crisol::onnx {

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (const auto& family :
         {pointwise_rows(),     unary_rows(),          activation_rows(),   network_rows(),   shape_rows(),
          reduce_rows(),        select_rows(),         pad_rows(),          control_rows(),   sequence_rows(),
          loss_rows(),          attention_rows(),      token_rows(),        normalize_rows(), recurrent_rows(),
          signal_rows(),        quantize_rows(),       microsoft_rows(),    nchwc_rows(),     resize_rows(),
          vision_rows(),        window_rows(),         detection_rows(),    bit_rows(),       index_rows(),
          algebra_rows(),       random_rows(),         feature_rows(),      training_rows(),  tree_rows(),
          tree_ensemble_rows(), support_vector_rows(), linear_model_rows(), label_rows()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return rows;
}

const Row* find_row(std::string_view domain, std::string_view op, std::int64_t version) {
  static const std::multimap<std::string_view, const Row*> rows = [] {
    std::multimap<std::string_view, const Row*> by_name;
    for (const Row& row : all_rows()) by_name.emplace(row.name, &row);
    return by_name;
  }();
  const auto [begin, end] = rows.equal_range(op);
  for (auto at = begin; at != end; ++at)
    if (at->second->domain == domain && at->second->first <= version && version <= at->second->last) return at->second;
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
