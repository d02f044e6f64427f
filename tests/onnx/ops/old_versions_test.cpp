// Ops in the forms that ONNX had before version 7 of its set of ops.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
namespace of = crisol::testing::onnx_file;
using doctest::Contains;
using of::attribute;
using of::Sizes;

namespace {

using Doubles = std::vector<double>;

Tensor result(const OnnxOp& op, const std::vector<Tensor>& inputs) { return run_op(op, inputs)[0]; }

/// `f` of each element, in double.
template <class F>
Doubles each(const Tensor& x, F f) {
  Doubles values;
  for (const float one : x.to_vector<float>()) values.push_back(f(static_cast<double>(one)));
  return values;
}

of::Proto consumed(std::int64_t input) { return attribute("consumed_inputs", Sizes{input}); }

/// Rounding of a few functions one after another.
void check_values(const Tensor& found, const Shape& shape, const std::vector<double>& expected) {
  check_close(found, shape, expected, {64});
}

}  // namespace

TEST_CASE("onnx: ops of single elements of version 1, with consumed_inputs") {
  const Tensor x = tensor_of({0.5f, 0.25f, 1.5f, 2.5f, 0.75f}, {5}), y = x - 1;
  const auto check = [](const char* op, const Tensor& in, double (*f)(double)) {
    CAPTURE(op);
    for (const std::int64_t version : {1, 5})
      check_values(result({op, {consumed(0)}, version}, {in}), {5}, each(in, f));
  };
  check("Abs", y, [](double v) { return std::abs(v); });
  check("Ceil", y, [](double v) { return std::ceil(v); });
  check("Exp", y, [](double v) { return std::exp(v); });
  check("Floor", y, [](double v) { return std::floor(v); });
  check("Log", x, [](double v) { return std::log(v); });
  check("Neg", y, [](double v) { return -v; });
  check("Reciprocal", y, [](double v) { return 1 / v; });
  check("Relu", y, [](double v) { return std::max(v, 0.0); });
  check("Sigmoid", y, [](double v) { return 1 / (1 + std::exp(-v)); });
  check("Sqrt", x, [](double v) { return std::sqrt(v); });
  check("Tanh", y, [](double v) { return std::tanh(v); });
  check("Elu", y, [](double v) { return v < 0 ? std::expm1(v) : v; });
  check("HardSigmoid", y, [](double v) { return std::clamp(0.2 * v + 0.5, 0.0, 1.0); });
  check("LeakyRelu", y, [](double v) { return v < 0 ? 0.01 * v : v; });
  check("Selu", y, [](double v) { return 1.0507 * (v < 0 ? 1.6732 * std::expm1(v) : v); });
  check_values(result({"Clip", {attribute("max", 0.3f), consumed(0)}, 1}, {y}), {5},
               each(y, [](double v) { return std::min(v, static_cast<double>(0.3f)); }));
  check_values(result({"PRelu", {consumed(0)}, 1}, {y, tensor_of({-2}, {1})}), {5},
               each(y, [](double v) { return v < 0 ? -2 * v : v; }));
  CHECK(refusal_of_op({"Abs", {consumed(0)}, 6}, {x}) == Contains("attribute \"consumed_inputs\" is not supported"));
}

TEST_CASE("onnx: arithmetic of version 1 broadcasts where an attribute says so") {
  const Tensor a = tensor_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 3, 2}), b = tensor_of({2, 4, 8}, {3});
  const auto of_axis = [&](const char* op) {
    return result({op, {number("broadcast", 1), number("axis", 1), consumed(0)}, 1}, {a, b});
  };
  check_values(of_axis("Add"), {2, 3, 2}, {3, 4, 7, 8, 13, 14, 9, 10, 13, 14, 19, 20});
  check_values(of_axis("Sub"), {2, 3, 2}, {-1, 0, -1, 0, -3, -2, 5, 6, 5, 6, 3, 4});
  check_values(of_axis("Mul"), {2, 3, 2}, {2, 4, 12, 16, 40, 48, 14, 16, 36, 40, 88, 96});
  check_values(of_axis("Div"), {2, 3, 2}, {0.5, 1, 0.75, 1, 0.625, 0.75, 3.5, 4, 2.25, 2.5, 1.375, 1.5});
  CHECK(refusal_of_op({"Add", {}, 1}, {a, b}) == Contains("without broadcast"));
  const Tensor c = tensor_of({4, 3, 2, 1}, {4}), d = tensor_of({1, 2, 3, 9}, {4}), e = tensor_of({1, 1, 7, 2}, {4});
  check_values(result({"Max", {consumed(0)}, 1}, {c, d, e}), {4}, {4, 3, 7, 9});
  check_values(result({"Min", {consumed(0)}, 1}, {c, d, e}), {4}, {1, 1, 2, 1});
  check_values(result({"Sum", {consumed(0)}, 1}, {c, d, e}), {4}, {6, 6, 12, 12});
  check_values(result({"Mean", {consumed(0)}, 1}, {c, d, e}), {4}, {2, 2, 4, 4});
  check_values(result({"Gemm", {number("broadcast", 1), number("transB", 1), attribute("alpha", 2.0f)}, 1},
                      {tensor_of({1, 2, 3, 4}, {2, 2}), tensor_of({1, 0, 1, 1}, {2, 2}), tensor_of({10, 20}, {2})}),
               {2, 2}, {12, 26, 16, 34});
}

TEST_CASE("onnx: layers of version 1 in evaluation") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6, 7, 9}, {1, 2, 2, 2}), scale = tensor_of({2, 3}, {2}),
               shift = tensor_of({1, -1}, {2}), mean = tensor_of({2, 4}, {2}), var = tensor_of({4, 9}, {2});
  const OnnxOp norm{"BatchNormalization", {consumed(0), number("is_test", 1), attribute("epsilon", 0.0f)}, 1};
  check_values(result(norm, {x, scale, shift, mean, var}), {1, 2, 2, 2}, {0, 1, 2, 3, 0, 1, 2, 4});
  check_values(result({"Dropout", {consumed(0), number("is_test", 1)}, 1}, {x}), {1, 2, 2, 2},
               each(x, [](double v) { return v; }));
  Doubles normalised;
  for (const auto& [centre, variance, factor, bias, from] :
       {std::tuple{2.5, 1.25, 2.0, 1.0, 0}, std::tuple{6.75, 2.1875, 3.0, -1.0, 4}})
    for (int i = 0; i < 4; ++i)
      normalised.push_back((x.to_vector<float>()[static_cast<std::size_t>(from + i)] - centre) /
                               std::sqrt(variance + 1e-5) * factor +
                           bias);
  check_values(result({"InstanceNormalization", {consumed(0)}, 1}, {x, scale, shift}), {1, 2, 2, 2}, normalised);
}

TEST_CASE("onnx: ops of version 1 that change shapes and types") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  check_values(result({"Reshape", {attribute("shape", Sizes{0, -1, 1}), consumed(0)}, 1}, {x}), {2, 3, 1},
               {1, 2, 3, 4, 5, 6});
  CHECK(refusal_of_op({"Reshape", {}, 1}, {x}) == Contains("attribute shape is missing"));
  check_values(result({"Concat", {}, 1}, {x, x}), {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(refusal_of_op({"Concat", {}, 4}, {x, x}) == Contains("attribute axis is missing"));
  check_values(result({"Tile", {}, 1}, {x, tensor_of({2}, {}), tensor_of({1}, {})}), {2, 6},
               {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(refusal_of_op({"Tile", {}, 1}, {x, tensor_of({1.5f}, {}), tensor_of({1}, {})}) ==
        Contains("input 1 is 1.5, a whole number expected"));
  const OnnxOp split{"Split", {number("axis", 1)}, 1, "", {"a", "b"}};
  const std::vector<Tensor> parts = run_op(split, {x, from_vector<std::int64_t>({1, 2}, {2})});
  check_values(parts[0], {2, 1}, {1, 4});
  check_values(parts[1], {2, 2}, {2, 3, 5, 6});

  const Tensor whole = result({"Cast", {attribute("to", "INT32")}, 1}, {x + 0.5});
  CHECK(whole.dtype() == DType::i32);
  check_values(whole, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(refusal_of_op({"Cast", {attribute("to", "STRING")}, 5}, {x}) ==
        Contains("elements of string are not supported"));

  const Tensor image = x.reshape({1, 1, 2, 3});
  const auto upsampled = [&](const char* mode) {
    return result(
        {"Upsample", {attribute("height_scale", 2.0f), attribute("width_scale", 1.0f), attribute("mode", mode)}, 1},
        {image});
  };
  check_values(upsampled("nearest"), {1, 1, 4, 3}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  check_values(upsampled("bilinear"), {1, 1, 4, 3}, {1, 2, 3, 2.5, 3.5, 4.5, 4, 5, 6, 4, 5, 6});
}
