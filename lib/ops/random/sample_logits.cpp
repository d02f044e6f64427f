#include <cfloat>
#include <cmath>

#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/sampling.h"
#include "crisol/ops/softmax.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/view.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "ops/random/draw.h"

namespace crisol::ops {

namespace {

const Table<GatherProblem> table("sample_logits", gather_variants());

void check(const Tensor& logits, double temperature, std::int64_t top_k, const Generator& generator) {
  const char* const op = table.op;
  require(logits.defined(), op, "the logits are undefined");
  require(computes_in_f32(logits.dtype()), op, "the logits must be ", TypesThat{computes_in_f32}, ", they are ",
          logits.dtype());
  require(logits.dim() == 1 || logits.dim() == 2, op, "the logits must be (C) or (N, C), their shape is ",
          logits.shape());
  const std::int64_t n = logits.shape().back();
  require(n > 0, op, "there are no classes, the shape is ", logits.shape());
  require(temperature >= 0 && std::isfinite(temperature), op, "the temperature is ", temperature,
          ", it must be finite and not negative");
  require(top_k >= 0 && top_k <= n, op, "top_k is ", top_k, ", it must be in [0, ", n, "]");
  require(generator.device() == logits.device(), op, "the logits are on ", logits.device(), ", the generator on ",
          generator.device());
}

// The probabilities for each row (rows, n). The row's largest logit is subtracted first, so that no temperature causes
// an overflow.
Tensor probabilities(const Tensor& logits, double temperature) {
  return softmax(div(sub(logits, max(logits, {1}, true)), temperature), 1);
}

}  // namespace

Tensor sample_logits(const Tensor& logits, double temperature, std::int64_t top_k, const Generator& generator) {
  check(logits, temperature, top_k, generator);
  const std::int64_t n = logits.shape().back(), rows = logits.numel() / n;
  const Shape shape = logits.dim() == 1 ? Shape{} : Shape{rows};
  if (rows == 0) return empty(shape, DType::i64, logits.device());
  const bool greedy = temperature < FLT_MIN, all = top_k == 0 || top_k == n;
  const Tensor scores = cast(reshape(logits, {rows, n}), DType::f32);
  if (greedy) return reshape(argmax(scores, {1}), shape);
  if (all) return reshape(categories(probabilities(scores, temperature), 1, true, generator, 0), shape);
  const SortResult best = topk(scores, top_k);
  const Tensor picked = categories(probabilities(best.values, temperature), 1, true, generator, 0);
  // -1: the class of a row for which nothing was drawn.
  constexpr auto none = static_cast<std::uint64_t>(std::int64_t{-1});
  return reshape(gather_or(table, best.indices, 1, picked, none, 0), shape);
}

Tensor sample_logits(const Tensor& logits, double temperature, std::int64_t top_k) {
  require(logits.defined(), table.op, "the logits are undefined");
  return sample_logits(logits, temperature, top_k, default_generator(logits.device()));
}

}  // namespace crisol::ops
