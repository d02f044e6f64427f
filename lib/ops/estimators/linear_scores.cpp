// Linear models with few results: cl_kernels/estimators.
#include "ops/estimators/linear_scores.h"

#include <algorithm>

#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

LinearWeights::LinearWeights(const std::vector<float>& coefficients, const std::vector<float>& given_bias,
                             std::int64_t result_columns, Device device)
    : columns(result_columns),
      features(static_cast<std::int64_t>(coefficients.size()) / columns),
      lanes(columns <= 4   ? 4
            : columns <= 8 ? 8
                           : most_columns) {
  std::vector<float> turned(static_cast<std::size_t>(features * lanes)), padded = given_bias;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t f = 0; f < features; ++f)
      turned[static_cast<std::size_t>(f * lanes + c)] = coefficients[static_cast<std::size_t>(c * features + f)];
  padded.resize(static_cast<std::size_t>(lanes));
  weight = from_vector(turned, {features, lanes}, device);
  bias = from_vector(padded, {lanes}, device);
  if (columns <= 4) rows = from_vector(coefficients, {columns, features}, device);
}

Scores linear_scores(const Tensor& x, const LinearWeights& weights, const Tensor& labels, const ScoreRule& rule) {
  constexpr const char* op = "linear_scores";
  require_dtype(op, "the input", x, DType::f32);
  require(x.dim() == 2 && x.size(1) == weights.features, op, "the input has shape ", x.shape(), ", (rows, ",
          weights.features, ") expected");
  const std::int64_t rows = x.size(0), columns = weights.columns;
  const bool has_labels = labels.defined(), is_each = rule.kind == ScoreKind::each;
  const bool has_scores = has_labels || !is_each || rule.transform != ScoreTransform::none;
  const Tensor sums = empty({rows, columns}, DType::f32, x.device());
  const bool has_rows = weights.rows.defined() && may_score_rows(rule);
  const Scores scores{is_each && !has_scores ? sums : empty({rows, is_each ? columns : 2}, DType::f32, x.device()),
                      has_labels ? empty({rows}, DType::i64, x.device()) : Tensor()};
  if (rows == 0) return scores;
  runtime::DeviceState& device = state_of(x);
  const dispatch::Target target = dispatch::target_of(device);
  const Contiguous from(x);
  constexpr std::int64_t rows_at_once = 8;
  const dispatch::WorkSplit split =
      split_for(target, rows, 512, rows_at_once, std::max<std::int64_t>(weights.features + 8 * columns, 2));
  const runtime::NdRange range = range_of(target, split.items);
  // If there are no labels, another buffer takes their place, and the kernel does not read it.
  const Tensor none = has_labels ? labels : empty({1}, DType::i64, x.device());
  const Tensor values = has_scores ? scores.values : sums, found = has_labels ? scores.labels : none;
  const runtime::Defines defines{{"SCORES", has_scores ? 1 : 0},
                                 {"TRANSFORM", static_cast<std::int64_t>(rule.transform)},
                                 {"KIND", static_cast<std::int64_t>(rule.kind)},
                                 {"LABELS", has_labels ? 1 : 0}};
  if (has_rows && target.takes_cpu_kernels()) {
    runtime::launch(device, {"estimators/linear_score.cl", "linear_score", defines}, range, in(from), in(weights.rows),
                    in(weights.bias), in(none), out(values), out(found), rows, weights.features,
                    static_cast<std::int32_t>(columns), split.chunk);
    return scores;
  }
  runtime::KernelSpec spec{"estimators/linear_scores.cl", "linear_scores", defines};
  spec.defines.add({"VW", weights.lanes});
  spec.defines.add({"ROWS", target.takes_cpu_kernels() ? rows_at_once : 1});
  spec.defines.add({"MARKS_ABSENT", rule.marks_absent ? 1 : 0});
  runtime::launch(device, spec, range, in(from), in(weights.weight), in(weights.bias), in(none), out(sums), out(values),
                  out(found), rows, weights.features, columns, split.chunk);
  return scores;
}

}  // namespace crisol::ops
