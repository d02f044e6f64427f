// Autocast: the types in which functions compute, gradients through conversions, and converted parameters that are
// kept.
#include "crisol/autocast.h"

#include <thread>

#include "crisol/autograd.h"
#include "crisol/capture.h"
#include "crisol/compile.h"
#include "crisol/device.h"
#include "crisol/functions/attention.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/einsum.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/rnn.h"
#include "crisol/functions/softmax.h"
#include "crisol/functions/vision.h"
#include "crisol/fuse.h"
#include "crisol/grad_mode.h"
#include "crisol/nn/activation.h"
#include "crisol/nn/conv.h"
#include "crisol/nn/flatten.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/pool.h"
#include "crisol/nn/sequential.h"
#include "crisol/optim/methods.h"
#include "crisol/quantized_weight.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using crisol::testing::check_close;
using crisol::testing::check_error;
using crisol::testing::random_values;
using crisol::testing::tensor_of;
using crisol::testing::Tolerance;
using crisol::testing::values_of;

namespace {

constexpr DType f16 = DType::f16, f32 = DType::f32;

Tensor numbers_of(const Shape& shape, DType dtype = f32, std::uint64_t seed = 3) {
  return tensor_of(random_values(seed, shape.numel()), shape, dtype);
}

struct ListedFunction {
  const char* name;
  Tensor result;
};

/// A product of three layers, which all read `weight`.
Tensor tied_loss(const Tensor& x, const Tensor& weight) {
  return mean(linear(linear(linear(x, weight), weight), weight));
}

}  // namespace

TEST_CASE("Autocast: functions of the list for two bytes convert f32 operands") {
  const Tensor x = numbers_of({5, 7}), w = numbers_of({3, 7}), b = numbers_of({3});
  const Tensor image = numbers_of({2, 4, 6, 5}), volume = numbers_of({1, 2, 4, 5, 3}), line = numbers_of({2, 4, 9});
  const Tensor heads = numbers_of({2, 3, 5, 4});
  const auto clipped = fuse([](const Expr& y) { return relu(y); });
  const Autocast autocast(f16);
  const Tensor steps = numbers_of({4, 2, 3});
  const RnnOutput state =
      rnn({steps, {}, {}, {}}, {numbers_of({8, 3}), numbers_of({8, 2}), {}, {}, {}}, {RnnCell::lstm});
  const ListedFunction functions[] = {
      {"matmul", matmul(x, w.t())},
      {"matmul of a vector", matmul(x, numbers_of({7}))},
      {"matmul with an epilogue", matmul(x, w.t(), clipped.epilogue())},
      {"linear", linear(x, w, b)},
      {"linear with an epilogue", linear(x, w, b, clipped.epilogue())},
      {"conv1d", conv1d(line, numbers_of({3, 4, 3}))},
      {"conv2d", conv2d(image, numbers_of({3, 4, 3, 3}))},
      {"conv2d of one image", conv2d(image.select(0, 0), numbers_of({3, 4, 3, 3}), numbers_of({3}))},
      {"conv3d", conv3d(volume, numbers_of({3, 2, 3, 3, 2}))},
      {"conv_transpose1d", conv_transpose1d(line, numbers_of({4, 3, 3}))},
      {"conv_transpose2d", conv_transpose2d(image, numbers_of({4, 3, 3, 3}))},
      {"conv_transpose3d", conv_transpose3d(volume, numbers_of({2, 3, 3, 3, 2}))},
      {"attention", scaled_dot_product_attention(heads, heads, heads)},
      {"einsum", einsum("ij,kj->ik", {x, w})},
      {"vecdot", vecdot(x, x)},
      {"linear of a quantised weight", linear(x, quantize(w), b)},
      {"linear of a quantised weight, its bias in f32", linear(x.to(f16), quantize(w), b)},
      {"prelu", prelu(x, numbers_of({7}))},
      {"rnn", state.y},
      {"rnn's cells", state.c_n},
  };
  for (const ListedFunction& f : functions) {
    INFO(f.name);
    CHECK(f.result.dtype() == f16);
  }
  CHECK(state.h_n.dtype() == f16);
}

TEST_CASE("Autocast: functions of the list for f32 convert operands of two bytes") {
  const Tensor x = mul(numbers_of({5, 7}, f16).abs(), 0.5), image = numbers_of({2, 4, 6, 5}, f16);
  const Tensor labels = from_vector(std::vector<std::int64_t>{0, 1, 2, 3, 4});
  const Autocast autocast(f16);
  const ListedFunction functions[] = {
      {"exp", exp(x)},
      {"expm1", expm1(x)},
      {"log", log(x)},
      {"log1p", log1p(x)},
      {"log2", log2(x)},
      {"log10", log10(x)},
      {"pow", pow(x, 3)},
      {"rsqrt", rsqrt(x)},
      {"tan", tan(x)},
      {"sinh", sinh(x)},
      {"cosh", cosh(x)},
      {"acos", acos(x)},
      {"asin", asin(x)},
      {"reciprocal", reciprocal(x)},
      {"a number divided by a tensor", 2 / x},
      {"softplus", softplus(x)},
      {"sum", sum(x)},
      {"prod", prod(x)},
      {"cumsum", cumsum(x, 1)},
      {"cumprod", cumprod(x, 0)},
      {"norm", norm(x)},
      {"logsumexp", logsumexp(x, {1})},
      {"softmax", softmax(x, 1)},
      {"log_softmax", log_softmax(x, 1)},
      {"layer_norm", layer_norm(x, {7})},
      {"group_norm", group_norm(image, 2)},
      {"rms_norm", rms_norm(x, {7}, numbers_of({7}))},
      {"cross_entropy", cross_entropy(x, labels)},
      {"nll_loss", nll_loss(x, labels)},
      {"mse_loss", mse_loss(x, x * 2)},
      {"interpolate", interpolate(image, {.scale_factor = {2}})},
  };
  for (const ListedFunction& f : functions) {
    INFO(f.name);
    CHECK(f.result.dtype() == f32);
  }
}

TEST_CASE("Autocast: functions of the list for the widest type convert to it, and others keep their types") {
  const Tensor half = numbers_of({4, 3}, f16), single = numbers_of({4, 3});
  const Tensor rows = from_vector(std::vector<std::int64_t>{0, 2});
  const Autocast autocast(f16);
  CHECK(cat({half, single}, 0).dtype() == f32);
  CHECK(cat({half, half}, 0).dtype() == f16);
  CHECK(stack({single, half}, 0).dtype() == f32);
  CHECK(tensordot(half, single, {0}, {0}).dtype() == f32);
  CHECK(index_add(half, 0, rows, single.narrow(0, 0, 2)).dtype() == f32);
  CHECK((half + single).dtype() == f32);
  CHECK(relu(half).dtype() == f16);
  CHECK(relu(single).dtype() == f32);
  CHECK(tanh(half).dtype() == f16);
  CHECK(max(half).dtype() == f16);
  // Whole numbers are no operands of two bytes.
  const Tensor whole = from_vector(std::vector<std::int64_t>{1, 2, 3, 4}).reshape({2, 2});
  CHECK(sum(whole).dtype() == DType::i64);
}

TEST_CASE("Autocast: gradients go through the conversions, and are f32") {
  const Tensor x = numbers_of({6, 5}), w = numbers_of({4, 5}, f32, 8).requires_grad_();
  const Tensor exact_w = w.detach().to(f16).to(f32).requires_grad_();
  const Tensor exact_x = x.to(f16).to(f32);
  sum(square(tanh(linear(exact_x, exact_w)))).backward();
  Tensor loss;
  {
    const Autocast autocast(f16);
    const Tensor y = tanh(linear(x, w));
    CHECK(y.dtype() == f16);
    loss = sum(square(y));
    CHECK(loss.dtype() == f32);
  }
  loss.backward();
  CHECK(w.grad().dtype() == f32);
  check_close(w.grad(), values_of(exact_w.grad()), Tolerance{1e5});
}

TEST_CASE("Autocast: backward computes in the types of forward, also inside the scope") {
  const Tensor x = numbers_of({6, 5}), w = numbers_of({4, 5}).requires_grad_();
  const Tensor loss = sum(linear(x, w));
  loss.backward();
  const std::vector<double> expected = values_of(w.grad());
  w.grad().zero_();
  const Tensor again = sum(linear(x, w));
  const Autocast autocast(f16);
  again.backward();
  CHECK(values_of(w.grad()) == expected);
}

TEST_CASE("Autocast: scopes nest, may be switched off, and belong to a thread") {
  const Tensor x = numbers_of({2, 2});
  CHECK(!autocast_enabled());
  CHECK(autocast_dtype() == f16);
  {
    const Autocast outer(f16, true, false);
    CHECK(autocast_enabled());
    CHECK(!autocast_cache_enabled());
    std::thread([&] { CHECK(!autocast_enabled()); }).join();
    {
      const Autocast off(f16, false);
      CHECK(matmul(x, x).dtype() == f32);
      const Autocast on;
      CHECK(matmul(x, x).dtype() == f16);
    }
    CHECK(matmul(x, x).dtype() == f16);
    CHECK(!autocast_cache_enabled());
  }
  CHECK(!autocast_enabled());
  CHECK(matmul(x, x).dtype() == f32);
  check_error([] { const Autocast wrong(f32); }, {"Autocast", "f32"});
  check_error([] { const Autocast wrong(DType::i32); }, {"Autocast", "i32"});
  const Autocast unused(f32, false);
}

TEST_CASE("Autocast: the conversion of a parameter's second use is kept, until it is written") {
  const Tensor x = numbers_of({3, 4}, f16);
  Tensor w = numbers_of({4, 4}).requires_grad_();
  const auto commands = [&](bool caches) {
    return capture([&] {
             const Autocast autocast(f16, true, caches);
             tied_loss(x, w);
           })
        .size();
  };
  CHECK(commands(true) + 1 == commands(false));
  const Autocast autocast(f16);
  const std::vector<double> before = values_of(tied_loss(x, w));
  {
    const NoGrad no_grad;
    w.mul_(0);
  }
  CHECK(values_of(tied_loss(x, w)) != before);
  CHECK(values_of(tied_loss(x, w)) == std::vector<double>{0});
}

TEST_CASE("Autocast: losses that share a converted parameter have their own backward") {
  const Tensor x = numbers_of({3, 4}), w = numbers_of({4, 4}).requires_grad_();
  const Autocast autocast(f16);
  {
    const NoGrad no_grad;
    tied_loss(x, w);  // The kept conversion is not recorded.
  }
  const Tensor first = tied_loss(x, w), second = tied_loss(x, w);
  first.backward();
  const std::vector<double> once = values_of(w.grad());
  second.backward();
  const std::vector<double> twice = values_of(w.grad());
  tied_loss(x, w).backward();
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == doctest::Approx(2 * once[i]));
}

TEST_CASE("Autocast: a captured step converts parameters itself, wherever the scope begins") {
  const Tensor x = numbers_of({3, 4});
  Tensor w = numbers_of({4, 4}).requires_grad_();
  const Autocast autocast(f16);
  const NoGrad no_grad;
  linear(x, w);  // Keeps a conversion, which the graph must not read.
  Tensor y;
  const CapturedGraph graph = capture([&] { y = linear(x, w); });
  w.mul_(2);
  const std::vector<double> expected = values_of(linear(x, w));
  graph.replay();
  CHECK(values_of(y) == expected);
}

TEST_CASE("Autocast: checkpoint runs again in the same types") {
  const auto gradient = [&](bool keeps) {
    const Tensor x = numbers_of({3, 4}).requires_grad_();
    const Tensor w = numbers_of({4, 4}).requires_grad_();
    Tensor loss;
    {
      const Autocast autocast(f16);
      const auto layers = [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{tanh(linear(linear(in[0], w), w))};
      };
      loss = sum(keeps ? layers({x})[0] : checkpoint(layers, {x})[0]);
    }
    loss.backward();
    return std::vector{values_of(x.grad()), values_of(w.grad())};
  };
  CHECK(gradient(true) == gradient(false));
}

TEST_CASE("Autocast: backward converts a parameter again, so the converted one is not kept until then") {
  const Device device;
  const auto held_until_backward = [&](const Tensor& x, const Tensor& w) {
    device.release_cached_memory();
    const std::uint64_t before = device.memory_stats().in_use;
    Tensor loss;
    {
      const Autocast autocast(f16);
      loss = sum(linear(x, w));
    }
    const std::uint64_t held = device.memory_stats().in_use - before;
    loss.backward();
    return held;
  };
  const Tensor x = numbers_of({2, 512}).requires_grad_();
  Tensor w = numbers_of({512, 512}).requires_grad_();
  CHECK(held_until_backward(x, w) < 256 * 512);
  const Tensor half = x.detach().to(f16).requires_grad_();
  sum(linear(half, w.detach().to(f16))).backward();
  CHECK(values_of(x.grad()) == values_of(half.grad()));

  // As without Autocast, the parameter must stay as it is until backward.
  Tensor loss;
  {
    const Autocast autocast(f16);
    loss = sum(linear(x, w));
  }
  const NoGrad no_grad;
  w.mul_(2);
  check_error([&] { loss.backward(); }, {"backward", "changed in place"});
}

TEST_CASE("Autocast: a step with it keeps half of the bytes for backward") {
  struct Bytes {
    double kept, peak;
  };
  const Device device;
  const Tensor images = numbers_of({64, 3, 32, 32}), labels = zeros({64}, DType::i64);
  const auto bytes_of_step = [&](bool enabled) {
    device.release_cached_memory();
    const std::uint64_t before = device.memory_stats().in_use;
    manual_seed(0);
    nn::Sequential net;
    for (const std::int64_t channels : {3, 32, 32})
      net.append(nn::Conv2d(channels, 32, 3, {.padding = 1, .bias = false}))
          .append(nn::BatchNorm2d(32))
          .append(nn::ReLU());
    net.append(nn::MaxPool2d(2)).append(nn::Flatten()).append(nn::Linear(32 * 16 * 16, 8));
    optim::SGD optimizer(net.parameters(), {0.1});
    std::uint64_t kept = 0;
    for (int step = 0; step < 2; ++step) {
      device.release_cached_memory();
      device.reset_peak_memory();
      Tensor loss;
      {
        const Autocast autocast(DType::bf16, enabled);
        loss = cross_entropy(net(images), labels);
      }
      kept = device.memory_stats().in_use - before;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    return Bytes{static_cast<double>(kept), static_cast<double>(device.memory_stats().peak - before)};
  };
  const Bytes wide = bytes_of_step(false), half = bytes_of_step(true);
  CHECK(half.kept < 0.56 * wide.kept);
  CHECK(half.peak < 0.7 * wide.peak);  // Convolutions on CPUs have workspaces in f32.
}

TEST_CASE("Autocast: a compiled module keeps the types that it was compiled with") {
  const auto layer = std::make_shared<nn::Linear>(4, 3);
  const Tensor x = numbers_of({2, 4});
  const NoGrad no_grad;
  layer->eval();
  Compiled compiled(layer, x);
  const std::vector<double> expected = values_of(compiled.forward(x));
  const Autocast autocast(f16);
  CHECK(compiled.forward(x).dtype() == f32);
  CHECK(values_of(compiled.forward(x)) == expected);
  Compiled half(layer, x);
  CHECK(half.forward(x).dtype() == f16);
}

TEST_CASE("Autocast: a function of the user's own takes the rule of a listed function") {
  const Tensor x = numbers_of({2, 3});
  CHECK(autocast_operands("linear", {x})[0].dtype() == f32);
  const Autocast autocast(f16);
  CHECK(autocast_operands("linear", {x})[0].dtype() == f16);
  CHECK(autocast_operands("relu", {x})[0].dtype() == f32);
  const std::vector<Tensor> mixed = autocast_operands("cat", {x, x.to(f16), from_vector(std::vector<std::int64_t>{1})});
  CHECK(mixed[1].dtype() == f32);
  CHECK(mixed[2].dtype() == DType::i64);
}
