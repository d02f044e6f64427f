// Groups of parameters with settings of their own, frozen parameters, and parameters that two optimisers want.
#include <cmath>
#include <memory>

#include "crisol/capture.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "reference/optimizer.h"
#include "support/compare.h"

namespace crisol {

namespace {

using reference::OptimizerState;
using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

constexpr std::int64_t size = 70;  // More than the alignment of the arena.

std::vector<double> start_of(std::size_t i) { return random_values(100 + i, size); }
std::vector<double> gradient_of(int step, std::size_t i) {
  return random_values(static_cast<std::uint64_t>(step) * 10 + i, size);
}

std::vector<Tensor> make_parameters(std::size_t count) {
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < count; ++i) parameters.push_back(tensor_of(start_of(i), {size}).requires_grad_());
  return parameters;
}

void give_gradients(const std::vector<Tensor>& parameters, int step) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].requires_grad()) sum(mul(parameters[i], tensor_of(gradient_of(step, i), {size}))).backward();
}

}  // namespace

TEST_CASE("each group has its own settings, and the rest from the options") {
  const std::vector<Tensor> p = make_parameters(4);
  optim::SGD optimizer({{.params = {p[0], p[1]}, .lr = 0.5, .weight_decay = 0.0}, {.params = {p[2]}, .momentum = 0.0}},
                       {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.2});
  optimizer.add_param_group({.params = {p[3]}, .maximize = true});
  REQUIRE(optimizer.param_groups().size() == 3);
  CHECK(optimizer.parameters().size() == 4);
  CHECK(optimizer.param_groups()[0].params.size() == 2);
  CHECK(optimizer.param_groups()[1].lr == 0.1);
  CHECK(optimizer.param_groups()[2].momentum == 0.9);
  CHECK_FALSE(optimizer.param_groups()[0].beta1.has_value());
  CHECK(optimizer.lr() == 0.5);

  std::vector<OptimizerState> states;
  for (std::size_t i = 0; i < 4; ++i) states.push_back({start_of(i), {}, {}, {}, {}});
  for (int step = 0; step < 4; ++step) {
    if (step == 2) optimizer.set_param_group(0, {.lr = 0.25, .weight_decay = 0.3});
    optimizer.zero_grad();
    give_gradients(p, step);
    optimizer.step();
    const bool late = step >= 2;
    for (const std::size_t i : {0, 1})
      reference::sgd_step(states[i], gradient_of(step, i), late ? 0.25 : 0.5, 0.9, {.weight_decay = late ? 0.3 : 0});
    reference::sgd_step(states[2], gradient_of(step, 2), 0.1, 0, {.weight_decay = 0.2});
    reference::sgd_step(states[3], gradient_of(step, 3), 0.1, 0.9, {.weight_decay = 0.2, .maximize = true});
  }
  for (std::size_t i = 0; i < 4; ++i) check_close(p[i], {size}, states[i].parameters, {64, 1});
}

TEST_CASE("a step is one launch for each group, and one for its step count") {
  const std::vector<Tensor> p = make_parameters(6);
  optim::Adam optimizer({{.params = {p[0], p[1], p[2]}}, {.params = {p[3], p[4], p[5]}, .lr = 0.1}});
  give_gradients(p, 0);
  optimizer.step();
  const CapturedGraph step = capture([&] { optimizer.step(); });
  CHECK(step.size() == 4);
  // Clipping spans the groups: their gradients follow each other in one arena.
  const CapturedGraph clip = capture([&] { optim::clip_grad_norm(optimizer.parameters(), 1); });
  CHECK(clip.size() == 3);
}

TEST_CASE("a captured step reads the rates of each group") {
  const std::vector<Tensor> p = make_parameters(2);
  optim::SGD optimizer({{.params = {p[0]}}, {.params = {p[1]}}}, {.lr = 1});
  give_gradients(p, 0);
  optimizer.step();
  const CapturedGraph step = capture([&] { optimizer.step(); });
  optimizer.set_param_group(1, {.lr = 0.25});
  step.replay();
  std::vector<double> expected = start_of(1);
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] -= 2.25 * gradient_of(0, 1)[k];
  check_close(p[1], {size}, expected, {8, 4});
}

TEST_CASE("groups refuse what does not go together, and change nothing then") {
  const std::vector<Tensor> p = make_parameters(3);
  using Groups = std::vector<optim::ParamGroup>;
  check_error([&] { optim::SGD({{.params = {p[0]}, .beta2 = 0.5}}); }, {"[SGD]", "no setting beta2", "0.5"});
  check_error([&] { optim::Lion({{.params = {p[0]}, .eps = 0.5}}); }, {"[Lion]", "no setting eps"});
  check_error(
      [&] {
        optim::SGD({{.params = {p[0]}}, {.params = {p[1], p[0]}}});
      },
      {"[SGD]", "parameter 1 of group 1 is in group 0 too"});
  check_error([&] { optim::SGD({{.params = {p[0]}}, {.params = {p[1]}, .lr = -1}}); }, {"learning rate is -1"});
  check_error([&] { optim::SGD(Groups{}); }, {"[SGD]", "no parameters"});
  check_error([&] { optim::SGD(Groups{{}, {}}); }, {"[SGD]", "no parameters"});
  check_error([&] { optim::SGD({{.params = {p[0]}, .momentum = 0.5, .dampening = 0.5, .nesterov = true}}); },
              {"[SGD]", "nesterov"});
  CHECK_FALSE(p[1].shares_storage_with(p[0]));  // Nothing was moved.

  optim::SGD optimizer({{.params = {p[0]}, .momentum = 0.9}, {.params = {p[1]}}}, {.lr = 0.1});
  check_error([&] { optimizer.set_param_group(2, {.lr = 1}); }, {"[SGD]", "group 2 of 2"});
  check_error([&] { optimizer.set_param_group(0, {.params = {p[2]}}); }, {"[SGD]", "set_param_groups"});
  check_error([&] { optimizer.set_param_group(0, {.lr = 1, .weight_decay = -1}); }, {"[SGD]", "weight_decay is -1"});
  check_error([&] { optimizer.add_param_group({.params = {p[1]}}); }, {"[SGD]", "in group 1 too"});
  check_error([&] { optimizer.add_param_group({}); }, {"[SGD]", "no parameters"});
  CHECK(optimizer.param_groups().size() == 2);
  CHECK(optimizer.lr() == 0.1);
  CHECK(optimizer.momentum() == 0.9);
  for (std::size_t i = 0; i < 3; ++i) check_close(p[i], {size}, start_of(i), {0});
}

TEST_CASE("the state of groups comes back, bit for bit") {
  const auto make = [](const std::vector<Tensor>& p) {
    auto optimizer = std::make_unique<optim::Adam>(
        std::vector<optim::ParamGroup>{{.params = {p[0]}, .lr = 0.1}, {.params = {p[1]}, .beta1 = 0.5}});
    optimizer->add_param_group({.params = {p[2]}, .amsgrad = true});
    return optimizer;
  };
  const std::vector<Tensor> whole = make_parameters(3);
  const auto one = make(whole);
  const auto train = [](optim::Optimizer& optimizer, int first) {
    for (int step = first; step < first + 2; ++step) {
      optimizer.zero_grad();
      give_gradients(optimizer.parameters(), step);
      optimizer.step();
    }
  };
  train(*one, 0);
  one->set_param_group(1, {.lr = 0.1 / 3});
  NamedTensors state;
  for (const auto& [name, tensor] : one->state_dict()) state.emplace_back(name, tensor.clone());
  std::vector<Tensor> resumed;
  for (const Tensor& p : whole) resumed.push_back(p.detach().clone().requires_grad_());
  train(*one, 2);
  const auto two = make(resumed);
  two->load_state_dict(state);
  CHECK(two->param_groups()[1].lr == 0.1 / 3);
  train(*two, 2);
  for (std::size_t i = 0; i < 3; ++i) check_close(resumed[i], values_of(whole[i]), {0});
}

TEST_CASE("frozen parameters are skipped, also with an old gradient, and go on when they thaw") {
  std::vector<Tensor> p = make_parameters(3);
  p[2].requires_grad_(false);
  optim::SGD optimizer(p, 0.5);
  give_gradients(p, 0);
  p[1].requires_grad_(false);
  optimizer.step();
  CHECK(values_of(p[0]) != start_of(0));
  check_close(p[1], {size}, start_of(1), {0});
  check_close(p[2], {size}, start_of(2), {0});
  p[0].requires_grad_(false);
  optimizer.step();  // Nothing wants a gradient: the empty step is meant.
  optimizer.zero_grad();
  p[2].requires_grad_(true);
  check_error([&] { optimizer.step(); }, {"[SGD]", "none of the 3 parameters has a gradient"});
  give_gradients(p, 1);
  optimizer.step();
  std::vector<double> expected = start_of(2);
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] -= 0.5 * gradient_of(1, 2)[k];
  check_close(p[2], {size}, expected, {4, 2});
  check_close(p[1], {size}, start_of(1), {0});
}

TEST_CASE("a newer optimiser takes parameters over") {
  const std::vector<Tensor> p = make_parameters(2);
  optim::Adam first(p);
  give_gradients(p, 0);
  first.step();
  const std::vector<double> before = values_of(p[1]);
  auto second = std::make_unique<optim::SGD>(std::vector<Tensor>{make_parameters(1)[0], p[1]}, 0.5);
  check_close(p[1], p[1].shape(), before, {0});
  const std::vector<double> left = values_of(p[0]);
  check_error([&] { first.step(); }, {"[Adam]", "parameter 1 of shape (70)", "made later, SGD"});
  check_close(p[0], p[0].shape(), left, {0});  // The refused step changed nothing.
  second->step();
  std::vector<double> expected = before;
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] -= 0.5 * gradient_of(0, 1)[k];
  check_close(p[1], p[1].shape(), expected, {4, 2});
  second.reset();
  check_error([&] { first.step(); }, {"[Adam]", "parameter 1 of shape (70)", "other memory", "another optimiser"});
  optim::SGD other(make_parameters(1), 0.1);
  other.add_param_group({.params = {p[0]}});
  check_error([&] { first.step(); }, {"[Adam]", "parameter 0", "made later, SGD"});
}

TEST_CASE("groups are replaced, and known parameters keep their states") {
  const std::vector<Tensor> p = make_parameters(3), alone = make_parameters(3);
  optim::Adam optimizer({{.params = {p[0]}}, {.params = {p[1]}, .lr = 0.5}}, {.lr = 0.1});
  optim::Adam first({alone[0]}, 0.1), second({alone[1]}, 0.5), third({alone[2]}, 0.2);
  const auto train = [&](const std::vector<std::size_t>& which, int from, const std::vector<optim::Optimizer*>& all) {
    for (int step = from; step < from + 2; ++step) {
      for (const std::size_t i : which)
        for (const Tensor& x : {p[i], alone[i]}) sum(mul(x, tensor_of(gradient_of(step, i), {size}))).backward();
      for (optim::Optimizer* each : all) {
        each->step();
        each->zero_grad();
      }
    }
  };
  train({0, 1}, 0, {&optimizer, &first, &second});
  check_error(
      [&] {
        optimizer.set_param_groups({{.params = {p[0]}}, {.params = {p[0]}}});
      },
      {"[Adam]", "in group 0 too"});
  CHECK(optimizer.parameters().size() == 2);
  optimizer.set_param_groups({{.params = {p[2], p[0]}, .lr = 0.2}});
  CHECK(optimizer.param_groups().size() == 1);
  first.set_lr(0.2);
  train({0, 2}, 2, {&optimizer, &first, &third});
  for (std::size_t i = 0; i < 3; ++i) check_close(p[i], alone[i].shape(), values_of(alone[i]), {0});
  optimizer.set_param_groups({});
  CHECK(optimizer.parameters().empty());
  CHECK(optimizer.lr() == 0.1);
  optimizer.step();  // There is nothing to do.
  CHECK(optimizer.state_dict().empty());
  optimizer.add_param_group({.params = {p[1]}});
  CHECK(optimizer.state_dict()["progress.0"].to_vector<float>()[0] == 0);
  const optim::StepLR schedule(optimizer, 1);
  optimizer.set_param_groups({});
  check_error([&] { schedule.state_dict(); }, {"[LRScheduler]", "1 groups", "has 0"});
}

TEST_CASE("a parameter that is named twice is one parameter") {
  const std::vector<Tensor> p = make_parameters(2);
  optim::SGD optimizer({p[0], p[1], p[0]}, 0.5);
  CHECK(optimizer.parameters().size() == 2);
  give_gradients(p, 0);
  optimizer.step();
  std::vector<double> expected = start_of(0);
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] -= 0.5 * gradient_of(0, 0)[k];
  check_close(p[0], {size}, expected, {4, 2});
}

TEST_CASE("clipping bounds the gradients of all groups together") {
  const std::vector<Tensor> p = make_parameters(3);
  optim::SGD optimizer({{.params = {p[0]}}, {.params = {p[1]}}});
  optimizer.add_param_group({.params = {p[2]}});
  give_gradients(p, 0);
  std::vector<double> all;
  for (std::size_t i = 0; i < 3; ++i)
    for (const double g : gradient_of(0, i)) all.push_back(g);
  const double norm = reference::norm(all);
  CHECK(optim::clip_grad_norm(optimizer.parameters(), norm / 2).item<double>() == doctest::Approx(norm).epsilon(2e-6));
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> expected = gradient_of(0, i);
    for (double& value : expected) value *= norm / 2 / (norm + 1e-6);
    check_close(p[i].grad(), {size}, expected, {20});
  }
  optim::clip_grad_value(optimizer.parameters(), 0.1);
  for (const Tensor& parameter : p)
    for (const double value : values_of(parameter.grad())) CHECK(std::abs(value) <= 0.1f);
}

}  // namespace crisol
