// grad(): gradients without the leaves' grad(), for leaves and results, and only the gradients that are needed.
#include "crisol/autograd.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using crisol::testing::check_error;

namespace {

using Values = std::vector<float>;

Tensor leaf(const Values& values) { return from_vector(values).requires_grad_(); }

// Passes x on and counts how often its gradient runs.
Tensor counted(const Tensor& x, int& runs) {
  return custom_function(
      "counted", {x}, [](const std::vector<Tensor>& in) { return in[0].clone(); },
      [&runs](const Tensor& dy, const std::vector<Tensor>&, const Tensor&) {
        ++runs;
        return std::vector<Tensor>{dy};
      });
}

}  // namespace

TEST_CASE("grad returns gradients and changes no grad()") {
  const Tensor x = leaf({2, 3}), w = leaf({5, 7});
  const Tensor hidden = x * w, y = sum(hidden * hidden);
  const std::vector<Tensor> gradients = grad({y}, {w, hidden, x, w});
  CHECK(gradients[0].to_vector<float>() == Values{40, 126});
  CHECK(gradients[1].to_vector<float>() == Values{20, 42});
  CHECK(gradients[2].to_vector<float>() == Values{100, 294});
  CHECK(gradients[3].to_vector<float>() == Values{40, 126});
  CHECK_FALSE(gradients[0].requires_grad());
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("grad adds up the outputs, weighted by grad_outputs") {
  const Tensor x = leaf({2, 3});
  const Tensor doubled = x * 2, squared = x * x;
  const GradOptions options{.grad_outputs = {from_vector(Values{1, 10}), ones({2})}, .retain_graph = true};
  CHECK(grad({doubled, squared}, {x}, options)[0].to_vector<float>() == Values{6, 26});
  CHECK(grad({doubled, squared}, {x}, options)[0].to_vector<float>() == Values{6, 26});
  CHECK(grad({sum(x), sum(squared)}, {x})[0].to_vector<float>() == Values{5, 7});
  const Tensor own = leaf({4});
  CHECK(grad({own}, {own})[0].item() == 1.0f);
}

TEST_CASE("grad runs only the ops between inputs and outputs") {
  const Tensor x = leaf({2}), w = leaf({3});
  int above = 0, below = 0, beside = 0;
  const Tensor hidden = counted(x, below);
  const Tensor y = counted(hidden * 2, above) + counted(w, beside);
  CHECK(grad({y}, {hidden}, {.retain_graph = true})[0].item() == 2.0f);
  CHECK(above == 1);
  CHECK(below == 0);
  CHECK(beside == 0);
  CHECK(grad({y}, {w})[0].item() == 1.0f);
  CHECK(above == 1);
  CHECK(beside == 1);
}

TEST_CASE("grad refuses what has no gradient, and keeps the graph then") {
  const Tensor x = leaf({1, 2}), unused = leaf({3});
  const Tensor y = sum(x * x);
  check_error([&] { grad({y}, {x, unused}); }, {"[grad]", "input 1", "allow_unused"});
  check_error([&] { grad({y}, {unused * 2}); }, {"[grad]", "input 0", "allow_unused"});
  check_error([&] { grad({y}, {zeros({2})}); }, {"[grad]", "input 0", "wants no gradient"});
  check_error([&] { grad({y}, {Tensor()}); }, {"[grad]", "input 0"});
  check_error([&] { grad({zeros({1})}, {x}); }, {"[grad]", "output 0", "does not depend on a leaf"});
  check_error([&] { grad({x * 2}, {x}); }, {"[grad]", "(2)", "a gradient must be given"});
  check_error([&] { grad({y}, {x}, {.grad_outputs = {ones({3})}}); }, {"[grad]", "(3)", "()"});
  check_error([&] { grad({y}, {x}, {.grad_outputs = {ones({}), ones({})}}); }, {"[grad]", "2 grad_outputs for 1"});
  check_error([&] { grad({}, {x}); }, {"[grad]", "0 outputs"});
  check_error([&] { grad({y}, {}); }, {"[grad]", "0 inputs"});
  const std::vector<Tensor> gradients = grad({y}, {x, unused}, {.allow_unused = true});
  CHECK(gradients[0].to_vector<float>() == Values{2, 4});
  CHECK_FALSE(gradients[1].defined());
  check_error([&] { grad({y}, {x}); }, {"[grad]", "was freed", "retain_graph"});
}

TEST_CASE("EnableGrad records within NoGrad") {
  const Tensor x = leaf({2});
  const NoGrad no_grad;
  {
    const EnableGrad enable_grad;
    CHECK(grad_enabled());
    CHECK((x * 2).requires_grad());
  }
  CHECK_FALSE(grad_enabled());
  CHECK_FALSE((x * 2).requires_grad());
}
