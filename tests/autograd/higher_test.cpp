// Gradients of gradients: by finite differences for all ops that have them, by name for the others.
#include <cmath>

#include "crisol/autograd.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/conv.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/pad.h"
#include "crisol/functions/pool.h"
#include "crisol/functions/reduce.h"
#include "crisol/functions/rnn.h"
#include "crisol/functions/softmax.h"
#include "crisol/functions/sort.h"
#include "crisol/functions/triangle.h"
#include "crisol/functions/vision.h"
#include "crisol/fuse.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/pointwise/pointwise_calls.h"
#include "support/random_tensor.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

using Inputs = std::vector<Tensor>;
using Values = std::vector<float>;

Tensor leaf(const Values& values) { return from_vector(values).requires_grad_(); }

bool has_gradient(const ops::PointwiseRow& row) {
  for (std::size_t k = 0; k < row.input_count; ++k)
    if (row.has_derivative(k) && !row.is_zero(k)) return true;
  return false;
}

}  // namespace

TEST_CASE("gradients of gradients of every pointwise row that has a gradient" * doctest::test_suite("long")) {
  for (std::size_t r = 0; r < table_rows().size(); ++r) {
    const auto& [row, reference] = table_rows()[r];
    if (!has_gradient(*row)) continue;
    CAPTURE(row->name);
    Inputs inputs;
    for (std::size_t i = 0; i < row->input_count; ++i) {
      if (row->is_condition(i)) {
        inputs.push_back(tensor_of({1, 0, 0, 1, 1, 0}, {2, 3}, DType::boolean));
        continue;
      }
      // Values at different distances from the places where a derivative jumps: 0, whole numbers, equal inputs.
      const Shape shape = i == 1 ? Shape{3} : Shape{2, 3};
      std::vector<double> values;
      for (std::int64_t e = 0; e < shape.numel(); ++e) {
        const double at = (static_cast<double>(e) + 0.17 + 0.31 * static_cast<double>(i)) / 6.7;
        values.push_back(reference->low + (reference->high - reference->low) * at);
      }
      inputs.push_back(tensor_of(values, shape));
    }
    const auto f = [&, &call = pointwise_calls()[r].differentiable](const Inputs& v) {
      return call(v, reference->scalars);
    };
    check_gradients_of_gradients(f, inputs, {.step = 4e-3, .tolerance = 2e-2, .elements = 3});
  }
}

TEST_CASE("gradients of gradients with numbers as operands, and of a power with a zero") {
  const Tensor x = leaf({0, 2, -3});
  const Tensor slope = grad({sum(pow(x, 3))}, {x}, {.create_graph = true})[0];
  CHECK(slope.to_vector<float>() == Values{0, 12, 27});
  CHECK(grad({sum(slope)}, {x})[0].to_vector<float>() == Values{0, 12, -18});
  check_gradients_of_gradients([](const Inputs& v) { return pow(2, v[0]) + 3 / v[0] - lerp(v[0], 1, 0.25); },
                               {random_tensor(1, {4}, 0.5, 1.5)});
}

TEST_CASE("gradients of gradients of fused functions") {
  const Tensor a = random_tensor(1, {2, 3, 4}, 0.5, 1.5), b = random_tensor(2, {4});
  const auto gate = fuse([](const Expr& p, const Expr& q) { return tanh(p * q + q) * sigmoid(p); });
  check_gradients_of_gradients([&](const Inputs& v) { return gate(v[0], v[1]); }, {a, b});
  const auto reduced = fuse([](const Expr& p, const Expr& q, const Expr& s) { return mean(square(p - q) * s, {-1}); });
  check_gradients_of_gradients([&](const Inputs& v) { return reduced(v[0], v[1], 3); }, {a, b});
  const auto largest = fuse([](const Expr& p, const Expr& q) { return max(p * p * q, {-1}); });
  check_gradients_of_gradients([&](const Inputs& v) { return largest(v[0], v[1]); },
                               {a, tensor_of({1, 4, 0.25, 16}, {4})});
  const auto bias = fuse([](const Expr& y, const Expr& p) { return sigmoid(y + p); });
  check_gradients_of_gradients([&](const Inputs& v) { return linear(v[0], v[1], v[2], bias.epilogue(v[2])); },
                               {a, random_tensor(3, {5, 4}), random_tensor(4, {5})});
}

TEST_CASE("gradients of gradients of reductions" * doctest::test_suite("long")) {
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back(0.5 + (i * 17 % 30) * 0.06);
  const Tensor x = tensor_of(values, {2, 3, 5});
  for (const Shape& axes : {Shape{}, Shape{1}, Shape{0, -1}}) {
    CAPTURE(axes);
    const bool keepdim = axes.rank() == 1;
    check_gradients_of_gradients([&](const Inputs& v) { return sum(v[0], axes, keepdim) * 2; }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return square(mean(v[0], axes, keepdim)); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return square(max(v[0], axes, keepdim)); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return square(min(v[0], axes, keepdim)); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return var(v[0], axes, keepdim); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return stddev(v[0], axes, keepdim, 0); }, {x});
    for (const double p : {1.0, 2.0, 3.0, static_cast<double>(INFINITY)})
      check_gradients_of_gradients([&](const Inputs& v) { return square(norm(v[0], p, axes, keepdim)); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return logsumexp(v[0], axes, keepdim); }, {x});
  }
  const Tensor with_zeros = tensor_of({0, 2, 1.5, 0, 0, 3, 1, -2, 0.5, 1}, {2, 5});
  check_gradients_of_gradients([](const Inputs& v) { return prod(v[0], {1}); }, {with_zeros});
  check_gradients_of_gradients([](const Inputs& v) { return prod(v[0], {0}, true); }, {with_zeros});
  for (const int axis : {0, -1}) {
    check_gradients_of_gradients([&](const Inputs& v) { return square(cumsum(v[0], axis)); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return square(max_with_indices(v[0], axis).values); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return softmax(v[0], axis); }, {x});
    check_gradients_of_gradients([&](const Inputs& v) { return log_softmax(v[0], axis); }, {x});
  }
}

TEST_CASE("gradients of gradients of norms are finite at 0") {
  const Tensor x = zeros({3}).requires_grad_();
  for (const double p : {2.0, 3.0}) {
    const Tensor slope = grad({norm(x, p) + stddev(x)}, {x}, {.create_graph = true})[0];
    CHECK(slope.to_vector<float>() == Values{0, 0, 0});
    CHECK(grad({sum(slope)}, {x})[0].to_vector<float>() == Values{0, 0, 0});
  }
}

TEST_CASE("gradients of gradients of products") {
  const Tensor a = random_tensor(1, {2, 3, 4}), b = random_tensor(2, {4, 5}), c = random_tensor(3, {2, 4, 3});
  check_gradients_of_gradients([](const Inputs& v) { return matmul(v[0], v[1]); }, {a, b});
  check_gradients_of_gradients([](const Inputs& v) { return matmul(v[0], v[1].transpose(1, 2)); },
                               {a, random_tensor(4, {2, 5, 4})});
  check_gradients_of_gradients([](const Inputs& v) { return tanh(matmul(v[0], v[1])); }, {a, c});
  check_gradients_of_gradients([](const Inputs& v) { return linear(v[0], v[1], v[2]); },
                               {a, random_tensor(5, {5, 4}), random_tensor(6, {5})});
  check_gradients_of_gradients([](const Inputs& v) { return mse_loss(v[0], v[1]); }, {b, random_tensor(7, {4, 5})});
}

TEST_CASE("gradients of gradients of what moves data") {
  const Tensor x = random_tensor(1, {3, 4}), y = random_tensor(2, {3, 2});
  const auto check = [](const auto& f, const Inputs& inputs) {
    check_gradients_of_gradients([&](const Inputs& v) { return square(f(v)); }, inputs);
  };
  check([](const Inputs& v) { return cat({v[0], v[1]}, 1); }, {x, y});
  check([](const Inputs& v) { return stack({v[0], v[0] * 2}, 1); }, {x});
  check([](const Inputs& v) { return split(v[0], 3, 1)[0]; }, {x});
  check([](const Inputs& v) { return pad(v[0], {{1, -1}, {0, 2}}, 0.5); }, {x});
  check([](const Inputs& v) { return v[0].permute({1, 0}).reshape({2, 6}).narrow(1, 1, 3).select(0, 1); }, {x});
  check([](const Inputs& v) { return v[0].unsqueeze(1).expand({3, 2, 4}).clone().flatten(); }, {x});
  check([](const Inputs& v) { return tril(v[0]) + triu(v[0], 1).to(DType::f16).to(DType::f32); }, {x});
  check([](const Inputs& v) { return sort(v[0], 1).values.narrow(1, 0, 2) + topk(v[0], 2, 1).values; }, {x});
  check([](const Inputs& v) { return v[0][{Slice(0, 3, 2), NewAxis, 1}]; }, {x});
  const Tensor index = tensor_of({2, 0, 2}, {3}, DType::i64);
  check([&](const Inputs& v) { return v[0][{index, Slice(1, 4, 2)}]; }, {x});
  const Tensor grid = tensor_of({0, 3, 1, 1, 2, 2}, {3, 2}, DType::i64);
  check([&](const Inputs& v) { return gather(v[0], 1, grid); }, {x});
  check([&](const Inputs& v) { return index_select(v[0], 0, index); }, {x});
  check([&](const Inputs& v) { return scatter_add(v[0], 1, grid, v[1]); }, {x, y});
  check([&](const Inputs& v) { return index_add(v[0], 0, index, v[1]); }, {x, random_tensor(3, {3, 4})});
  check([&](const Inputs& v) { return embedding(v[0], index, 0); }, {x});
  check([](const Inputs& v) { return dropout(v[0], 0.5, true, Generator(7)); }, {x});
}

TEST_CASE("gradients of gradients of what turns, and of reductions by index") {
  const Tensor x = random_tensor(1, {3, 4}, 0.5, 1.5);
  const auto check = [](const auto& f, const Inputs& inputs) {
    check_gradients_of_gradients([&](const Inputs& v) { return square(f(v)); }, inputs);
  };
  check([](const Inputs& v) { return flip(v[0], {0, 1}); }, {x});
  check([](const Inputs& v) { return v[0][{Ellipsis, Slice({}, {}, -2)}]; }, {x});
  check([](const Inputs& v) { return roll(v[0], {1, 2}, {0, 1}) + repeat(v[0], {1, 1}); }, {x});
  check([](const Inputs& v) { return cumprod(v[0], 1) + cumprod(v[0], 0); }, {x});
  check([](const Inputs& v) { return cumprod(v[0], -1); }, {tensor_of({2, 0, 3, 0.5, 1, 0, 0, 4}, {2, 4})});
  const Tensor grid = tensor_of({0, 3, 1, 1, 2, 2}, {3, 2}, DType::i64), line = tensor_of({2, 0, 2}, {3}, DType::i64);
  // All elements are so far apart that no other one becomes an extreme.
  const auto spaced = [](const Shape& shape, double first) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
      values.push_back(first + 0.08 * static_cast<double>(i * 5 % shape.numel()));
    return tensor_of(values, shape);
  };
  const Tensor own = spaced({3, 4}, 0.6);
  for (const ScatterReduction how : {ScatterReduction::prod, ScatterReduction::amax, ScatterReduction::amin}) {
    check([&](const Inputs& v) { return scatter_reduce(v[0], 1, grid, v[1], how); }, {own, spaced({3, 2}, 0.8)});
    check([&](const Inputs& v) { return index_reduce(v[0], 0, line, v[1], how); }, {own, spaced({3, 4}, 0.64)});
  }
}

TEST_CASE("gradients of gradients of convolutions, pools, norms and losses" * doctest::test_suite("long")) {
  const GradcheckOptions options{.tolerance = 2e-2, .elements = 3};
  const auto check = [&](const auto& f, const Inputs& inputs) {
    check_gradients_of_gradients([&](const Inputs& v) { return square(f(v)); }, inputs, options);
  };
  const Tensor image = random_tensor(1, {2, 4, 5, 6}), weight = random_tensor(2, {6, 2, 3, 2}, -0.5, 0.5);
  const Tensor bias = random_tensor(3, {6});
  check(
      [](const Inputs& v) {
        return conv2d(v[0], v[1], v[2], {.stride = {2, 1}, .padding = 1, .dilation = {1, 2}, .groups = 2});
      },
      {image, weight, bias});
  const auto shifted = fuse([](const Expr& y, const Expr& p) { return tanh(y + p); });
  check([&](const Inputs& v) { return conv2d(v[0], v[1], v[2], {.groups = 2}, shifted.epilogue(1)); },
        {image, weight, bias});
  check([](const Inputs& v) { return conv1d(v[0], v[1]); }, {random_tensor(1, {2, 3, 6}), random_tensor(2, {2, 3, 2})});
  check([](const Inputs& v) { return conv3d(v[0], v[1]); },
        {random_tensor(1, {1, 2, 3, 4, 3}), random_tensor(2, {2, 2, 2, 2, 2}, -0.5, 0.5)});
  check(
      [](const Inputs& v) {
        return conv_transpose2d(v[0], v[1], v[2], {.stride = {2, 1}, .padding = 1, .output_padding = {1, 0}});
      },
      {random_tensor(1, {2, 3, 3, 4}), random_tensor(2, {3, 2, 3, 3}, -0.5, 0.5), random_tensor(3, {2})});
  std::vector<double> distinct;
  for (int i = 0; i < 60; ++i) distinct.push_back(0.1 * (i * 17 % 60) - 3);
  const Tensor pooled = tensor_of(distinct, {1, 2, 5, 6});
  check([](const Inputs& v) { return max_pool2d(v[0], {.kernel = 3, .stride = 2, .padding = 1}); }, {pooled});
  check([](const Inputs& v) { return avg_pool2d(v[0], {.kernel = 3, .stride = 2, .padding = 1}); }, {pooled});
  check([](const Inputs& v) { return adaptive_avg_pool2d(v[0], {2, 4}); }, {pooled});
  const Tensor x = random_tensor(4, {3, 4, 5}), scale = random_tensor(5, {4}, 0.5, 1.5), shift = random_tensor(6, {4});
  const Tensor mean = random_tensor(7, {4}), variance = random_tensor(8, {4}, 0.5, 1.5);
  for (const bool training : {true, false})
    check(
        [&](const Inputs& v) {
          return batch_norm2d(v[0], v[1], v[2], mean.clone(), variance.clone(), {.training = training});
        },
        {x, scale, shift});
  check(
      [](const Inputs& v) {
        return layer_norm(v[0], {4, 5}, v[1], v[2]);
      },
      {x, random_tensor(5, {4, 5}), random_tensor(6, {4, 5})});
  check([](const Inputs& v) { return layer_norm(v[0], {5}); }, {x});
  check([](const Inputs& v) { return group_norm(v[0], 2, v[1], v[2]); }, {x, scale, shift});
  check([](const Inputs& v) { return instance_norm(v[0], v[1], v[2]); }, {x, scale, shift});
  const Tensor logits = random_tensor(9, {4, 5}), labels = tensor_of({1, 4, 2, 0}, {4}, DType::i64);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    for (const double smoothing : {0.0, 0.2})
      check(
          [&](const Inputs& v) {
            return cross_entropy(v[0], labels,
                                 {.reduction = reduction, .label_smoothing = smoothing, .ignore_index = 2});
          },
          {logits});
    check([&](const Inputs& v) { return nll_loss(v[0], labels, reduction, 4); }, {logits});
  }
}

TEST_CASE("gradients of gradients of recurrent layers" * doctest::test_suite("long")) {
  const Tensor x = random_tensor(1, {3, 2, 2}), lengths = tensor_of({3, 2}, {2}, DType::i64);
  for (const RnnCell cell : {RnnCell::tanh, RnnCell::gru, RnnCell::lstm}) {
    CAPTURE(name_of(cell));
    const std::int64_t rows = 3 * gates_of(cell);
    const bool is_lstm = cell == RnnCell::lstm;
    for (const bool reverse : {false, true}) {
      const Inputs inputs{x,
                          random_tensor(2, {2, 3}),
                          random_tensor(3, {rows, 2}),
                          random_tensor(4, {rows, 3}),
                          random_tensor(5, {rows}),
                          random_tensor(6, {rows}),
                          random_tensor(7, {2, 3})};
      check_gradients_of_gradients(
          [&](const Inputs& v) {
            const RnnOutput y = rnn({v[0], v[1], is_lstm ? v[6] : Tensor(), lengths}, {v[2], v[3], v[4], v[5], {}},
                                    {.cell = cell, .reverse = reverse});
            const Tensor all = square(sum(y.y * y.y, {0})) + y.h_n * y.h_n;
            return is_lstm ? all + y.c_n * y.c_n : all + sum(v[6] * v[6]);
          },
          inputs, {.tolerance = 2e-2, .elements = 2});
    }
  }
}

TEST_CASE("the Hessian of a small function, and its third derivative") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = sum(x * x * x) + prod(x);
  const Tensor slope = grad({y}, {x}, {.create_graph = true})[0];
  CHECK(slope.to_vector<float>() == Values{9, 15, 29});
  const Values hessian[] = {{6, 3, 2}, {3, 12, 1}, {2, 1, 18}};
  for (int row = 0; row < 3; ++row)
    CHECK(grad({slope.select(0, row)}, {x}, {.retain_graph = true})[0].to_vector<float>() == hessian[row]);
  const Tensor curvature = grad({slope.select(0, 0)}, {x}, {.create_graph = true})[0];
  CHECK(grad({curvature.select(0, 0)}, {x})[0].to_vector<float>() == Values{6, 0, 0});
}

TEST_CASE("backward with create_graph leaves gradients that belong to the graph") {
  const Tensor x = leaf({2, 3});
  sum(x * x * x).backward({}, {.create_graph = true});
  CHECK(x.grad().to_vector<float>() == Values{12, 27});
  CHECK(x.grad().requires_grad());
  CHECK(grad({sum(x.grad())}, {x}, {.retain_graph = true})[0].to_vector<float>() == Values{12, 18});
  sum(x).backward({}, {.create_graph = true});  // Added up within the graph.
  CHECK(x.grad().to_vector<float>() == Values{13, 28});
  CHECK(grad({sum(x.grad())}, {x}, {.retain_graph = true})[0].to_vector<float>() == Values{12, 18});
  const Tensor before = x.grad();
  sum(x).backward();  // Added up outside of the graph, in other memory.
  CHECK(x.grad().to_vector<float>() == Values{14, 29});
  CHECK_FALSE(x.grad().requires_grad());
  CHECK(before.to_vector<float>() == Values{13, 28});
}

TEST_CASE("a gradient in an optimiser's arena may belong to the graph") {
  const Tensor x = leaf({2, 3});
  optim::SGD optimizer({x}, {1.0});
  sum(x * x).backward({}, {.create_graph = true});
  CHECK(x.grad().to_vector<float>() == Values{4, 6});
  const Tensor curvature = grad({sum(x.grad() * x.grad())}, {x})[0];
  CHECK(curvature.to_vector<float>() == Values{16, 24});
  optimizer.step();
  CHECK(x.to_vector<float>() == Values{-2, -3});
}

TEST_CASE("an op without a gradient of its gradient is refused by name, only where it is needed") {
  const Tensor x = random_tensor(1, {1, 2, 5, 5}).requires_grad_();
  const Tensor grid = random_tensor(2, {1, 3, 3, 2}, -0.9, 0.9).requires_grad_();
  const Tensor scale = leaf({2, 3});
  const auto sampled = [&] { return sum(square(grid_sample(x, grid)), {2, 3}).reshape({2}); };
  const std::vector<Tensor> slopes = grad({sum(sampled() * scale)}, {x, scale}, {.create_graph = true});
  CHECK(slopes[1].to_vector<float>()[0] == doctest::Approx(sampled().to_vector<float>()[0]));
  check_error([&] { grad({sum(slopes[0])}, {grid}); }, {"[backward]", "grid_sample has no gradient of its gradient"});
  check_error([&] { sum(slopes[0]).backward(); }, {"grid_sample has no gradient of its gradient"});
}

TEST_CASE("the second gradient of lgamma is trigamma, and its third one is refused only where it is needed") {
  const Tensor v = leaf({2, 0.5f, 7.25f, 40, -0.5f, -2.25f, 1e-3f});
  const Tensor slope = grad({sum(lgamma(v))}, {v}, {.create_graph = true})[0];
  CHECK(slope.to_vector<float>()[0] == doctest::Approx(0.42278434));
  const Tensor second = grad({sum(slope)}, {v}, {.create_graph = true})[0];
  check_close(second,
              {0.6449340668482266, 4.934802200544679, 0.1478792331589322, 0.02531510384129103, 8.934802200544679,
               19.379410511869143, 1000001.5475382999},
              {32});
  check_error([&] { grad({sum(second)}, {v}); }, {"[backward]", "digamma has no gradient of its gradient"});
  const auto fused = fuse([](const Expr& x) { return lgamma(x) * x; });
  check_gradients_of_gradients([&](const Inputs& in) { return fused(in[0]); }, {random_tensor(1, {5}, 0.5, 3)});
}

TEST_CASE("a critic with a gradient penalty learns, as in WGAN-GP") {
  manual_seed(3);
  Tensor first = mul(randn({8, 2}), 0.5).requires_grad_(), second = mul(randn({1, 8}), 0.5).requires_grad_();
  const auto critic = [&](const Tensor& points) { return linear(tanh(linear(points, first)), second); };
  optim::Adam optimizer({first, second}, {0.02});
  const Tensor real = randn({64, 2}) + 2, fake = randn({64, 2});
  float penalty = 0, distance = 0;
  for (int step = 0; step < 60; ++step) {
    const Tensor share = rand({64, 1});
    const Tensor between = (real * share + fake * (1 - share)).requires_grad_();
    const Tensor slope = grad({sum(critic(between))}, {between}, {.create_graph = true})[0];
    const Tensor excess = mean(square(norm(slope, 2, {1}) - 1));
    const Tensor gap = mean(critic(real)) - mean(critic(fake));
    optimizer.zero_grad();
    (excess * 10 - gap).backward();
    optimizer.step();
    penalty = excess.item();
    distance = gap.item();
  }
  CHECK(penalty < 0.1f);
  CHECK(distance > 1.0f);  // The means are 2 √2 apart, and a critic of slope 1 sees most of it.
}
