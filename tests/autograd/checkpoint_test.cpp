// checkpoint(): the same bits with less memory.
#include "crisol/autograd.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using crisol::testing::check_error;

namespace {

using Inputs = std::vector<Tensor>;

struct Layers {
  std::vector<Tensor> weights;
  Generator generator{5};

  explicit Layers(int count, std::int64_t width = 8) {
    manual_seed(1);
    for (int i = 0; i < count; ++i) weights.push_back(mul(randn({width, width}), 0.4).requires_grad_());
  }

  // Dropout draws from the default generator and from one of the layer's own.
  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const Tensor& weight : weights) y = dropout(tanh(matmul(y, weight)), 0.3, true, generator);
    return dropout(y, 0.2);
  }
};

struct Run {
  std::vector<std::vector<float>> values;  // The loss, the gradients, and the next random number.
};

template <class Forward>
Run train(const Forward& forward) {
  const Layers layers(3);
  manual_seed(11);
  const Tensor x = randn({5, 8}).requires_grad_();
  const Tensor loss = mean(square(forward(layers, x)));
  loss.backward();
  Run run{{loss.to_vector<float>(), x.grad().to_vector<float>()}};
  for (const Tensor& weight : layers.weights) run.values.push_back(weight.grad().to_vector<float>());
  run.values.push_back(rand({1}).to_vector<float>());
  run.values.push_back(rand({1}, layers.generator).to_vector<float>());
  return run;
}

}  // namespace

TEST_CASE("checkpoint gives the same bits, with dropout from any generator, also nested") {
  const Run plain = train([](const Layers& layers, const Tensor& x) { return layers.forward(x * 2) * 3; });
  const Run kept = train([](const Layers& layers, const Tensor& x) {
    return checkpoint([&](const Inputs& in) { return layers.forward(in[0]); }, {x * 2}) * 3;
  });
  CHECK(kept.values == plain.values);
  const Run nested = train([](const Layers& layers, const Tensor& x) {
    return checkpoint(
        [&](const Inputs& in) {
          return checkpoint([&](const Inputs& inner) { return layers.forward(inner[0]); }, {in[0] * 2}) * 3;
        },
        {x});
  });
  CHECK(nested.values == plain.values);
}

TEST_CASE("checkpoint keeps less memory between forward and backward") {
  const Device device;
  const Tensor x = full({1000}, 0.5).requires_grad_();
  const auto chain = [](const Inputs& in) {
    Tensor y = in[0];
    for (int i = 0; i < 20; ++i) y = sigmoid(y);
    return y;
  };
  const auto kept_by = [&](const auto& forward) {
    const std::uint64_t before = device.memory_stats().in_use;
    const Tensor y = forward();
    const std::uint64_t kept = device.memory_stats().in_use - before;
    sum(y).backward();
    return kept;
  };
  const std::uint64_t plain = kept_by([&] { return chain({x}); });
  CHECK(plain >= 20 * 4000);
  const auto segments = [&] {
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = checkpoint(chain, {y});
    return y;
  };
  CHECK(kept_by(segments) <= 8 * 4096);  // The inputs and results of four segments.
  // The peak is the memory of one segment, not of all four.
  device.reset_peak_memory();
  const std::uint64_t before = device.memory_stats().in_use;
  sum(segments()).backward();
  CHECK(device.memory_stats().peak - before < 40 * 4096);
}

TEST_CASE("checkpoint: several results, leaves inside, grad(), hooks and gradients of gradients") {
  const Tensor x = from_vector(std::vector<float>{2, 3}).requires_grad_();
  const Tensor w = from_vector(std::vector<float>{5, 7}).requires_grad_();
  int hooks = 0;
  const HookHandle handle = w.register_post_accumulate_grad_hook([&](const Tensor&) { ++hooks; });
  const auto f = [&](const Inputs& in) { return Inputs{in[0] * w, in[0] * in[0]}; };
  const Inputs y = checkpoint(f, {x});
  const Tensor loss = sum(y[0] * y[1] + w);  // x³ w + w
  CHECK(grad({loss}, {w}, {.retain_graph = true})[0].to_vector<float>() == std::vector<float>{9, 28});
  const Tensor slope = grad({loss}, {x}, {.create_graph = true})[0];  // 3 x² w
  CHECK(slope.to_vector<float>() == std::vector<float>{60, 189});
  CHECK(grad({sum(slope)}, {x, w}, {.retain_graph = true})[0].to_vector<float>() == std::vector<float>{60, 126});
  loss.backward();
  CHECK(hooks == 1);
  CHECK(x.grad().to_vector<float>() == std::vector<float>{60, 189});
  const NoGrad no_grad;
  CHECK_FALSE(checkpoint(f, {x})[0].requires_grad());
}

TEST_CASE("checkpoint notices a function that does something else, and changed tensors") {
  const Tensor x = from_vector(std::vector<float>{2, 3}).requires_grad_();
  int calls = 0;
  const auto uneven = [&](const Inputs& in) { return ++calls == 1 ? sigmoid(sigmoid(in[0])) : sigmoid(in[0]); };
  check_error([&] { sum(checkpoint(uneven, {x})).backward(); }, {"[checkpoint]", "1 tensors instead of 2"});
  calls = 0;
  const auto reshaped = [&](const Inputs& in) { return sigmoid(++calls == 1 ? in[0] : in[0].reshape({2, 1})); };
  check_error([&] { sum(checkpoint(reshaped, {x})).backward(); }, {"[checkpoint]", "another tensor", "(2, 1)"});
  const auto square_of = [](const Inputs& in) { return in[0] * in[0]; };
  {
    const Tensor y = checkpoint(square_of, {x});
    const NoGrad no_grad;
    Tensor(x).fill_(1);
    check_error([&] { y.backward(ones({2})); }, {"[backward]", "changed in place"});
  }
  check_error([&] { checkpoint(ForwardFunction(), {x}); }, {"[checkpoint]", "empty"});
}
