#include "cli/bench/groups.h"
#include "crisol/functions/elementwise.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/quantized.h"
#include "crisol/random.h"

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

/// A product with a weight in 8 or 4 bits. No copies are made from codes, so nothing is written in between.
std::function<void()> quantized_product(const Values& v) {
  if (v.number("batch") != 1 || v.on("transa") || v.on("transb"))
    throw UsageError("gemm: with dtype=q8 and dtype=q4, batch is 1 and nothing is transposed");
  const std::int64_t block = v.number("block");
  if (block != 0 && block != 16 && block % 32 != 0)
    throw UsageError("gemm: block cannot be '" + v.text("block") + "'; it takes 0, 16 or a multiple of 32");
  const QuantizedWeight b = quantize(randn({v.number("n"), v.number("k")}), {v.is("dtype", "q8") ? 8 : 4, block});
  return [b, a = randn({v.number("m"), v.number("k")})] { ops::quantized_linear(a, b); };
}

/// Whole numbers of one byte.
Tensor bytes(std::int64_t rows, std::int64_t columns) { return (rand({rows, columns}) * 256 - 128).to(DType::i8); }

/// A product of whole numbers. Both operands are packed in each call.
std::function<void()> product_of_bytes(const Values& v) {
  if (v.number("batch") != 1 || v.on("transa") || v.on("transb"))
    throw UsageError("gemm: with dtype=i8, batch is 1 and nothing is transposed");
  return [a = bytes(v.number("m"), v.number("k")), b = bytes(v.number("k"), v.number("n"))] {
    ops::matmul_of_bytes(a, b);
  };
}

Work prepare_gemm(const Values& v) {
  const std::int64_t m = v.number("m"), n = v.number("n"), k = v.number("k"), batch = v.number("batch");
  Work work;
  work.flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k * batch);
  if (v.is("dtype", "q8") || v.is("dtype", "q4")) {
    work.run = in_precision(precision_of(v), quantized_product(v));
    return work;
  }
  if (v.is("dtype", "i8")) {
    work.run = product_of_bytes(v);
    return work;
  }
  const Operand a = operand(v, batch, m, k, v.on("transa")), b = operand(v, batch, k, n, v.on("transb"));
  if (v.on("kept") && batch == 1) {
    // b is a weight, as in a model, so that copies of it are kept.
    work.run = in_precision(precision_of(v), [a, weight = b.matrix.transpose(0, 1)] { ops::linear(a.matrix, weight); });
    return work;
  }
  work.run = in_precision(precision_of(v), [=] { ops::matmul(a.matrix, b.matrix); });
  if (!v.on("kept"))
    work.renew = [=] {
      touch(a.stored);
      touch(b.stored);
    };
  return work;
}

/// The types of other cases, i8, and weights in 8 and 4 bits.
Key dtype_of_gemm() {
  Key key = dtype_key();
  key.allowed += "|i8|q8|q4";
  key.help =
      "of operands and results in memory; q8, q4: b has codes of 8 or 4 bits, the others are f32; sums are f32, of i8 "
      "i32";
  return key;
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
                      dtype_of_gemm(),
                      {"block", "32", ">=0", "q8, q4: elements along k that share a scale; 0: all of them"},
                      {"kept", "0", "0|1",
                       "0: both are written in between, so all packing is included; 1: they stay, and b is a weight "
                       "whose copies are kept"}},
                     prepare_gemm};

}  // namespace crisol::cli::bench
