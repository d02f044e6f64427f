#include "cli/bench/groups.h"
#include "crisol/ops/matmul.h"
#include "crisol/random.h"

namespace crisol::cli::bench {

namespace {

Tensor matrix(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed) {
  Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
  if (batch > 1) shape = {batch, shape[0], shape[1]};
  const Tensor stored = randn(shape);
  return transposed ? stored.transpose(-2, -1) : stored;
}

Work prepare_gemm(const Values& v) {
  const std::int64_t m = v.number("m"), n = v.number("n"), k = v.number("k"), batch = v.number("batch");
  const Tensor a = matrix(batch, m, k, v.on("transa"));
  const Tensor b = matrix(batch, k, n, v.on("transb"));
  Work work;
  work.flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k * batch);
  work.run = [=] { ops::matmul(a, b); };
  return work;
}

}  // namespace

const Case gemm_case{"gemm",
                     "matrix product a (m, k) times b (k, n), all packing included",
                     {{"m", "1024", ">=1", "rows of a"},
                      {"n", "1024", ">=1", "columns of b"},
                      {"k", "1024", ">=1", "columns of a"},
                      {"transa", "0", "0|1", "1: a lies transposed in memory"},
                      {"transb", "0", "0|1", "1: b lies transposed in memory"},
                      {"batch", "1", ">=1", "products in one call"}},
                     prepare_gemm};

}  // namespace crisol::cli::bench
