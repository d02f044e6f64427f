// instance_norm and group_norm: values, gradients, running statistics, refusals; and their layers.
#include <cmath>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using namespace testing;

namespace {

using Values = std::vector<double>;

/// The mean and the biased variance of a part.
std::pair<double, double> moments(const double* first, std::size_t count) {
  double mean = 0, var = 0;
  for (std::size_t i = 0; i < count; ++i) mean += first[i] / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) var += (first[i] - mean) * (first[i] - mean) / static_cast<double>(count);
  return {mean, var};
}

/// x (N, C, …) with the statistics of groups of channels.
Values expected_of(const Values& x, const Shape& shape, std::int64_t groups, const Values& weight, const Values& bias,
                   double epsilon) {
  const auto parts = static_cast<std::size_t>(shape[0] * groups), size = x.size() / parts,
             of_channel = x.size() / static_cast<std::size_t>(shape[0] * shape[1]);
  Values y(x.size());
  for (std::size_t part = 0; part < parts; ++part) {
    const auto [mean, var] = moments(&x[part * size], size);
    for (std::size_t i = part * size; i < (part + 1) * size; ++i) {
      const std::size_t c = i / of_channel % static_cast<std::size_t>(shape[1]);
      y[i] = (x[i] - mean) / std::sqrt(var + epsilon) * (weight.empty() ? 1 : weight[c]) + (bias.empty() ? 0 : bias[c]);
    }
  }
  return y;
}

const Shape shapes[] = {{2, 6, 7}, {3, 4, 5, 3}, {1, 6, 2, 3, 5}, {5, 12, 33}};
// Sums of 400 terms of size 1 in any order, and a square root. The results are below 8.
const Tolerance rounding{64, 8};

}  // namespace

TEST_CASE("group_norm and instance_norm agree with the reference") {
  for (const Shape& shape : shapes) {
    CAPTURE(shape);
    const Values x = random_values(1, shape.numel(), -1, 2), weight = random_values(2, shape[1], 0.5, 2),
                 bias = random_values(3, shape[1]);
    const Tensor tx = tensor_of(x, shape), tw = tensor_of(weight, {shape[1]}), tb = tensor_of(bias, {shape[1]});
    for (const std::int64_t groups : {std::int64_t{1}, std::int64_t{2}, shape[1]}) {
      CAPTURE(groups);
      check_close(group_norm(tx, groups, tw, tb, 1e-3), shape, expected_of(x, shape, groups, weight, bias, 1e-3),
                  rounding);
      check_close(group_norm(tx, groups), shape, expected_of(x, shape, groups, {}, {}, 1e-5), rounding);
      check_close(group_norm(tx, groups, tw), shape, expected_of(x, shape, groups, weight, {}, 1e-5), rounding);
      check_close(group_norm(tx, groups, {}, tb), shape, expected_of(x, shape, groups, {}, bias, 1e-5), rounding);
    }
    check_close(instance_norm(tx, tw, tb), shape, expected_of(x, shape, shape[1], weight, bias, 1e-5), rounding);
    check_close(instance_norm(tx), shape, expected_of(x, shape, shape[1], {}, {}, 1e-5), rounding);
    const Tensor turned = tx.transpose(0, 1).contiguous().transpose(0, 1);
    check_close(instance_norm(turned, tw, tb), shape, expected_of(x, shape, shape[1], weight, bias, 1e-5), rounding);
  }
  CHECK(instance_norm(zeros({0, 3, 4})).shape() == Shape{0, 3, 4});
  CHECK(group_norm(zeros({2, 4, 0}), 2).shape() == Shape{2, 4, 0});
  CHECK(group_norm(tensor_of({1, 5, 2, 2}, {2, 2}), 1, {}, {}, 0).to_vector<float>()[0] == doctest::Approx(-1));
}

TEST_CASE("gradients of group_norm and instance_norm") {
  const Tensor x = tensor_of(random_values(1, 48, -2, 2), {2, 4, 3, 2});
  const Tensor weight = tensor_of(random_values(2, 4, 0.5, 2), {4}), bias = tensor_of(random_values(3, 4), {4});
  const Tensor mean = tensor_of({0.5, -1, 0, 2}, {4}), var = tensor_of({1, 2, 0.5, 1}, {4});
  check_gradients([&](const std::vector<Tensor>& in) { return group_norm(in[0], 2, in[1], in[2]); }, {x, weight, bias});
  check_gradients([&](const std::vector<Tensor>& in) { return group_norm(in[0], 4); }, {x});
  check_gradients([&](const std::vector<Tensor>& in) { return instance_norm(in[0], in[1], in[2]); }, {x, weight, bias});
  check_gradients([&](const std::vector<Tensor>& in) { return instance_norm(in[0]); }, {x});
  check_gradients([&](const std::vector<Tensor>& in) { return instance_norm(in[0], in[1], in[2], mean, var, {false}); },
                  {x, weight, bias});
}

TEST_CASE("instance_norm: running statistics are the means over the instances") {
  const Shape shape{3, 2, 7};
  const Values x = random_values(4, shape.numel(), -1, 3);
  Values mean{0.5, -1}, var{1, 2};
  const Tensor running_mean = tensor_of(mean, {2}), running_var = tensor_of(var, {2}), tx = tensor_of(x, shape);
  const Tensor y = instance_norm(tx, {}, {}, running_mean, running_var, {.momentum = 0.25});
  check_close(y, shape, expected_of(x, shape, 2, {}, {}, 1e-5), rounding);
  for (std::size_t c = 0; c < 2; ++c) {
    mean[c] *= 0.75;
    var[c] *= 0.75;
    for (std::size_t n = 0; n < 3; ++n) {
      const auto [m, v] = moments(&x[(n * 2 + c) * 7], 7);
      mean[c] += 0.25 * m / 3;
      var[c] += 0.25 * v * 7 / 6 / 3;
    }
  }
  check_close(running_mean, {2}, mean, rounding);
  check_close(running_var, {2}, var, rounding);
  const Tensor still = instance_norm(tx, {}, {}, running_mean, running_var, {.training = false});
  check_close(still, values_of(batch_norm2d(tx, {}, {}, running_mean, running_var, {.training = false})), {0});
}

TEST_CASE("group_norm and instance_norm refuse what does not fit") {
  const Tensor x = zeros({2, 6, 3});
  check_error([&] { group_norm(x, 4); }, {"[group_norm]", "6 channels", "4 groups"});
  check_error([&] { group_norm(x, 0); }, {"[group_norm]", "0 groups"});
  check_error([&] { group_norm(x, 2, zeros({2})); }, {"[group_norm]", "weight", "(6)", "(2)"});
  check_error([&] { group_norm(zeros({6}), 2); }, {"[group_norm]", "(6)"});
  check_error([&] { group_norm(x.to(DType::i64), 2); }, {"[group_norm]", "i64"});
  check_error([&] { instance_norm(zeros({2, 6, 1})); }, {"[instance_norm]", "one element per channel", "(2, 6, 1)"});
  check_error([&] { instance_norm(x, {}, zeros({5})); }, {"[instance_norm]", "bias", "(5)"});
  check_error([&] { instance_norm(x, {}, {}, zeros({6})); }, {"[instance_norm]", "both"});
  check_error([&] { instance_norm(x, {}, {}, {}, {}, {.training = false}); }, {"[instance_norm]", "running"});
}

TEST_CASE("InstanceNorm1d to 3d and GroupNorm: state, modes, text, refusals") {
  manual_seed(1);
  const Tensor images = randn({2, 3, 4, 5});
  nn::InstanceNorm2d plain(3);
  CHECK(plain.state_dict().empty());
  CHECK(plain.extra_repr() == "3, eps=1e-05, momentum=0.1, affine=false, bias=false, track_running_stats=false");
  check_close(plain(images), values_of(instance_norm(images)), {0});
  check_close(plain(images[1]), values_of(instance_norm(images)[1]), {16, 4});
  plain.eval();
  check_close(plain(images), values_of(instance_norm(images)), {0});  // There are no running statistics.

  nn::InstanceNorm1d tracked(3, {.affine = true, .track_running_stats = true});
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tracked.state_dict()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"weight", "bias", "running_mean", "running_var", "num_batches_tracked"});
  const Tensor sequences = randn({2, 3, 9});
  const Tensor y = tracked(sequences);
  CHECK(tracked.num_batches_tracked.item<std::int64_t>() == 0);  // As in PyTorch.
  CHECK(tracked.running_mean.abs().max().item<float>() > 0);
  tracked.eval();
  CHECK_FALSE(tracked(sequences).allclose(y));
  CHECK(nn::InstanceNorm3d(2)(randn({2, 3, 4, 5})).shape() == Shape{2, 3, 4, 5});

  nn::GroupNorm group(2, 6, {.eps = 1e-3});
  group.weight = full({6}, 2);
  const Tensor x = randn({2, 6, 3});
  check_close(group(x), values_of(group_norm(x, 2, group.weight, group.bias, 1e-3)), {0});
  CHECK(group.extra_repr() == "2, 6, eps=0.001, affine=true, bias=true");
  CHECK_FALSE(nn::GroupNorm(1, 4, {.affine = false}).weight.defined());

  nn::BatchNorm1d batch(3);
  CHECK(batch(randn({4, 3})).shape() == Shape{4, 3});
  check_error([] { nn::GroupNorm(4, 6); }, {"[GroupNorm]", "6 channels", "4 groups"});
  check_error([&] { group(zeros({2, 4, 3})); }, {"[GroupNorm]", "(2, 4, 3)"});
  check_error([&] { plain(zeros({2, 4, 3, 3})); }, {"[InstanceNorm2d]", "4 channels", "3"});
  check_error([&] { tracked(images); }, {"[InstanceNorm1d]", "2 or 3 axes", "(2, 3, 4, 5)"});
  check_error([] { nn::InstanceNorm3d(0); }, {"[InstanceNorm3d]", "num_features 0"});
}

}  // namespace crisol
