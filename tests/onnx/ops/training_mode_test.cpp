// BatchNormalization and Dropout whose node asks for training.
#include <cmath>

#include "onnx/models.h"
#include "support/onnx_op.h"

using doctest::Contains;

namespace {

const OnnxOp batch_norm{"BatchNormalization",
                        {number("training_mode", 1), attribute("momentum", 0.75f), attribute("epsilon", 0.125f)},
                        17,
                        "",
                        {"y", "mean", "var"}};

/// The outputs for x (2, 3, 5), in double: y, and for each channel the new mean and variance.
std::vector<std::vector<double>> expected(const std::vector<Tensor>& in) {
  std::vector<std::vector<float>> lists;
  for (const Tensor& one : in) lists.push_back(one.to_vector<float>());
  std::vector<std::vector<double>> results{std::vector<double>(30), {}, {}};
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    const auto each = [&](auto f) {
      for (std::size_t n = 0; n < 2; ++n)
        for (std::size_t i = 0; i < 5; ++i) f((n * 3 + c) * 5 + i);
    };
    each([&](std::size_t at) { sum += lists[0][at]; });
    const double mean = sum / 10;
    each([&](std::size_t at) { squares += (lists[0][at] - mean) * (lists[0][at] - mean); });
    const double variance = squares / 10;
    each([&](std::size_t at) {
      results[0][at] = (lists[0][at] - mean) / std::sqrt(variance + 0.125) * lists[1][c] + lists[2][c];
    });
    results[1].push_back(0.75 * lists[3][c] + 0.25 * mean);
    results[2].push_back(0.75 * lists[4][c] + 0.25 * variance);
  }
  return results;
}

Proto dropout_file(bool training) {
  return of::model(
      of::graph({.nodes = {node("Dropout", {"x", "ratio", "training"}, {"y"}, {attribute("seed", std::int64_t{4})})},
                 .initializers = {of::raw_tensor<float>("ratio", of::f32, {}, {0.25f}),
                                  of::raw_tensor<std::uint8_t>("training", of::boolean, {}, {training})},
                 .inputs = {value("x", of::f32, {"N"})},
                 .outputs = {value("y", of::f32, {"N"})}}));
}

/// Rounding of a few functions one after another.
void check_values(const Tensor& found, const Shape& shape, const std::vector<double>& expected) {
  check_close(found, shape, expected, {64});
}

}  // namespace

TEST_CASE("onnx: BatchNormalization in training, with and without gradients") {
  manual_seed(31);
  const Tensor x = randn({2, 3, 5});
  const std::vector<Tensor> in{x, randn({3}), randn({3}), randn({3}), rand({3}) + 0.5};
  const auto check = [&] {
    const std::vector<Tensor> y = run_op(batch_norm, in);
    const auto wanted = expected(in);
    check_values(y[0], {2, 3, 5}, wanted[0]);
    check_values(y[1], {3}, wanted[1]);
    check_values(y[2], {3}, wanted[2]);
  };
  check();
  {
    const NoGrad no_grad;
    check();
  }
  CHECK(refusal_of_op({"BatchNormalization", {number("training_mode", 1)}, 13}, in) ==
        Contains("attribute \"training_mode\" is not supported"));
  CHECK(refusal_of_op({"BatchNormalization", {}, 17, "", {"y", "mean", "var"}}, in) ==
        Contains("output 1 is not supported"));
}

TEST_CASE("onnx: a program does not fold BatchNormalization in training into the convolution before it") {
  manual_seed(32);
  const Tensor filter = randn({3, 3, 1}), ones3 = ones({3}), zeros3 = zeros({3});
  onnx::Model model = loaded(of::model(of::graph(
      {.nodes = {node("Conv", {"x", "w"}, {"c"}),
                 node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"y"}, batch_norm.attributes)},
       .initializers = {weight("w", filter), weight("scale", ones3), weight("shift", zeros3), weight("mean", ones3),
                        weight("var", ones3)},
       .inputs = {value("x", of::f32, {"2", "3", "5"})},
       .outputs = {value("y", of::f32, {"2", "3", "5"})}})));
  const Tensor x = randn({2, 3, 5});
  const Tensor convolved = einsum("oi,nik->nok", {filter.squeeze(2), x});
  const std::vector<double> wanted = expected({convolved, ones3, zeros3, ones3, ones3})[0];
  check_values(model({{"x", x}})["y"], {2, 3, 5}, wanted);
  const NoGrad no_grad;
  check_values(model({{"x", x}})["y"], {2, 3, 5}, wanted);
}

TEST_CASE("onnx: Dropout in training drops a part of the elements and scales the others") {
  const Tensor x = full({4000}, 3.0).requires_grad_();
  const OnnxOp dropout{"Dropout", {}, 17, "", {"y", "mask"}};
  const std::vector<Tensor> run = run_op(dropout, {x, full({}, 0.25), full({}, 1, DType::boolean)});
  CHECK(run[1].dtype() == DType::boolean);
  const Tensor kept = run[1].to(DType::f32);
  CHECK(std::abs(kept.mean().item() - 0.75) < 0.05);
  CHECK(same(run[0].detach(), kept * 4));
  run[0].sum().backward();
  CHECK(same(x.grad(), kept * (1 / 0.75)));
  CHECK(!same(run_op(dropout, {x, full({}, 0.25), full({}, 1, DType::boolean)})[1].to(DType::f32), kept));
  const std::vector<Tensor> all = run_op(dropout, {x, full({}, 0.25), full({}, 0, DType::boolean)});
  CHECK(same(all[0].detach(), x.detach()));
  CHECK(all[1].to(DType::f32).sum().item() == 4000);
  CHECK(refusal_of_op(dropout, {x, full({}, 1.0), full({}, 1, DType::boolean)}) ==
        Contains("ratio is 1, a number from 0"));
}

TEST_CASE("onnx: a program keeps a Dropout in training, and removes it in evaluation") {
  onnx::Model training = loaded(dropout_file(true)), evaluation = loaded(dropout_file(false));
  const Tensor x = full({4000}, 3.0);
  const NoGrad no_grad;
  const Tensor dropped = training({{"x", x}})["y"];
  CHECK(std::abs(dropped.eq(0).to(DType::f32).mean().item() - 0.25) < 0.05);
  CHECK(same(training({{"x", x}})["y"], dropped));  // The node has a seed.
  CHECK(same(evaluation({{"x", x}})["y"], x));
}
