#include "cli/bench/groups.h"
#include "crisol/ops/matmul.h"

namespace crisol::cli::bench {

namespace {

/// A matrix, or a batch of matrices. `matrix` is a view of the contiguous tensor `stored`.
struct Operand {
  Tensor stored, matrix;
};

Operand operand(const Values& v, std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed) {
  Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
  if (batch > 1) shape = {batch, shape[0], shape[1]};
  const Tensor stored = numbers(v, shape);
  return {stored, transposed ? stored.transpose(-2, -1) : stored};
}

Work prepare_gemm(const Values& v) {
  const std::int64_t m = v.number("m"), n = v.number("n"), k = v.number("k"), batch = v.number("batch");
  const Operand a = operand(v, batch, m, k, v.on("transa")), b = operand(v, batch, k, n, v.on("transb"));
  Work work;
  work.flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k * batch);
  work.run = in_precision(precision_of(v), [=] { ops::matmul(a.matrix, b.matrix); });
  if (!v.on("kept"))
    work.renew = [=] {
      touch(a.stored);
      touch(b.stored);
    };
  return work;
}

}  // namespace

const Case gemm_case{"gemm",
                     "matrix product a (m, k) times b (k, n)",
                     {{"m", "1024", ">=1", "rows of a"},
                      {"n", "1024", ">=1", "columns of b"},
                      {"k", "1024", ">=1", "columns of a"},
                      {"transa", "0", "0|1", "1: a lies transposed in memory"},
                      {"transb", "0", "0|1", "1: b lies transposed in memory"},
                      {"batch", "1", ">=1", "products in one call"},
                      precision_key(),
                      dtype_key(),
                      {"kept", "0", "0|1", "0: both are written in between, so all packing is included; 1: they stay"}},
                     prepare_gemm};

}  // namespace crisol::cli::bench
