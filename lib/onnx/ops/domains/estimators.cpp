#include "onnx/ops/domains/estimators.h"

#include <utility>

namespace crisol::onnx {

using ops::ScoreTransform;

std::vector<float> floats_of(Call& call, const char* name) {
  const std::vector<double> values = call.reals(name);
  return {values.begin(), values.end()};
}

Tensor rows_of(const Tensor& features) {
  return (features.dim() == 1 ? features.unsqueeze(0) : features).to(DType::f32);
}

ScoreTransform transform_of(Call& call) {
  const std::string name = call.text_of("post_transform", {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"});
  return name == "NONE"           ? ScoreTransform::none
         : name == "LOGISTIC"     ? ScoreTransform::logistic
         : name == "SOFTMAX"      ? ScoreTransform::softmax
         : name == "SOFTMAX_ZERO" ? ScoreTransform::softmax_zero
                                  : ScoreTransform::probit;
}

Ensemble::Ensemble(ops::PackedTrees trees, std::vector<float> base, Numbers labels, ops::ScoreRule rule)
    : rule_(rule),
      ends_with_sums_(base.empty() && labels.empty() && rule.scale == 1 && rule.transform == ScoreTransform::none &&
                      trees.combine == ops::TreeCombine::sum),
      parts_([trees = std::move(trees), base = std::move(base), labels = std::move(labels)](Device device) {
        return Parts{{trees, device}, list_or_none(base, device), list_or_none(labels, device)};
      }) {}

ops::Scores Ensemble::operator()(const Tensor& features, Device device) const {
  const Parts parts = parts_.on(device);
  const Tensor sums = ops::tree_sums(rows_of(features), parts.trees, parts.labels.defined());
  if (ends_with_sums_) return {sums, Tensor()};
  return ops::row_scores(sums, parts.base, parts.labels, rule_);
}

graph::Run targets_of(Call& call, ops::PackedTrees trees, std::vector<float> base, const ops::ScoreRule& rule) {
  call.gives(0, value_of(DType::f32, 2));
  return [run = Ensemble(std::move(trees), std::move(base), {}, rule)](const graph::Data& in, Device device) {
    return graph::Data{run(in[0].tensor(device), device).values};
  };
}

}  // namespace crisol::onnx
