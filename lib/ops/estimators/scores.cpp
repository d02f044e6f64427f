// Scores and labels of rows: cl_kernels/estimators.
#include "ops/estimators/scores.h"

#include <algorithm>

#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t most_lanes = 16;

/// The lanes of a vector that takes a row.
std::int64_t lanes_of(std::int64_t columns) { return columns <= 4 ? 4 : columns <= 8 ? 8 : most_lanes; }

}  // namespace

Scores row_scores(const Tensor& sums, const Tensor& base, const Tensor& labels, const ScoreRule& rule) {
  const std::int64_t rows = sums.size(0), columns = sums.size(1);
  const bool has_labels = labels.defined(), has_base = base.defined();
  const Scores scores{empty({rows, rule.kind == ScoreKind::each ? columns : 2}, DType::f32, sums.device()),
                      has_labels ? empty({rows}, DType::i64, sums.device()) : Tensor()};
  if (rows == 0) return scores;
  runtime::DeviceState& device = state_of(sums);
  const dispatch::Target target = dispatch::target_of(device);
  const dispatch::WorkSplit split = split_for(target, rows, 1024, 16, 4 * columns);
  const runtime::NdRange range = range_of(target, split.items);
  // If there are no labels, another buffer takes their place, and the kernel does not read it.
  const Tensor none = has_labels ? labels : empty({1}, DType::i64, sums.device());
  const Tensor start = has_base ? base : sums, found = has_labels ? scores.labels : none;
  const bool is_short = target.takes_cpu_kernels() && columns <= most_lanes && may_score_rows(rule);
  runtime::KernelSpec spec{"estimators/row_scores.cl",
                           is_short ? "score_short_rows" : "row_scores",
                           {{"TRANSFORM", static_cast<std::int64_t>(rule.transform)},
                            {"KIND", static_cast<std::int64_t>(rule.kind)},
                            {"LABELS", has_labels ? 1 : 0},
                            {"MARKS_ABSENT", rule.marks_absent ? 1 : 0}}};
  if (is_short) spec.defines.add({"SHORT", 1});
  runtime::launch(device, spec, range, in(sums), in(start), in(none), out(scores.values), out(found), rows, columns,
                  static_cast<float>(rule.scale), std::int32_t{has_base}, split.chunk);
  return scores;
}

Tensor divide_rows(const Tensor& x, RowNorm norm) {
  const std::int64_t rows = x.size(0), columns = x.size(1);
  const Tensor y = empty(x.shape(), DType::f32, x.device());
  if (y.numel() == 0) return y;
  runtime::DeviceState& device = state_of(x);
  const dispatch::Target target = dispatch::target_of(device);
  const Contiguous from(x);
  const dispatch::WorkSplit split = split_for(target, rows, 256, 1, std::max<std::int64_t>(2 * columns, 2));
  const bool is_short = target.takes_cpu_kernels() && columns <= most_lanes;
  runtime::KernelSpec spec{"estimators/divide_rows.cl",
                           is_short ? "divide_short_rows" : "divide_rows",
                           {{"NORM", static_cast<std::int64_t>(norm)}}};
  if (is_short) spec.defines.add({"SHORT", 1});
  if (is_short) spec.defines.add({"VW", lanes_of(columns)});
  runtime::launch(device, spec, range_of(target, split.items), in(from), out(y), rows, columns, split.chunk);
  return y;
}

Scores pair_scores(const Tensor& pairs, const Tensor& a, const Tensor& b, const Tensor& labels) {
  const std::int64_t rows = pairs.size(0), classes = labels.numel();
  const bool has_probabilities = a.defined();
  const Tensor work = empty({rows, classes}, DType::f32, pairs.device());
  const Scores scores{has_probabilities ? empty({rows, classes}, DType::f32, pairs.device()) : Tensor(),
                      empty({rows}, DType::i64, pairs.device())};
  if (rows == 0) return scores;
  runtime::DeviceState& device = state_of(pairs);
  const dispatch::Target target = dispatch::target_of(device);
  const std::int64_t iterations = has_probabilities ? 100 * classes * classes : classes * classes;
  const dispatch::WorkSplit split = split_for(target, rows, 64, 1, std::max<std::int64_t>(iterations, 2));
  runtime::launch(device, {"estimators/pair_scores.cl", "pair_scores", {{"PROBABILITIES", has_probabilities ? 1 : 0}}},
                  range_of(target, split.items), out(pairs), in(has_probabilities ? a : labels),
                  in(has_probabilities ? b : labels), in(labels), out(work),
                  out(has_probabilities ? scores.values : work), out(scores.labels), rows, classes, split.chunk);
  return scores;
}

}  // namespace crisol::ops
