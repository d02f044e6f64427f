// Products of matrices from ONNX files.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;

TEST_CASE("onnx: products of f16 are computed in f32") {
  manual_seed(15);
  const Tensor a = randn({3, 40}).to(DType::f16), b = randn({40, 5}).to(DType::f16), c = randn({5}).to(DType::f16);
  const Tensor exact = matmul(a.to(DType::f32), b.to(DType::f32));
  CHECK(nearly(run_op({"MatMul"}, {a, b})[0], exact.to(DType::f16)));
  CHECK(nearly(run_op({"Gemm"}, {a, b, c})[0], (exact + c.to(DType::f32)).to(DType::f16)));
  CHECK(nearly(run_op({"Gemm", {number("transB", 1)}}, {a, b.t(), c})[0], (exact + c.to(DType::f32)).to(DType::f16)));
  CHECK(refusal_of_op({"MatMul"}, {a, b.to(DType::f32)}) == Contains("factors of f16 and f32"));
}
