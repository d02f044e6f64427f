// Drawing categories: cl_kernels/random/multinomial.cl.
#include "base/ceil_div.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/sampling.h"
#include "crisol/ops/sort.h"
#include "crisol/ops/view.h"
#include "dispatch/target.h"
#include "ops/check.h"
#include "ops/index/indexing.h"
#include "ops/random/draw.h"
#include "ops/result.h"

namespace crisol::ops {

namespace {

constexpr const char* op = "multinomial";
constexpr std::int64_t chunk = 256;

struct Rows {
  Tensor weights;       ///< f32 (rows, n), contiguous.
  Tensor sums, totals;  ///< The sums of chunks and the totals of rows.
  std::int64_t rows, n;
};

runtime::BuiltKernel& kernel_of(const Tensor& x, const char* entry) {
  runtime::DeviceState& device = state_of(x);
  return runtime::resolve(
      device,
      {"random/multinomial.cl", entry, {{"VW", dispatch::target_of(device).cpu_vector_width()}, {"CHUNK", chunk}}});
}

void check(const Tensor& weights, std::int64_t num_samples, bool replacement, const Generator& generator) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  require(weights.defined(), op, "the weights are undefined");
  require(computes_in_f32(weights.dtype()), op, "the weights must be ", TypesThat{computes_in_f32}, ", they are ",
          weights.dtype());
  require(weights.dim() == 1 || weights.dim() == 2, op, "the weights must be (C) or (N, C), their shape is ",
          weights.shape());
  const std::int64_t n = weights.shape().back();
  require(n > 0 && n <= most, op, "there are ", n, " categories, there must be 1 to 2^24");
  require(num_samples > 0, op, "num_samples is ", num_samples, ", it must be positive");
  require(replacement || num_samples <= n, op, "num_samples is ", num_samples, ", without replacement there are ", n);
  require(4 * (n / chunk + chunk) <= dispatch::traits_of(state_of(weights)).loop_budget, op, weights.device().name(),
          " ends loops early, without an error: ", n, " categories are too many for it");
  require(generator.device() == weights.device(), op, "the weights are on ", weights.device(), ", the generator on ",
          generator.device());
}

Rows sums_of(const Tensor& weights, std::int32_t number) {
  runtime::DeviceState& device = state_of(weights);
  runtime::BuiltKernel& sum_chunks = kernel_of(weights, "sum_chunks");
  runtime::BuiltKernel& row_totals = kernel_of(weights, "row_totals");
  const std::int64_t rows = weights.shape()[0], n = weights.shape()[1], chunks = ceil_div(n, chunk);
  const Rows result{weights, empty({rows, chunks}, DType::f32, weights.device()),
                    empty({rows}, DType::f32, weights.device()), rows, n};
  runtime::launch(device, sum_chunks, runtime::flat_range(device, rows * chunks), in(weights), out(result.sums), rows,
                  n);
  runtime::FaultFlag& fault = fault_flag_of(device);
  runtime::launch(device, row_totals, runtime::flat_range(device, rows), in(result.sums), out(result.totals),
                  fault.words(), rows, chunks, number);
  fault.expect();
  return result;
}

Tensor with_replacement(const Tensor& weights, std::int64_t count, const Generator& generator, std::int32_t number) {
  runtime::BuiltKernel& kernel = kernel_of(weights, "draw");
  const Rows rows = sums_of(weights, number);
  const Tensor samples = empty({rows.rows, count}, DType::i64, weights.device());
  draw(generator, kernel, samples.numel(), in(rows.weights), in(rows.sums), in(rows.totals), out(samples), rows.rows,
       rows.n, count);
  return samples;
}

Tensor without_replacement(const Tensor& weights, std::int64_t count, const Generator& generator, std::int32_t number) {
  runtime::BuiltKernel& kernel = kernel_of(weights, "race");
  const Rows rows = sums_of(weights, number);
  const Tensor keys = empty(weights.shape(), DType::f32, weights.device());
  draw(generator, kernel, keys.numel(), in(rows.weights), in(rows.totals), out(keys), rows.rows, rows.n);
  const SortResult first = topk(keys, count);
  return where(gt(first.values, 0.0), first.indices, full({}, -1, DType::i64, weights.device()));
}

}  // namespace

Tensor categories(const Tensor& weights, std::int64_t num_samples, bool replacement, const Generator& generator,
                  std::int32_t number) {
  check(weights, num_samples, replacement, generator);
  const std::int64_t n = weights.shape().back();
  const Tensor rows = contiguous(cast(reshape(weights, {weights.numel() / n, n}), DType::f32));
  const Tensor samples = replacement ? with_replacement(rows, num_samples, generator, number)
                                     : without_replacement(rows, num_samples, generator, number);
  check_indices(op, samples, n);
  return weights.dim() == 1 ? reshape(samples, {num_samples}) : samples;
}

Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement, const Generator& generator) {
  return categories(weights, num_samples, replacement, generator,
                    runtime::fault_number(op, runtime::FaultKind::weights));
}

Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement) {
  require(weights.defined(), op, "the weights are undefined");
  return multinomial(weights, num_samples, replacement, default_generator(weights.device()));
}

void multinomial_into(const Tensor& samples, const Tensor& weights, std::int64_t num_samples, bool replacement,
                      const Generator& generator) {
  deliver(op, {&samples}, {&weights},
          [&] { return std::array{multinomial(weights, num_samples, replacement, generator)}; });
}

}  // namespace crisol::ops
