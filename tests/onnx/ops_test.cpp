// Ops of ONNX, as far as the node tests do not cover them: other element types, other versions, random numbers, the
// domain ai.onnx.ml, and refusals.
#include <cmath>
#include <limits>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
namespace of = crisol::testing::onnx_file;
using doctest::Contains;
using of::attribute;
using of::Proto;
using of::Sizes;

namespace {

Proto reals(const std::string& name, const std::vector<float>& values) {
  return Proto().text(1, name).reals(7, values).integer(20, 6);
}

Tensor result(const OnnxOp& op, const std::vector<Tensor>& inputs) { return run_op(op, inputs)[0]; }

Tensor whole(const std::vector<std::int64_t>& values, const Shape& shape, DType dtype = DType::i64) {
  return from_vector(values, shape, dtype);
}

void check(const Tensor& found, DType dtype, const Shape& shape, const std::vector<double>& values) {
  CHECK(found.dtype() == dtype);
  check_close(found, shape, values, {4});
}

}  // namespace

TEST_CASE("onnx: arithmetic of whole numbers") {
  for (const DType dtype : {DType::i32, DType::i64}) {
    check(result({"Div"}, {whole({7, -7, -7, 7}, {2, 2}, dtype), whole({2, -2}, {2}, dtype)}), dtype, {2, 2},
          {3, 3, -3, -3});
    check(result({"Pow"}, {whole({3, -2}, {2}, dtype), whole({7, 3}, {2})}), dtype, {2}, {2187, -8});
    check(result({"Mod"}, {whole({-7, 7}, {2}, dtype), whole({3, -3}, {2}, dtype)}), dtype, {2}, {2, -2});
  }
  check(result({"Div", {}, 6}, {whole({9, 8}, {2}), whole({4, 3}, {2})}), DType::i64, {2}, {2, 2});
  // Whole numbers to the power of 7 = 7.0 are exact, and to the power of 0.5 they are cut.
  check(result({"Pow"}, {whole({3, 10}, {2}), from_vector<float>({7, 0.5f})}), DType::i64, {2}, {2187, 3});
  check(result({"Pow"}, {from_vector<float>({2, 9}), whole({3, 1}, {2})}), DType::f32, {2}, {8, 9});
  CHECK(refusal_of_op({"BitShift", {attribute("direction", "UP")}}, {whole({1}, {1}), whole({1}, {1})}) ==
        Contains("BitShift: attribute direction is \"UP\", LEFT or RIGHT expected: \"#0\""));
  CHECK(refusal_of_op({"BitCast", {attribute("to", std::int64_t{of::i64})}}, {from_vector<float>({1})}) ==
        Contains("differ in size"));
}

TEST_CASE("onnx: products of f16 and of whole numbers") {
  for (const DType dtype : {DType::f16, DType::i32, DType::i64}) {
    const Tensor a = whole({1, 2, 3, 4}, {2, 2}, dtype), b = whole({5, 6, 7, 8}, {2, 2}, dtype);
    check(result({"MatMul"}, {a, b}), dtype, {2, 2}, {19, 22, 43, 50});
    check(result({"MatMul"}, {whole({1, 2}, {2}, dtype), b}), dtype, {2}, {19, 22});
    check(result({"Gemm", {attribute("alpha", 2.0f), attribute("transB", std::int64_t{1})}}, {a, b, a}), dtype, {2, 2},
          {35, 48, 81, 110});
  }
  CHECK(refusal_of_op({"MatMul"}, {ones({1, 2}), ones({2, 1}, DType::f16)}) == Contains("factors of f32 and f16"));
}

TEST_CASE("onnx: scattering with element types and repeated indices") {
  const OnnxOp add{"ScatterElements", {attribute("reduction", "add")}};
  check(result(add, {whole({1, 2, 3}, {3}, DType::i32), whole({-1, 0, 0}, {3}), whole({5, 6, 7}, {3}, DType::i32)}),
        DType::i32, {3}, {14, 2, 8});
  check(result({"ScatterND"}, {from_vector<bool>({true, true}), whole({1}, {1, 1}), from_vector<bool>({false})}),
        DType::boolean, {2}, {1, 0});
  check(result({"ScatterElements", {attribute("axis", std::int64_t{-1})}, 11},
               {zeros({2, 3}), whole({2, 0}, {2, 1}, DType::i32), from_vector<float>({4, 5}, {2, 1})}),
        DType::f32, {2, 3}, {0, 0, 4, 5, 0, 0});
  CHECK(refusal_of_op({"ScatterND", {attribute("reduction", "mean")}}, {zeros({2}), whole({0}, {1, 1}), zeros({1})}) ==
        Contains("ScatterND: reduction \"mean\" is not supported: \"#0\""));
  CHECK(
      refusal_of_op({"ScatterND", {attribute("reduction", "add")}, 13}, {zeros({2}), whole({0}, {1, 1}), zeros({1})}) ==
      Contains("attribute \"reduction\" is not supported"));
  CHECK(refusal_of_op({"TensorScatter", {attribute("mode", "ring")}}, {zeros({1, 2, 3}), zeros({1, 1, 3})}) ==
        Contains("mode \"ring\" is not supported"));
}

TEST_CASE("onnx: gradients go through reading and writing by index") {
  Tensor x = tensor_of(random_values(1, 6), {3, 2}).requires_grad_();
  const Tensor places = whole({2, 0, 2}, {3, 1});
  result({"GatherND"}, {x, places}).sum().backward();
  check_close(x.grad(), {3, 2}, {1, 1, 0, 0, 2, 2}, {0});
  Tensor update = ones({3, 2}).requires_grad_();
  result({"ScatterND"}, {zeros({3, 2}), places, update}).sum().backward();
  check_close(update.grad(), {3, 2}, {0, 0, 1, 1, 1, 1}, {0});
  const auto gradient = [&](const char* op, const char* reduction, const Tensor& at) {
    const Tensor all = tensor_of({3, 2, 4, 5, 3, 1}, {3, 2}).requires_grad_();
    result({op, {attribute("reduction", reduction)}}, {ones({3, 2}), at, all}).sum().backward();
    return all.grad();
  };
  const Tensor rows = whole({2, 2, 0, 0, 2, 2}, {3, 2});
  check_close(gradient("ScatterElements", "max", rows), {3, 2}, {0.5, 1, 1, 1, 0.5, 0}, {0});
  check_close(gradient("ScatterElements", "min", rows), {3, 2}, {0, 0, 0, 0, 0, 0.5}, {0});
  check_close(gradient("ScatterElements", "mul", rows), {3, 2}, {3, 1, 1, 1, 3, 2}, {0});
  check_close(gradient("ScatterND", "max", places), {3, 2}, {0.5, 1, 1, 1, 0.5, 0}, {0});
  check_close(gradient("ScatterND", "min", places), {3, 2}, {0, 0, 0, 0, 0, 0.5}, {0});
}

TEST_CASE("onnx: running sums and products, Einsum, and TopK with a count as an attribute") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto product = [&](std::int64_t exclusive, std::int64_t reverse) {
    return result({"CumProd", {attribute("exclusive", exclusive), attribute("reverse", reverse)}}, {x, whole({1}, {})});
  };
  check(product(0, 0), DType::f32, {2, 3}, {1, 2, 6, 4, 20, 120});
  check(product(1, 0), DType::f32, {2, 3}, {1, 1, 2, 1, 4, 20});
  check(product(0, 1), DType::f32, {2, 3}, {6, 6, 3, 120, 30, 6});
  check(product(1, 1), DType::f32, {2, 3}, {6, 3, 1, 30, 6, 1});
  const Proto one = attribute("exclusive", std::int64_t{1});
  check(result({"CumSum", {one}}, {tensor_of({1, HUGE_VAL, 2}, {3}), whole({0}, {})}), DType::f32, {3},
        {0, 1, HUGE_VAL});
  check(result({"Einsum", {attribute("equation", "ij,kj->ik")}}, {x, x}), DType::f32, {2, 2}, {14, 32, 32, 77});
  CHECK(refusal_of_op({"Einsum"}, {x}) == Contains("Einsum: attribute equation is missing"));
  CHECK(refusal_of_op({"Einsum", {attribute("equation", "ijk->i")}}, {x}) == Contains("3 letters"));
  const std::vector<Tensor> top = run_op({"TopK", {attribute("k", std::int64_t{2})}, 1, "", {"y", "i"}}, {x});
  check(top[0], DType::f32, {2, 2}, {3, 2, 6, 5});
  check(top[1], DType::i64, {2, 2}, {2, 1, 2, 1});
}

TEST_CASE("onnx: results whose shape depends on numbers") {
  const Tensor x = whole({3, 0, 3, 5}, {2, 2}, DType::i32);
  check(result({"NonZero"}, {x}), DType::i64, {2, 3}, {0, 1, 1, 0, 0, 1});
  CHECK(result({"NonZero"}, {tensor_of({1}, {})}).shape() == Shape{0, 1});
  const std::vector<Tensor> found =
      run_op({"Unique", {attribute("sorted", std::int64_t{0})}, 11, "", {"y", "i", "r", "n"}}, {x});
  check(found[0], DType::i32, {3}, {3, 0, 5});
  check(found[1], DType::i64, {3}, {0, 1, 3});
  check(found[2], DType::i64, {4}, {0, 1, 0, 2});
  check(found[3], DType::i64, {3}, {2, 1, 1});
  CHECK(refusal_of_op({"Compress"}, {x, ones({5}, DType::boolean)}) == Contains("a condition of shape (5)"));
  CHECK(refusal_of_op({"ReverseSequence", {attribute("time_axis", std::int64_t{2})}}, {x, x}) ==
        Contains("time_axis is 2"));
  check(result({"OneHot"}, {whole({1, -1, 7}, {3}), whole({3}, {1}), whole({2, 9}, {2}, DType::u8)}), DType::u8, {3, 3},
        {2, 9, 2, 2, 2, 9, 2, 2, 2});
  check(result({"EyeLike", {attribute("k", std::int64_t{-1}), attribute("dtype", std::int64_t{of::f16})}}, {x}),
        DType::f16, {2, 2}, {0, 0, 1, 0});
}

TEST_CASE("onnx: random numbers, with and without a seed") {
  const Tensor x = full({40, 50}, 0.25);
  const OnnxOp uniform{"RandomUniformLike", {attribute("low", 2.0f), attribute("high", 3.0f), attribute("seed", 5.0f)}};
  const Tensor drawn = result(uniform, {x});
  CHECK(drawn.shape() == x.shape());
  CHECK(drawn.min().item() >= 2);
  CHECK(drawn.max().item() < 3);
  CHECK(std::abs(drawn.mean().item() - 2.5) < 0.05);
  CHECK(drawn.allclose(result(uniform, {x}), 0, 0));
  const OnnxOp normal{"RandomNormal",
                      {attribute("shape", Sizes{2000}), attribute("mean", 4.0f), attribute("scale", 2.0f),
                       attribute("dtype", std::int64_t{of::f16})}};
  const Tensor first = result(normal, {}), second = result(normal, {});
  CHECK(first.dtype() == DType::f16);
  CHECK(std::abs(first.to(DType::f32).mean().item() - 4) < 0.3);
  CHECK(std::abs(first.to(DType::f32).stddev().item() - 2) < 0.3);
  CHECK(!first.allclose(second));
  const Tensor coins = result({"Bernoulli", {attribute("dtype", std::int64_t{of::i64})}}, {x});
  CHECK(coins.dtype() == DType::i64);
  CHECK(std::abs(coins.to(DType::f32).mean().item() - 0.25) < 0.05);
  const Tensor classes = result({"Multinomial", {attribute("sample_size", std::int64_t{100})}},
                                {tensor_of({0, -INFINITY, 0, -INFINITY, 0, -INFINITY}, {2, 3})});
  CHECK(classes.dtype() == DType::i32);
  CHECK(classes.shape() == Shape{2, 100});
  CHECK(classes[1].to(DType::f32).min().item() == 1);
  CHECK(classes[1].to(DType::f32).max().item() == 1);
  CHECK(classes[0].to(DType::f32).mean().item() > 0.6);
  CHECK(refusal_of_op({"RandomNormalLike"}, {whole({1}, {1})}) == Contains("random numbers of i64 are not supported"));
}

TEST_CASE("onnx: the domain ai.onnx.ml") {
  const auto ml = [](const std::string& op, const std::vector<Proto>& attributes = {}) {
    return OnnxOp{op, attributes, 28, "ai.onnx.ml"};
  };
  const Tensor x = tensor_of({3, -4, 0, 6}, {2, 2});
  check(result(ml("ArrayFeatureExtractor"), {tensor_of({5, 6, 7}, {3}), whole({2, 0}, {1, 2})}), DType::f32, {1, 2},
        {7, 5});
  check(result(ml("ArrayFeatureExtractor"), {x, whole({-1, 0}, {2})}), DType::f32, {2, 2}, {-4, 3, 6, 0});
  check(result(ml("Binarizer", {attribute("threshold", 2.0f)}), {whole({1, 2, 3}, {3})}), DType::i64, {3}, {0, 0, 1});
  check(result(ml("Scaler", {reals("offset", {1, 2}), reals("scale", {10})}), {x.to(DType::i32)}), DType::f32, {2, 2},
        {20, -60, -10, 40});
  check(result(ml("Normalizer", {attribute("norm", "L2")}), {x}), DType::f32, {2, 2}, {0.6f, -0.8f, 0, 1});
  check(result(ml("Normalizer", {attribute("norm", "L1")}), {zeros({1, 2})}), DType::f32, {1, 2}, {0, 0});
  check(result(ml("Normalizer", {attribute("norm", "L1")}), {x}), DType::f32, {2, 2}, {3.0 / 7, -4.0 / 7, 0, 1});
  check(result(ml("Normalizer", {attribute("norm", "L2")}), {tensor_of({3e30, -4e30, 0, 3e-30}, {2, 2})}), DType::f32,
        {2, 2}, {0.6f, -0.8f, 0, 1});
  check(result(ml("Imputer", {reals("imputed_value_floats", {8, 9}), attribute("replaced_value_float", NAN)}),
               {tensor_of({NAN, 1, 2, NAN}, {2, 2})}),
        DType::f32, {2, 2}, {8, 1, 2, 9});
  check(result(ml("Imputer",
                  {attribute("imputed_value_int64s", Sizes{7}), attribute("replaced_value_int64", std::int64_t{3})}),
               {whole({3, 4}, {1, 2})}),
        DType::i64, {1, 2}, {7, 4});
  check(result(ml("FeatureVectorizer"), {x, whole({1, 2}, {2, 1})}), DType::f32, {2, 3}, {3, -4, 1, 0, 6, 2});
  check(result(ml("LinearRegressor", {reals("coefficients", {1, 2, 3, 4}), reals("intercepts", {10, 20}),
                                      attribute("targets", std::int64_t{2})}),
               {x}),
        DType::f32, {2, 2}, {5, 13, 22, 44});
  check(result(ml("Normalizer"), {tensor_of({3, -4, 0, 6, -2, -1, 0, 0}, {4, 2})}), DType::f32, {4, 2},
        {1, -4.0 / 3, 0, 1, 2, 1, 0, 0});
  CHECK(refusal_of_op(ml("Scaler", {reals("offset", {1, 2, 3})}), {x}) == Contains("attribute offset has 3 numbers"));
  CHECK(refusal_of_op(ml("DictVectorizer"), {x}) == Contains("ai.onnx.ml.DictVectorizer of version 1: \"#0\""));
  CHECK(refusal_of_op({"Binarizer"}, {x}) == Contains("Binarizer of version 28: \"#0\""));
  CHECK(refusal_of_op({"Binarizer", {}, 28, "ai.onnx.ml", {"y"}, 9}, {x}) ==
        Contains("(versions 1 to 5 are supported)"));
}

TEST_CASE("onnx: encoders and the linear classifier of ai.onnx.ml") {
  const auto ml = [](const std::string& op, const std::vector<Proto>& attributes, std::vector<std::string> outputs) {
    return OnnxOp{op, attributes, 28, "ai.onnx.ml", std::move(outputs), 3};
  };
  const Tensor x = tensor_of({3, -4, 0, 6, -2, -1}, {3, 2});
  const auto classes = [&](const std::string& transform) {
    return run_op(ml("LinearClassifier",
                     {reals("coefficients", {1, 2, -1, -2, 0, 0}), reals("intercepts", {0.5f, -0.5f, -4}),
                      attribute("classlabels_ints", Sizes{7, 9, -3}), attribute("post_transform", transform.c_str())},
                     {"label", "scores"}),
                  {x});
  };
  const std::vector<double> scores{-4.5, 4.5, -4, 12.5, -12.5, -4, -3.5, 3.5, -4};
  const std::vector<Tensor> plain = classes("NONE");
  check(plain[0], DType::i64, {3}, {9, 7, 9});
  check(plain[1], DType::f32, {3, 3}, scores);
  std::vector<double> logistic, soft;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    logistic.push_back(1 / (1 + std::exp(-scores[i])));
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += std::exp(scores[i / 3 * 3 + k]);
    soft.push_back(std::exp(scores[i]) / sum);
  }
  check(classes("LOGISTIC")[1], DType::f32, {3, 3}, logistic);
  check(classes("SOFTMAX")[1], DType::f32, {3, 3}, soft);
  check(classes("SOFTMAX_ZERO")[1], DType::f32, {3, 3}, soft);
  // More classes than one kernel takes, and gradients.
  for (const std::int64_t count : {3, 5, 16, 17}) {
    std::vector<float> weight;
    Sizes labels;
    for (std::int64_t i = 0; i < count; ++i) {
      weight.insert(weight.end(), {static_cast<float>(i % 4), static_cast<float>(i % 3) - 1});
      labels.push_back(10 * i);
    }
    const OnnxOp op = ml(
        "LinearClassifier",
        {reals("coefficients", weight), attribute("classlabels_ints", labels), attribute("post_transform", "LOGISTIC")},
        {"label", "scores"});
    const Tensor rows = randn({13, 2}), w = from_vector(weight, {count, 2});
    const std::vector<Tensor> y = run_op(op, {rows});
    CHECK(nearly(y[1], sigmoid(linear(rows, w))));
    CHECK(y[0].to_vector<std::int64_t>() == (linear(rows, w).argmax(-1) * 10).to_vector<std::int64_t>());
    const Tensor leaf = rows.detach().clone().requires_grad_();
    const std::vector<Tensor> with_gradients = run_op(op, {leaf});
    CHECK(nearly(with_gradients[1], y[1]));
    with_gradients[1].sum().backward();
    CHECK(nearly(leaf.grad(), matmul(y[1] * (-y[1] + 1.0), w)));
  }
  CHECK(refusal_of_op(ml("LinearClassifier", {reals("coefficients", {1, 2})}, {"y"}), {x}) ==
        Contains("one of them must be empty"));
  const std::vector<Tensor> single =
      run_op(ml("LinearClassifier",
                {reals("coefficients", {1, 2}), reals("intercepts", {2}), attribute("post_transform", "LOGISTIC"),
                 attribute("classlabels_ints", Sizes{4, 9})},
                {"label", "scores"}),
             {x});
  check(single[0], DType::i64, {3}, {4, 9, 4});
  const auto at = [](double v) { return 1 / (1 + std::exp(-v)); };
  check(single[1], DType::f32, {3, 2}, {at(3), at(-3), at(-14), at(14), at(2), at(-2)});

  const OnnxOp one_hot = ml("OneHotEncoder", {attribute("cats_int64s", Sizes{1, 2, 5})}, {"y"});
  const Tensor places = whole({1, 5, 2, 9}, {2, 2});
  check(result(one_hot, {places}), DType::f32, {2, 2, 3}, {1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0});
  check(result(one_hot, {tensor_of({5, 2.75f}, {2})}), DType::f32, {2, 3}, {0, 0, 1, 0, 1, 0});
  const OnnxOp strict = ml("OneHotEncoder", {attribute("cats_int64s", Sizes{1, 2, 5}), number("zeros", 0)}, {"y"});
  check(result(strict, {whole({5, 1}, {2})}), DType::f32, {2, 3}, {0, 0, 1, 1, 0, 0});
  CHECK(refusal_of_op(strict, {places}) == Contains("each element must be a category, 9 is none"));

  const Proto from = attribute("keys_int64s", Sizes{1, 5});
  check(result(ml("LabelEncoder", {from, attribute("values_int64s", Sizes{10, 50})}, {"y"}), {places}), DType::i64,
        {2, 2}, {10, 50, -1, -1});
  check(result(ml("LabelEncoder", {from, reals("values_floats", {1.5f, INFINITY}), attribute("default_float", 2.5f)},
                  {"y"}),
               {places}),
        DType::f32, {2, 2}, {1.5, INFINITY, 2.5, 2.5});
  check(result(ml("LabelEncoder",
                  {reals("keys_floats", {3, NAN}), attribute("values_int64s", Sizes{std::int64_t{1} << 40, 6})}, {"y"}),
               {tensor_of({NAN, 3, 4}, {3})}),
        DType::i64, {3}, {6, static_cast<double>(std::int64_t{1} << 40), -1});
  // Keys far apart, the least and the largest number, and a key that is there twice.
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
  for (const Sizes& keys :
       {Sizes{7, least, -3, most, 7, 0}, Sizes{7, 5000, -3, -10000, 7, 0}, Sizes{7, 6, -3, -2, 7, 0}}) {
    const OnnxOp op = ml("LabelEncoder",
                         {attribute("keys_int64s", keys), attribute("values_int64s", Sizes{1, 2, 3, 4, 5, 6})}, {"y"});
    check(result(op, {whole({-3, keys[3], 7, keys[1], 0, 8, -4, most - 1, least + 1}, {3, 3})}), DType::i64, {3, 3},
          {3, 4, 1, 2, 6, -1, -1, -1, -1});
    check(result(op, {whole({}, {0, 2})}), DType::i64, {0, 2}, {});
  }
  check(result(ml("LabelEncoder",
                  {reals("keys_floats", {2.5f, -INFINITY, 0, INFINITY, 2.5f}), reals("values_floats", {1, 2, 3, 4, 5})},
                  {"y"}),
               {tensor_of({INFINITY, -0.0f, 2.5f, 2.4999998f, NAN, -INFINITY, 3}, {7})}),
        DType::f32, {7}, {4, 3, 1, 0, 0, 2, 0});
  CHECK(refusal_of_op(ml("LabelEncoder", {from, reals("values_floats", {1})}, {"y"}), {places}) ==
        Contains("2 keys and 1 values"));
  CHECK(refusal_of_op(ml("LabelEncoder", {from}, {"y"}), {places}) == Contains("values_tensor must have elements"));

  // Since version 4, keys, values and the default may be tensors.
  const auto tensors = [&](const Proto& keys, const Proto& values, const std::vector<Proto>& others) {
    std::vector<Proto> attributes{of::tensor_attribute("keys_tensor", keys),
                                  of::tensor_attribute("values_tensor", values)};
    attributes.insert(attributes.end(), others.begin(), others.end());
    return ml("LabelEncoder", attributes, {"y"});
  };
  const Proto ints = of::raw_tensor<std::int32_t>("", of::i32, {3}, {1, 5, 9}),
              bytes = of::raw_tensor<std::uint8_t>("", of::u8, {3}, {200, 7, 0});
  const Tensor small = whole({5, 1, 9, 2}, {2, 2}, DType::i32);
  const Proto eleven = of::tensor_attribute("default_tensor", of::raw_tensor<std::uint8_t>("", of::u8, {1}, {11}));
  check(result(tensors(ints, bytes, {eleven}), {small}), DType::u8, {2, 2}, {7, 200, 0, 11});
  check(result(tensors(ints, ints, {}), {small}), DType::i32, {2, 2}, {5, 1, 9, -1});
  CHECK(refusal_of_op(tensors(ints, ints, {eleven}), {small}) == Contains("default_tensor has shape (1) and is u8"));
  CHECK(refusal_of_op(tensors(ints, bytes, {from}), {small}) == Contains("one of keys_int64s, keys_floats"));
}
