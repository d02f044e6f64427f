// compile(): the same results as the module, and its live parameters.
#include "crisol/compile.h"

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;

namespace {

bool close(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && a.allclose(b, 1e-4, 1e-5); }

struct Net : nn::Module {
  nn::Conv2d conv{2, 6, 3, {.padding = 1, .bias = false}};
  nn::BatchNorm2d norm{6};
  nn::Linear fc{6 * 20, 5};
  int calls = 0;  ///< Of forward.

  Net() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) override {
    ++calls;
    return fc(relu(norm(conv(x))).flatten(1));
  }
};

}  // namespace

TEST_CASE("compile: batches, live parameters, training and gradients") {
  manual_seed(1);
  const auto net = std::make_shared<Net>();
  {
    const NoGrad no_grad;
    (*net)(randn({4, 2, 4, 5}));  // Statistics of a batch.
  }
  net->eval();
  Compiled fast = compile(std::shared_ptr<nn::Module>(net), randn({1, 2, 4, 5}));
  const auto eager = [&](const Tensor& x) { return net->forward(x); };
  {
    const NoGrad no_grad;
    for (const std::int64_t batch : {1, 3, 3, 7, 1}) {
      const Tensor x = randn({batch, 2, 4, 5});
      const int before = net->calls;
      const Tensor y = fast(x);
      CHECK(net->calls == before);  // The graph ran.
      CHECK(close(y, eager(x)));
    }
    const Tensor x = randn({3, 2, 4, 5});
    net->fc.weight.mul_(-2);
    CHECK(close(fast(x), eager(x)));
    net->norm.running_mean.fill_(0.5);
    CHECK(close(fast(x), eager(x)));

    const int before = net->calls;
    fast.train();
    fast(x);
    CHECK(net->calls == before + 1);
    fast.eval();
    CHECK(close(fast(x), eager(x)));
  }
  const Tensor x = randn({2, 2, 4, 5});
  fast(x).sum().backward();
  CHECK(net->conv.weight.grad().defined());
  CHECK(fast.named_parameters()[0].first == "module.conv.weight");
}

TEST_CASE("compile: the networks of the library") {
  if (Device().info().platform == "Oclgrind") CRISOL_SKIP("ResNet-18 needs more than the 128 MiB of the simulator");
  manual_seed(2);
  const NoGrad no_grad;
  const auto check = [](auto net, const Shape& shape) {
    net.eval();
    const Tensor x = randn(shape);
    Compiled fast = compile(net, x);
    const Tensor expected = net(x), y = fast(x);
    CHECK(y.shape() == expected.shape());
    CHECK((y - expected).abs().max().template item<double>() <= 1e-4 * expected.abs().max().template item<double>());
  };
  check(nn::SimpleCNN(), {3, 1, 28, 28});
  check(nn::resnet18(10), {1, 3, 32, 32});
  check(nn::MobileNetV2(10), {2, 3, 32, 32});
}

TEST_CASE("compile: elements at places that count from either end, and functions without a form in ONNX") {
  manual_seed(4);
  const NoGrad no_grad;
  struct Picks : nn::Module {
    Tensor forward(const Tensor& x) override {
      const Tensor i = from_vector(std::vector<std::int64_t>{0, -1, 2}), j = abs(i);
      const Tensor at = j.reshape({1, 1, 3}).expand({x.size(0), 4, 3});
      const Tensor picked = index_get(x, {Tensor(), i}).sum(1, true) + index_select(x, -2, j).mean(1, true);
      const Tensor placed = scatter(x, -1, at, gather(x, -1, at) * 2) + index_add(x, -1, j, x.narrow(2, 0, 3));
      return picked + placed + lgamma(x.abs() + 0.5);
    }
  };
  Compiled fast = compile(Picks(), zeros({2, 4, 6}));
  fast.eval();
  const Tensor x = randn({5, 4, 6});
  CHECK(close(fast(x), Picks()(x)));
  CHECK(close(fast(x * 2), Picks()(x * 2)));
}

TEST_CASE("compile: settings that ONNX's ops do not have") {
  manual_seed(5);
  const NoGrad no_grad;
  struct Settings : nn::Module {
    nn::BatchNorm2d norm{3, {.track_running_stats = false}};
    Tensor forward(const Tensor& x) override {
      const Tensor y = norm(x);
      // Windows that begin in the padding after the rows do not count, in the way of PyTorch.
      const Tensor large = max_pool2d(y, {.kernel = 2, .stride = 3, .padding = {1, 0}, .ceil_mode = true});
      const Tensor sums = avg_pool2d(y, {.kernel = 2, .stride = 3, .padding = {1, 0}, .ceil_mode = true, .divisor = 3});
      const Tensor places = argmax(y, {1, 3}, true) + argmin(y, {-1, 2}).unsqueeze(2).unsqueeze(3);
      return cat({large.flatten(1), sums.flatten(1), places.to(DType::f32).flatten(1)}, 1) + argmax(y, {}, true)[0][0];
    }
  };
  Compiled fast = compile(Settings(), zeros({2, 3, 5, 7}));
  fast.eval();
  for (const std::int64_t batch : {2, 5}) {
    const Tensor x = randn({batch, 3, 5, 7});
    CHECK(close(fast(x), Settings()(x)));
  }
  CHECK(fast.programs() == 2);
}

TEST_CASE("compile: what differs from the example, and what has no graph") {
  manual_seed(3);
  const NoGrad no_grad;
  nn::Sequential net(nn::Linear(3, 2), nn::Tanh());
  net.eval();
  Compiled fast = compile(net, randn({2, 3}));
  const Tensor x = randn({2, 4, 3});  // Another rank: the module runs.
  CHECK(close(fast(x), net(x)));
  CHECK(refusal(ErrorCode::invalid_argument, [&] { fast(randn({2, 4})); }) == Contains("linear"));

  struct Odd : nn::Module {
    Tensor forward(const Tensor& y) override { return cumprod(y, 1); }
  };
  CHECK(refusal(ErrorCode::invalid_argument, [] { compile(Odd(), ones({2, 3})); }) == Contains("cumprod"));
  CHECK(refusal(ErrorCode::invalid_argument, [] {
          compile(std::shared_ptr<nn::Module>(), ones({2, 3}));
        }) == Contains("null"));
}
