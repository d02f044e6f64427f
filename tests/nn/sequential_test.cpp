// Layers that run one after another.
#include "crisol/nn/sequential.h"

#include <type_traits>

#include "crisol/nn/activation.h"
#include "crisol/nn/flatten.h"
#include "crisol/nn/linear.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;

// Appends its digit to the value that passes through.
struct Digit : nn::Module {
  explicit Digit(double d) : digit(d) {}
  Tensor forward(const Tensor& x) override { return 10.0 * x + digit; }
  double digit;
};

static_assert(std::is_constructible_v<nn::Sequential, nn::Linear, nn::ReLU>);
static_assert(std::is_constructible_v<nn::Sequential, nn::Linear&>);
static_assert(!std::is_constructible_v<nn::Sequential, int>);

}  // namespace

TEST_CASE("a sequence names its layers by number and calls them in order") {
  nn::Sequential net(Digit(1), Digit(2));
  net.append(Digit(3)).append(Digit(4));
  REQUIRE(net.named_children().size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(net.named_children()[i].first == std::to_string(i));
  check_close(net(zeros({1})), {1234}, {0});
}

TEST_CASE("twelve layers keep their order") {
  nn::Sequential net;
  for (int i = 0; i < 12; ++i) net.append(nn::Linear(1, 1));
  CHECK(net.named_parameters()[22].first == "11.weight");
  CHECK(net.named_parameters()[2].first == "1.weight");
}

TEST_CASE("a named layer stays the same module in a sequence, and a copy of a sequence is the same sequence") {
  nn::Linear layer(1, 1);
  nn::Sequential net(layer, nn::ReLU()), copy(net);
  layer.weight = full({1, 1}, 3);
  layer.bias = full({1}, 1);
  check_close(copy(full({1, 1}, 2)), Shape{1, 1}, {7}, {0});
  copy.append(Digit(5));
  CHECK(net.size() == 3);
  CHECK(&net[2] == &copy[2]);
  net.replace(0, Digit(4));
  check_close(copy(zeros({1})), {45}, {0});
  check_error([&] { net[3]; }, {"[module]", "'3'", "0, 1, 2"});
  check_error([&] { net.replace(3, Digit(1)); }, {"[replace_module]", "'3'"});
}

TEST_CASE("an empty sequence gives its input") {
  nn::Sequential net;
  const Tensor x = ones({2, 3});
  CHECK(net(x).shares_storage_with(x));
}

TEST_CASE("sequences nest") {
  nn::Sequential net(nn::Sequential(nn::Flatten(), nn::Linear(6, 4)), nn::ReLU(), nn::Linear(4, 2, false));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : net.named_parameters()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"0.1.weight", "0.1.bias", "2.weight"});
  CHECK(net(ones({5, 2, 3})).shape() == Shape{5, 2});
  net.eval();
  CHECK_FALSE(net.named_children()[0].second->named_children()[1].second->training());
}

}  // namespace crisol
