// Normalisations and Hardmax from ONNX files.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using Tensors = std::vector<Tensor>;

TEST_CASE("onnx: normalisations of groups, lengths and moments") {
  manual_seed(6);
  const Tensor x = randn({2, 6, 4, 3}), scale = randn({6}), bias = randn({6}), groups = randn({3});
  const Tensor y = layer_norm(x.reshape({2, 3, 24}), 24);
  CHECK(nearly(run_op({"GroupNormalization", {number("num_groups", 3)}}, {x, scale, bias})[0],
               y.reshape(x.shape()) * scale.reshape({6, 1, 1}) + bias.reshape({6, 1, 1})));
  CHECK(nearly(run_op({"GroupNormalization", {number("num_groups", 3)}, 18}, {x, groups, groups})[0],
               ((y + 1) * groups.unsqueeze(1)).reshape(x.shape())));
  CHECK(refusal_of_op({"GroupNormalization", {number("num_groups", 4)}}, {x, scale, bias}) ==
        Contains("4 groups of channels"));
  Tensor rows = randn({3, 4});
  rows[1] = 0.0;
  CHECK(nearly(run_op({"LpNormalization", {number("p", 1)}}, {rows})[0].abs().sum(-1),
               from_vector(std::vector<float>{1, 0, 1})));
  CHECK(refusal_of_op({"LpNormalization", {number("p", 3)}}, {rows}) == Contains("p is 3, 1 or 2 expected"));
  const Tensor moments = run_op({"MeanVarianceNormalization"}, {x})[0];
  CHECK(nearly(moments.mean({0, 2, 3}), zeros({6})));
  CHECK(nearly(moments.var({0, 2, 3}, false, 0), ones({6})));
  const Tensor ties = from_vector(std::vector<float>{1, 3, 3, 0}, {2, 2});
  CHECK(nearly(run_op({"Hardmax"}, {ties})[0], from_vector(std::vector<float>{0, 1, 1, 0}, {2, 2})));
  CHECK(nearly(run_op({"Hardmax", {number("axis", 0)}, 11}, {ties})[0],
               from_vector(std::vector<float>{0, 1, 0, 0}, {2, 2})));
}

TEST_CASE("onnx: f16 sums and squares above 65504 inside an op") {
  const auto half = [](const std::vector<float>& values, const Shape& shape) {
    return from_vector(values, shape).to(DType::f16);
  };
  const Tensor x = half({300, -400, 0, 1200, 500, 0}, {2, 3});
  const auto check = [&](const OnnxOp& op, const Tensor& input, const std::vector<float>& expected) {
    CAPTURE(op.name);
    const Tensor y = run_op(op, {input})[0];
    CHECK(y.dtype() == DType::f16);
    CHECK(y.to(DType::f32).flatten().allclose(from_vector(expected), 2e-3, 1e-3));
  };
  const auto rows = onnx_file::attribute("axes", std::vector<std::int64_t>{1});
  check({"ReduceL2", {rows}, 13}, x, {500, 1300});
  check({"ReduceL1", {rows}, 13}, x, {700, 1700});
  check({"ReduceLogSum", {rows}, 13}, half({60000, 60000, 60000}, {1, 3}), {12.1007f});
  check({"ReduceSumSquare", {rows}, 13}, half({200, 100, 3}, {1, 3}), {50009});
  check({"ReduceMean", {rows}, 13}, half({60000, 60000, 60000}, {1, 3}), {60000});
  check({"LpNormalization", {number("p", 2)}}, half({60000, 60000, 60000}, {1, 3}), {0.57735f, 0.57735f, 0.57735f});
  check({"LpNormalization", {number("p", 1)}}, half({60000, 60000, 60000}, {1, 3}), {0.33333f, 0.33333f, 0.33333f});
  const auto image = half({600, -600, 1200, -1200}, {1, 1, 2, 2});
  check({"MeanVarianceNormalization"}, image, {0.632456f, -0.632456f, 1.264911f, -1.264911f});
  check({"LRN", {number("size", 1), onnx_file::attribute("alpha", 1.f), onnx_file::attribute("beta", 0.5f)}}, image,
        {1, -1, 1, -1});
}

TEST_CASE("onnx: normalisations of no elements") {
  const Tensor empty = zeros({2, 0, 3, 0}), none = zeros({0});
  CHECK(run_op({"InstanceNormalization"}, {empty, none, none})[0].shape() == empty.shape());
  CHECK(run_op({"LRN", {number("size", 3)}}, {empty})[0].shape() == empty.shape());
  CHECK(run_op({"Hardmax"}, {empty})[0].shape() == empty.shape());
  CHECK(run_op({"BatchNormalization"}, {empty, none, none, none, none})[0].shape() == empty.shape());
}

TEST_CASE("onnx: reductions of whole numbers whose squares and sums are large") {
  const auto check = [](const char* op, const std::vector<std::int64_t>& x, DType dtype, std::int64_t expected) {
    CAPTURE(op);
    const Tensor y = run_op({op, {number("keepdims", 0)}, 13}, {from_vector(x).to(dtype)})[0];
    CHECK(y.dtype() == dtype);
    CHECK(y.to(DType::i64).item<std::int64_t>() == expected);
  };
  for (const DType dtype : {DType::i32, DType::i64}) {
    check("ReduceLogSumExp", {1, 2, 3, -5}, dtype, 3);           // Of 3.41.
    check("ReduceLogSumExp", {-1, -2, -3, -5}, dtype, 0);        // Of -0.57.
    check("ReduceL2", {50000, 40000, -30000}, dtype, 70710);     // Of 70710.7.
    check("ReduceLogSum", {2000000000, 2000000000}, dtype, 22);  // Of 22.1.
  }
  check("ReduceL2", {20, 15}, DType::u8, 25);
  check("ReduceSumSquare", {3, 4}, DType::i32, 25);
}

TEST_CASE("onnx: activations of newer versions") {
  const Tensor x = from_vector(std::vector<float>{-2, -0.25f, 0.5f, 3});
  CHECK(nearly(run_op({"Shrink", {onnx_file::attribute("lambd", 0.5f), onnx_file::attribute("bias", 1.f)}}, {x})[0],
               from_vector(std::vector<float>{-1, 0, 0, 2})));
  CHECK(nearly(run_op({"SwiGLU", {onnx_file::attribute("alpha", 2.f)}}, {x, x + 1})[0], x * sigmoid(x * 2) * (x + 1)));
  CHECK(refusal_of_op({"SwiGLU"}, {x, x.unsqueeze(0)}) == Contains("inputs of shapes (4) and (1, 4)"));
}
