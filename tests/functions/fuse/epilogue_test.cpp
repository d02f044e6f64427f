// Fused functions as the last step of products, convolutions and layers.
#include <functional>

#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/nn/activation.h"
#include "crisol/nn/conv.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/sequential.h"
#include "crisol/profile.h"
#include "crisol/tuning.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/gradcheck.h"
#include "support/launches.h"
#include "support/random_tensor.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

// Counts launches of pointwise kernels. They run when an epilogue is not a part of the product's kernel.
std::int64_t passes_of(const std::function<void()>& run) {
  const Profile profile;
  run();
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows())
    for (const char* name : {"flat", "rows", "short_rows", "items"}) launches += row.kernel == name ? row.launches : 0;
  return launches;
}

const auto& add_relu() {
  static const auto f = fuse([](const Expr& y, const Expr& r) { return relu(y + r); });
  return f;
}

const auto& scaled() {
  static const auto f = fuse([](const Expr& y, const Expr& e, const Expr& s) { return tanh(y * s) * e; });
  return f;
}

struct Case {
  const char* name;
  std::function<Tensor(const Epilogue&)> with;
  Tensor plain;
  std::vector<Shape> operands;  ///< Shapes that the op's kernel can read.
  const char* op;
  std::vector<Expected> variants;
};

std::vector<Case> cases() {
  const Tensor x = random_tensor(1, {2, 3, 7, 6}), filter = random_tensor(2, {5, 3, 3, 3}),
               channel = random_tensor(3, {5});
  const Tensor rows = random_tensor(4, {2, 9, 13}), matrix = random_tensor(5, {11, 13}), bias = random_tensor(6, {11});
  const Tensor left = random_tensor(7, {3, 5, 8}), right = random_tensor(8, {3, 8, 10}),
               shared = random_tensor(9, {8, 10});
  const Conv2dOptions options{1, 1};
  // "cpu_dot" needs the depth of both matrices in a row, as a linear layer's weight has it.
  const std::vector<Expected> linears{on_cpus("cpu_tiled"), on_cpus("cpu_dot"), "plain"};
  const std::vector<Expected> products{on_cpus("cpu_tiled"), "plain"};
  return {
      {"conv2d",
       [=](const Epilogue& e) { return conv2d(x, filter, channel, options, e); },
       conv2d(x, filter, channel, options),
       {{2, 5, 7, 6}, {5, 1, 1}, {1, 5, 1, 1}, {}, {1}},
       "conv2d",
       {on_cpus("cpu_gemm"), "im2col_gemm", "direct"}},
      {"linear",
       [=](const Epilogue& e) { return linear(rows, matrix, bias, e); },
       linear(rows, matrix, bias),
       {{2, 9, 11}, {11}, {2, 9, 1}, {}},
       "matmul",
       linears},
      {"matmul",
       [=](const Epilogue& e) { return matmul(left, right, e); },
       matmul(left, right),
       {{3, 5, 10}, {10}, {3, 5, 1}, {5, 1}, {5, 10}, {}},
       "matmul",
       products},
      {"matmul of one right matrix",
       [=](const Epilogue& e) { return matmul(left, shared, e); },
       matmul(left, shared),
       {{3, 5, 10}, {10}, {3, 5, 1}, {5, 1}, {5, 10}},
       "matmul",
       products},
  };
}

}  // namespace

TEST_CASE("epilogues: every op, operand and variant gives what the op and then the function give") {
  const auto relu_only = fuse([](const Expr& y) { return relu(y); });
  const auto add_only = fuse([](const Expr& y, const Expr& r) { return r + y; });
  for (const Case& c : cases()) {
    CAPTURE(std::string(c.name));
    for_each_variant(MustRun(c.op, c.variants), [&] {
      check_close(c.with(relu_only.epilogue()), c.plain.shape(), values_of(relu(c.plain)), {4, 8});
      for (const Shape& shape : c.operands) {
        CAPTURE(shape);
        const Tensor e = random_tensor(10, shape);
        check_close(c.with(add_only.epilogue(e)), c.plain.shape(), values_of(c.plain + e), {4, 8});
        check_close(c.with(add_relu().epilogue(e)), c.plain.shape(), values_of(relu(c.plain + e)), {4, 8});
      }
      if (slow_device()) return;
      const Tensor e = random_tensor(11, c.operands[1]);
      check_close(c.with(scaled().epilogue(e, 0.5)), c.plain.shape(), values_of(tanh(c.plain * 0.5) * e), {16, 8});
    });
  }
}

TEST_CASE("epilogues: relu and sums are a part of the product's kernel, others where it takes them") {
  const auto all = cases();
  for (const Case& c : all) {
    CAPTURE(std::string(c.name));
    std::vector<Expected> with_epilogue = c.variants;
    // im2col_gemm takes no epilogue, because it works in batches of patches.
    std::erase_if(with_epilogue,
                  [](const Expected& expected) { return expected.variant == std::string("im2col_gemm"); });
    for_each_variant(MustRun(c.op, with_epilogue), [&] {
      const Tensor residual = random_tensor(12, c.plain.shape());
      const std::int64_t of_relu = passes_of([&] { c.with(relu_epilogue()); });
      const std::int64_t of_sum = passes_of([&] { c.with(add_relu().epilogue(residual)); });
      CHECK(of_relu + of_sum == 0);
      if (slow_device()) return;
      const std::int64_t of_others = passes_of([&] { c.with(scaled().epilogue(residual, 2)); });
      CHECK(of_others == 0);
    });
  }
  // An operand that the kernel cannot read together with its result needs a separate pass.
  const Tensor image = random_tensor(13, {2, 1, 7, 6});
  CHECK(passes_of([&] { all[0].with(add_relu().epilogue(image)); }) == 1);
  check_close(all[0].with(add_relu().epilogue(image)), values_of(relu(all[0].plain + image)), {4, 8});
  const Tensor half = random_tensor(14, {5, 1, 1}).to(DType::f16);
  check_close(all[0].with(add_relu().epilogue(half)), values_of(relu(all[0].plain + half)), {4, 8});
}

TEST_CASE("epilogues: functions beyond arithmetic end the products for GPUs") {
  if (slow_device()) CRISOL_SKIP("programs that take long to compile");
  const auto squash = fuse([](const Expr& y) { return tanh(y) * sigmoid(y); });
  const Tensor left = random_tensor(44, {5, 8}), right = random_tensor(45, {8, 12}), plain = matmul(left, right);
  for_each_variant(MustRun("matmul", {"block"}), [&] {
    check_close(matmul(left, right, squash.epilogue()), plain.shape(), values_of(tanh(plain) * sigmoid(plain)),
                {16, 8});
  });
}

TEST_CASE("epilogues: a convolution with bias and ReLU is one launch forward, with gradients too") {
  const Tensor x = random_tensor(41, {2, 4, 6, 6});
  Tensor w = random_tensor(42, {8, 4, 3, 3}).requires_grad_(), b = random_tensor(43, {8}).requires_grad_();
  for_each_variant(MustRun("conv2d", {"direct"}), [&] {
    Tensor y;
    CHECK(launches_of([&] { y = conv2d(x, w, b, {1, 1}, relu_epilogue()); }) == 1);
    CHECK(y.requires_grad());
  });
}

TEST_CASE("epilogues: gradients of the op and of what the function reads") {
  const Tensor x = random_tensor(15, {2, 2, 5, 4}), w = random_tensor(16, {3, 2, 3, 3}), b = random_tensor(17, {3});
  const Tensor residual = random_tensor(18, {2, 3, 5, 4}), channel = random_tensor(19, {3, 1, 1});
  const Conv2dOptions options{1, 1};
  const auto squash = fuse([](const Expr& y) { return tanh(y); });
  const auto curve = fuse([](const Expr& y, const Expr& e) { return square(y) * e; });
  using List = std::vector<Tensor>;
  // The gradient of tanh uses its result. relu is not smooth at 0, but almost no value is within a step of 0 here.
  check_gradients([&](const List& v) { return conv2d(v[0], v[1], v[2], options, squash.epilogue()); }, {x, w, b});
  check_gradients([&](const List& v) { return conv2d(v[0], v[1], v[2], options, curve.epilogue(v[3])); },
                  {x, w, b, channel});
  const auto residual_of = [&](const Tensor& tensor) {
    std::vector<Tensor> leaves{x.detach(), w.detach(), b.detach(), tensor.detach()};
    for (Tensor& l : leaves) l.requires_grad_();
    return leaves;
  };
  for (const Tensor& extra : {residual, channel}) {
    List fused = residual_of(extra), plain = residual_of(extra);
    const Tensor dy = random_tensor(20, {2, 3, 5, 4});
    conv2d(fused[0], fused[1], fused[2], options, add_relu().epilogue(fused[3])).backward(dy);
    relu(conv2d(plain[0], plain[1], plain[2], options) + plain[3]).backward(dy);
    for (std::size_t i = 0; i < 4; ++i) check_close(fused[i].grad(), values_of(plain[i].grad()), {16, 30});
  }
  const Tensor rows = random_tensor(21, {6, 5}), matrix = random_tensor(22, {4, 5}), shift = random_tensor(23, {4});
  check_gradients([&](const List& v) { return linear(v[0], v[1], v[2], squash.epilogue()); }, {rows, matrix, shift});
  check_gradients([&](const List& v) { return matmul(v[0], v[1], curve.epilogue(v[2])); },
                  {rows, random_tensor(24, {5, 3}), random_tensor(25, {3})});
  // Only the function's own operand needs a gradient.
  Tensor alone = random_tensor(26, {4}).requires_grad_();
  linear(rows, matrix, shift, add_relu().epilogue(alone)).backward(ones({6, 4}));
  Tensor again = alone.detach().requires_grad_();
  relu(linear(rows, matrix, shift) + again).backward(ones({6, 4}));
  check_close(alone.grad(), values_of(again.grad()), {2});
}

TEST_CASE("layers: a convolution or linear layer with a ReLU behind it is one kernel") {
  const Tensor x = random_tensor(27, {2, 3, 8, 8});
  nn::Conv2d conv(3, 4, 3, {1, 1});
  nn::Linear dense(8, 5);
  const Tensor expected = relu(dense.forward(relu(conv.forward(x))));
  const Tensor fused = dense(conv(x, relu_epilogue()), relu_epilogue());
  check_close(fused, values_of(expected), {4, 8});
  nn::Sequential net(conv, nn::ReLU(), dense, nn::ReLU(), nn::Tanh());
  check_close(net.forward(x), values_of(tanh(expected)), {8, 1});
  CHECK(passes_of([&] { net.forward(x); }) == 1);  // For tanh.

  // A user's own layer is called unchanged.
  struct Doubled : nn::Linear {
    using nn::Linear::Linear;
    Tensor forward(const Tensor& input) override { return nn::Linear::forward(input) * 2; }
  };
  Doubled doubled(8, 3);
  const Tensor rows = random_tensor(28, {4, 8});
  const Tensor twice = relu(doubled.forward(rows));
  nn::Sequential other(doubled, nn::ReLU());
  check_close(other.forward(rows), values_of(twice), {2});
}

TEST_CASE("epilogues: normalisations, in one pass where the statistics are given") {
  const Tensor x = random_tensor(34, {3, 4, 5, 2}), w = random_tensor(35, {4}), b = random_tensor(36, {4});
  const Tensor mean = random_tensor(37, {4}), variance = abs(random_tensor(38, {4})) + 0.5;
  const Tensor residual = random_tensor(39, {3, 4, 5, 2});
  BatchNormOptions inference;
  inference.training = false;
  const Tensor plain = batch_norm2d(x, w, b, mean, variance, inference);
  const auto run = [&](const Epilogue& e) { return batch_norm2d(x, w, b, mean, variance, inference, e); };
  for (int round = 0; round < 2; ++round) {
    check_close(run(relu_epilogue()), plain.shape(), values_of(relu(plain)), {8, 4});
    check_close(run(add_relu().epilogue(residual)), plain.shape(), values_of(relu(plain + residual)), {8, 4});
  }
  CHECK(passes_of([&] { run(add_relu().epilogue(residual)); }) == 2);  // One pass handles only the channels.
  check_close(batch_norm2d(x, w, b, Tensor(), Tensor(), {}, relu_epilogue()),
              values_of(relu(batch_norm2d(x, w, b, Tensor(), Tensor(), {}))), {8, 4});
  check_close(layer_norm(x, {2}, Tensor(), Tensor(), 1e-5, relu_epilogue()), values_of(relu(layer_norm(x, {2}))),
              {8, 4});
  check_error([&] { batch_norm2d(x, b, b, mean, random_tensor(40, {3}), inference, relu_epilogue()); },
              {"[batch_norm2d]", "(4)", "(3)"});
  const auto trained = [&](const std::vector<Tensor>& v) {
    return batch_norm2d(v[0], v[1], v[2], mean, variance, inference, relu_epilogue());
  };
  Tensor leaf = w.detach().requires_grad_(), other = w.detach().requires_grad_();
  trained({x, leaf, b}).backward(residual);
  relu(batch_norm2d(x, other, b, mean, variance, inference)).backward(residual);
  check_close(leaf.grad(), values_of(other.grad()), {8, 10});
}

TEST_CASE("epilogues: what cannot be is refused by name") {
  const Tensor x = random_tensor(29, {4, 3}), w = random_tensor(30, {5, 3});
  const auto total = fuse([](const Expr& y) { return sum(y); });
  check_error([&] { linear(x, w, Tensor(), total.epilogue()); }, {"[linear]", "reduction"});
  check_error([&] { linear(x, w, Tensor(), add_relu().epilogue(random_tensor(31, {4}))); }, {"(4, 5)", "(4)"});
  check_error([&] { linear(x, random_tensor(32, {5, 4}), Tensor(), relu_epilogue()); }, {"[linear]", "3", "4"});
  check_error([&] { matmul(x, random_tensor(33, {4}), relu_epilogue()); }, {"[matmul]", "(4, 3)", "(4)"});
}
