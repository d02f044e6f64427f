// Linear models of the domain ai.onnx.ml.
#include <optional>

#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/softmax.h"
#include "onnx/ops/domains/estimators.h"
#include "onnx/ops/domains/labels.h"
#include "onnx/ops/table.h"
#include "ops/estimators/linear_scores.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;
using ops::LinearWeights;
using ops::ScoreKind;
using ops::ScoreTransform;

/// A product with a weight from the attributes, and the step from its sums to scores. The weight has a row for each
/// result.
class LinearModel {
 public:
  LinearModel(Call& call, std::int64_t results, const Numbers& labels, ScoreKind kind)
      : LinearModel(floats_of(call, "coefficients"), floats_of(call, "intercepts"), results, labels,
                    {.kind = kind, .transform = transform_of(call)}) {}

  ops::Scores operator()(const Tensor& features, Device device) const {
    const Parts parts = parts_.on(device);
    const Tensor x = rows_of(features);
    if (parts.few && !autograd::observed({x})) return ops::linear_scores(x, *parts.few, parts.labels, rule_);
    const Tensor sums = linear(x, parts.weight, parts.bias);
    const ops::Scores scores = ops::row_scores(sums.detach(), {}, parts.labels, rule_);
    return {autograd::observed({sums}) ? with_gradients(sums) : scores.values, scores.labels};
  }

 private:
  struct Parts {
    Tensor weight, bias, labels;
    std::optional<LinearWeights> few;
  };

  LinearModel(const std::vector<float>& coefficients, const std::vector<float>& intercepts, std::int64_t rows,
              const Numbers& labels, const ops::ScoreRule& rule)
      : rule_(rule), parts_([=](Device device) {
          const auto features = static_cast<std::int64_t>(coefficients.size()) / rows;
          Parts parts{from_vector(coefficients, {rows, features}, device),
                      list_or_none(intercepts, device),
                      list_or_none(labels, device),
                      {}};
          if (rows <= LinearWeights::most_columns && features <= LinearWeights::most_features)
            parts.few.emplace(coefficients, intercepts, rows, device);
          return parts;
        }) {
    const std::size_t count = coefficients.size();
    require(rows >= 1 && count > 0 && count % static_cast<std::size_t>(rows) == 0, "onnx", count, " coefficients for ",
            rows, " results");
    require(intercepts.empty() || static_cast<std::int64_t>(intercepts.size()) == rows, "onnx", intercepts.size(),
            " intercepts for ", rows, " results");
  }

  /// The scores computed with differentiable functions. As in ONNX Runtime, a row with only one sum has no transform.
  Tensor with_gradients(const Tensor& sums) const {
    require(rule_.transform <= ScoreTransform::softmax, "onnx",
            "the transforms SOFTMAX_ZERO and PROBIT have no gradient");
    const bool is_single = rule_.kind != ScoreKind::each, is_alone = !is_single && sums.size(1) == 1;
    const Tensor y = rule_.transform == ScoreTransform::logistic && !is_alone                ? sigmoid(sums)
                     : rule_.transform == ScoreTransform::softmax && !is_single && !is_alone ? softmax(sums, -1)
                                                                                             : sums;
    return is_single ? cat({-y + 1.0, y}, 1) : y;
  }

  ops::ScoreRule rule_;
  DeviceParts<Parts> parts_;
};

Run linear_regressor(Call& call) {
  call.check_counts(1, 1);
  const LinearModel model(call, call.integer("targets", 1), {}, ScoreKind::each);
  call.gives(0, value_of(DType::f32, 2));
  return [=](const Data& in, Device device) { return Data{model(in[0].tensor(device), device).values}; };
}

/// The outputs are the label with the largest score, and the scores. If there are two labels and one row of
/// coefficients, the row gives the score y of the second label. The scores are then {1 - y, y} after the transform, as
/// in ONNX Runtime.
Run linear_classifier(Call& call) {
  call.check_counts(1, 1, 2);
  const ClassLabels labels = class_labels(call, "classlabels_ints", "classlabels_strings");
  call.integer("multi_class", 0);  // ONNX Runtime ignores it too.
  const auto classes = static_cast<std::int64_t>(labels.numbers.size());
  const bool is_single = classes == 2 && call.reals("intercepts").size() == 1;
  const LinearModel model(call, is_single ? 1 : classes, labels.numbers,
                          is_single ? ScoreKind::share_by_sign : ScoreKind::each);
  call.gives(0, labels.value());
  call.gives(1, value_of(DType::f32, 2));
  return [=](const Data& in, Device device) {
    const ops::Scores scores = model(in[0].tensor(device), device);
    return Data{scores.labels, scores.values};
  };
}

}  // namespace

std::vector<Row> linear_model_rows() {
  return {
      {"LinearClassifier", 1, newest_ml_version, linear_classifier, ml_domain},
      {"LinearRegressor", 1, newest_ml_version, linear_regressor, ml_domain},
  };
}

}  // namespace crisol::onnx
