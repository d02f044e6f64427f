// Parameters and buffers: values that are assigned, and ties.
#include "crisol/nn/parameter.h"

#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/embedding.h"
#include "crisol/nn/identity.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/rnn.h"
#include "crisol/optim.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::tensor_of;
using testing::values_of;

// A language model whose output layer has the weight of its embedding.
struct TiedModel : nn::Module {
  TiedModel() {
    out.weight = embedding.weight;
    register_module("embedding", embedding);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) override { return out(embedding(x)); }

  nn::Embedding embedding{5, 3};
  nn::Linear out{3, 5, {.bias = false}};
};

Tensor symbols() { return from_vector<std::int64_t>({0, 3, 1, 4}); }

float loss_of(TiedModel& model) {
  const NoGrad no_grad;
  return cross_entropy(model(symbols()), symbols()).item();
}

}  // namespace

TEST_CASE("an assigned weight is what forward, parameters, state and optimiser use") {
  nn::Linear layer(3, 1, {.bias = false});
  optim::SGD optimizer(layer.parameters(), {0.5});
  const nn::Linear copy = layer;
  const Tensor listed = layer.parameters()[0];
  layer.weight = tensor_of({1, 2, 3}, {1, 3});
  check_close(layer(ones({1, 3})), Shape{1, 1}, {6}, {0});
  for (const Tensor& same :
       {listed, Tensor(copy.weight), layer.state_dict()[0].second, layer.parameter("weight").detach()})
    check_close(same, Shape{1, 3}, {1, 2, 3}, {0});
  CHECK(layer.weight.requires_grad());
  sum(layer(ones({1, 3}))).backward();
  optimizer.step();  // The values were copied into the optimiser's arena.
  check_close(layer.weight, Shape{1, 3}, {0.5, 1.5, 2.5}, {0});
  layer.parameter("weight") = zeros({1, 3});
  check_close(layer(ones({1, 3})), Shape{1, 1}, {0}, {0});
  layer.weight = layer.weight.detach() + 1;  // From its own values.
  check_close(copy.weight, Shape{1, 3}, {1, 1, 1}, {0});
}

TEST_CASE("a value that overlaps the parameter is read before it is written") {
  nn::Linear square(2, 2);
  square.weight = tensor_of({1, 2, 3, 4}, {2, 2});
  square.weight = square.weight.detach().transpose(0, 1);
  check_close(square.weight, Shape{2, 2}, {1, 3, 2, 4}, {0});
}

TEST_CASE("a value of another shape or dtype replaces the memory in all handles") {
  nn::Linear layer(3, 1, {.bias = false});
  optim::SGD optimizer(layer.parameters(), {0.5});
  sum(layer(ones({1, 3}))).backward();
  const Tensor listed = layer.parameters()[0], value = ones({2, 3});
  layer.weight = value;
  CHECK(listed.shape() == Shape{2, 3});
  CHECK_FALSE(listed.grad().defined());
  CHECK_FALSE(listed.shares_storage_with(value));
  CHECK(layer.parameter_count() == 6);
  check_close(layer(ones({1, 3})), Shape{1, 2}, {3, 3}, {0});
  sum(layer(ones({1, 3}))).backward();
  check_error([&] { optimizer.step(); }, {"[SGD]", "parameter 0", "other memory"});
  layer.weight = ones({2, 3}).to(DType::f16);
  CHECK(listed.dtype() == DType::f16);
  CHECK(listed.requires_grad());
}

TEST_CASE("values that no parameter or buffer can have are refused, and nothing is changed") {
  nn::Linear layer(2, 1), bare(2, 1, {.bias = false});
  layer.weight = tensor_of({1, 2}, {1, 2});
  check_error([&] { layer.weight = 2 * layer.weight; }, {"[Parameter]", "recorded op", "detach()"});
  check_error([&] { layer.weight = Tensor(); }, {"[Parameter]", "undefined"});
  check_error([&] { layer.weight = zeros({1, 2}, DType::i64); }, {"[Parameter]", "i64"});
  check_error([&] { layer.weight = nn::Parameter(ones({2, 1})); }, {"[Parameter]", "(1, 2)", "(2, 1)", "tied"});
  check_error([&] { layer.bias = bare.bias; }, {"[Parameter]", "undefined"});
  check_error([&] { bare.bias = ones({1}); }, {"[Parameter]", "without bias"});
  check_error([&] { nn::Parameter index(zeros({1}, DType::i64)); }, {"[requires_grad_]", "i64"});
  check_close(layer.weight, Shape{1, 2}, {1, 2}, {0});
  nn::BatchNorm2d norm(2, {.track_running_stats = false});
  check_error([&] { norm.running_mean = ones({2}); }, {"[Buffer]", "without running_mean"});
  check_error([&] { norm.weight = ones({2}) * norm.bias; }, {"[Parameter]", "detach()"});
}

TEST_CASE("an assigned buffer is what forward and state use") {
  nn::BatchNorm2d norm(1), other(1);
  norm.running_mean = full({1}, 2);
  other.running_mean = norm.running_mean;  // Copies: buffers are not tied.
  norm.running_mean.fill_(3);
  norm.eval();
  check_close(norm.state_dict()[2].second, {3}, {0});
  check_close(other.buffer("running_mean"), {2}, {0});
  check_close(norm(full({1, 1, 1, 1}, 3)), Shape{1, 1, 1, 1}, {0}, {0});
  norm.num_batches_tracked = full({}, 41, DType::i64);
  norm.train();
  norm(ones({2, 1, 1, 1}));
  CHECK(norm.buffer("num_batches_tracked").item<std::int64_t>() == 42);
}

TEST_CASE("a tied parameter is one parameter: listed, trained, saved and loaded once") {
  manual_seed(5);
  TiedModel model;
  REQUIRE(model.parameters().size() == 1);
  CHECK(model.named_parameters()[0].first == "embedding.weight");
  CHECK(model.parameter_count() == 15);
  CHECK(model.state_dict().size() == 1);
  check_close(model.parameter("out.weight"), Shape{5, 3}, values_of(model.embedding.weight), {0});

  optim::SGD optimizer(model.parameters(), {0.1});
  const std::vector<double> before = values_of(model.embedding.weight);
  cross_entropy(model(symbols()), symbols()).backward();
  const std::vector<double> gradient = values_of(model.out.weight.grad());
  CHECK(gradient == values_of(model.embedding.weight.grad()));
  optimizer.step();
  std::vector<double> after;
  for (std::size_t i = 0; i < before.size(); ++i) after.push_back(before[i] - 0.1 * gradient[i]);
  check_close(model.out.weight, Shape{5, 3}, after, {2, 1});
  check_close(model.embedding.weight, Shape{5, 3}, values_of(model.out.weight), {0});

  TiedModel loaded;
  loaded.load_state_dict(model.state_dict());
  CHECK(loss_of(loaded) == loss_of(model));
  // PyTorch's files have both names; a file with the other name alone loads too.
  NamedTensors state = model.state_dict();
  state.emplace_back("out.weight", state[0].second);
  TiedModel from_both, from_other;
  from_both.load_state_dict(state);
  from_other.load_state_dict({state[1]});
  CHECK(loss_of(from_both) == loss_of(model));
  CHECK(loss_of(from_other) == loss_of(model));
  check_error([&] { loaded.load_state_dict({}); }, {"missing: embedding.weight"});
}

TEST_CASE("a tied parameter has the gradient of all its uses") {
  nn::Parameter a(tensor_of({1, 2}, {2})), b(tensor_of({5, 7}, {2}));
  b = a;
  sum(3 * a + 4 * b).backward();
  check_close(a.grad(), {7, 7}, {0});
  check_close(b.grad(), {7, 7}, {0});
  b = full({2}, 9);
  check_close(a, {9, 9}, {0});
}

TEST_CASE("ties are kept by new memory, and left by a new tie") {
  nn::Parameter a(ones({2})), b(ones({2})), c(zeros({2}));
  b = a;
  b = full({3}, 2);
  CHECK(a.shape() == Shape{3});
  CHECK(a.shares_storage_with(b));
  c = full({3}, 4);
  b = c;
  check_close(a, {2, 2, 2}, {0});
  check_close(b, {4, 4, 4}, {0});
  c = ones({1});
  CHECK(a.shape() == Shape{3});
  CHECK(b.shape() == Shape{1});
  a = ones({1});
  a = c;
  a = b;  // Tied already.
  a = a;
  CHECK(a.shares_storage_with(b));
}

TEST_CASE("optimisers and ties") {
  TiedModel model;
  nn::Linear other(3, 5, {.bias = false});
  const std::vector<Tensor> twice{model.embedding.weight, model.out.weight};
  CHECK(optim::SGD(twice, 0.1).parameters().size() == 1);
  {
    const std::vector<Tensor> apart{model.embedding.weight, other.weight};
    optim::SGD both(apart, 0.1);
    cross_entropy(model(symbols()), symbols()).backward();
    other.weight = model.embedding.weight;
    check_error([&] { both.step(); }, {"[SGD]", "parameter 1", "tie"});
  }
  optim::SGD one(model.parameters(), 0.1);
  other.zero_grad();
  sum(other(ones({1, 3}))).backward();
  const std::vector<double> before = values_of(model.embedding.weight);
  one.step();
  CHECK(values_of(model.embedding.weight) != before);
  check_close(other.weight, Shape{5, 3}, values_of(model.embedding.weight), {0});
  model.to(Device());
  CHECK(other.weight.shares_storage_with(model.embedding.weight));
}

TEST_CASE("a parameter of another layer can be registered") {
  struct Shared : nn::Module {
    explicit Shared(nn::Linear& layer) : weight(layer.weight) { register_parameter("w", weight); }
    nn::Parameter weight;
  };
  nn::Linear layer(3, 2);
  Shared shared(layer);
  layer.weight = ones({4, 3});
  CHECK(shared.parameters()[0].shape() == Shape{4, 3});
}

TEST_CASE("handles of one parameter and of tied parameters have one identity") {
  nn::Linear layer(3, 2), other(3, 2);
  const void* identity = nn::identity_of(layer.weight);
  CHECK(nn::identity_of(layer.parameters()[0]) == identity);
  CHECK(nn::identity_of(nn::Parameter(layer.weight)) == identity);
  CHECK(nn::identity_of(layer.bias) != identity);
  CHECK(nn::identity_of(layer.weight.detach()) != identity);
  layer.weight = ones({4, 3});
  layer.to(DType::f16);
  layer.weight.requires_grad_(false);
  CHECK(nn::identity_of(layer.weight) == identity);
  other.weight = zeros({4, 3});
  CHECK(nn::identity_of(other.weight) != identity);
  other.weight = layer.weight;
  CHECK(nn::identity_of(other.weight) == identity);
}

TEST_CASE("replaced elements reach tied parameters, and views keep the old ones") {
  nn::Linear layer(3, 2, {.bias = false}), other(3, 2, {.bias = false});
  layer.weight = ones({2, 3});
  other.weight = layer.weight;
  const Tensor alias = layer.weight.detach(), view = layer.weight.reshape({6});
  optim::SGD optimizer(layer.parameters(), 1);
  nn::replace_elements(layer.weight, full({2, 3}, 5));
  check_close(other.weight, {2, 3}, std::vector<double>(6, 5), {0});
  check_close(alias, {2, 3}, std::vector<double>(6, 1), {0});
  check_close(view, {6}, std::vector<double>(6, 1), {0});
  nn::replace_elements(layer.weight, alias);
  sum(layer.weight).backward();
  optimizer.step();
  check_close(other.weight, {2, 3}, std::vector<double>(6, 0), {0});
  check_close(alias, {2, 3}, std::vector<double>(6, 1), {0});
  check_error([&] { nn::replace_elements(layer.weight, ones({3, 2})); }, {"[replace_elements]", "(3, 2)", "(2, 3)"});
  check_close(layer.weight, {2, 3}, std::vector<double>(6, 0), {0});
}

TEST_CASE("a buffer becomes another tensor in all its handles, and what was taken from it keeps the old elements") {
  nn::BatchNorm2d layer(2);
  const Tensor before = layer.running_mean, value = tensor_of({3, 4}, {2});
  const Tensor state = layer.state_dict()["running_mean"];
  nn::take_elements(nn::Buffer(Tensor(layer.running_mean)), value);
  check_close(layer.state_dict()["running_mean"], {3, 4}, {0});
  check_close(before, {0, 0}, {0});
  check_close(state, {0, 0}, {0});
  Tensor(value).add_(1);
  check_close(layer.running_mean, {4, 5}, {0});
  check_error([&] { nn::take_elements(layer.running_mean, Tensor()); }, {"[Buffer]", "undefined"});
}

TEST_CASE("the parameters of a recurrent network can be assigned") {
  nn::GRU gru(2, 3);
  gru.weights(0).weight_hh = zeros({9, 3});
  check_close(gru.parameter("weight_hh_l0"), Shape{9, 3}, std::vector<double>(27, 0), {0});
  check_error([&] { gru.weights(0).weight_hr = ones({1}); }, {"[Parameter]", "without weight_hr_l0"});
}

}  // namespace crisol
