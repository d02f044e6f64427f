#include "crisol/autograd.h"

#include "autograd/node.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/copy.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

using namespace crisol;
using crisol::testing::check_error;

namespace {

Tensor leaf(std::vector<float> values) { return from_vector(values).requires_grad_(); }

}  // namespace

TEST_CASE("a gradient flows through a chain and is added up over two uses of a tensor") {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * x + x * 4;  // dy/dx = 2x + 4
  CHECK(y.requires_grad());
  CHECK_FALSE(y.is_leaf());
  sum(y).backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{8, 10});
}

TEST_CASE("gradients accumulate until they are cleared") {
  const Tensor x = leaf({1});
  for (int i = 0; i < 3; ++i) (x * 5).backward();
  CHECK(x.grad().item() == 15.0f);
  autograd::clear_gradient(x);
  CHECK_FALSE(x.grad().defined());
  (x * 5).backward();
  CHECK(x.grad().item() == 5.0f);
}

TEST_CASE("adding to a gradient changes no other tensor") {
  // add passes the same gradient to both inputs.
  const Tensor a = leaf({1}), b = leaf({1});
  (a + b).backward();
  (a * 3).backward();
  CHECK(a.grad().item() == 4.0f);
  CHECK(b.grad().item() == 1.0f);
  const Tensor seed = ones({1});
  const Tensor c = leaf({1});
  c.backward(seed);
  c.backward(seed);
  CHECK(c.grad().item() == 2.0f);
  CHECK(seed.item() == 1.0f);
}

TEST_CASE("a diamond runs each op once, after all that depend on it") {
  const Tensor x = leaf({3});
  const Tensor shared = x * x;
  const Tensor left = shared * 2, right = shared * shared;
  (left + right).backward();  // 2x² + x⁴
  CHECK(x.grad().item() == 4 * 3.0f + 4 * 27.0f);
}

TEST_CASE("nothing is recorded under NoGrad, for detached tensors or without a leaf") {
  const Tensor x = leaf({1, 2});
  {
    const NoGrad no_grad;
    CHECK_FALSE(grad_enabled());
    CHECK_FALSE((x * 2).requires_grad());
  }
  CHECK(grad_enabled());
  CHECK_FALSE((x.detach() * 2).requires_grad());
  CHECK_FALSE((zeros({2}) * 2).requires_grad());
  const Tensor y = x.detach() * 3 + x;
  sum(y).backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("the record is freed as it is used, unless it is retained") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  y.backward(Tensor(), true);
  y.backward();
  CHECK(x.grad().item() == 8.0f);
  check_error([&] { y.backward(); }, {"[backward]", "mul", "retain_graph"});
  CHECK(x.grad().item() == 8.0f);
}

TEST_CASE("memory that backward no longer needs goes back as it advances") {
  const Device device;
  const Tensor x = full({1000}, 1.5).requires_grad_();
  const std::uint64_t before = device.memory_stats().in_use;
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = sigmoid(y);
  const std::uint64_t recorded = device.memory_stats().in_use;
  CHECK(recorded >= before + 20 * 4000);  // Each op saved its output.
  device.reset_peak_memory();
  const Tensor loss = sum(y);
  y = Tensor();
  loss.backward();
  CHECK(device.memory_stats().peak < recorded + 10 * 4000);
  CHECK(device.memory_stats().in_use < before + 4 * 4000);
}

TEST_CASE("a saved tensor that was changed in place is noticed") {
  const Tensor x = leaf({2});
  Tensor factor = from_vector(std::vector<float>{5});
  const Tensor y = x * factor;
  factor.fill_(7);
  check_error([&] { y.backward(); }, {"[backward]", "changed in place"});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a leaf is not changed in place while ops are recorded") {
  Tensor x = leaf({2});
  check_error([&] { x.fill_(1); }, {"[fill_]", "NoGrad"});
  check_error([&] { x.copy_from(std::vector<float>{1}); }, {"[copy_from]"});
  check_error([&] { x.copy_from(ones({1})); }, {"[copy_from]"});
  const NoGrad no_grad;
  x.fill_(1);
  CHECK(x.item() == 1.0f);
}

TEST_CASE("backward refuses what has no gradient") {
  const Tensor x = leaf({1, 2});
  check_error([&] { zeros({1}).backward(); }, {"does not depend on a leaf"});
  check_error([&] { (x * 2).backward(); }, {"(2)", "a gradient must be given"});
  check_error([&] { (x * 2).backward(ones({3})); }, {"(3)", "(2)"});
  check_error([&] { (x * 2).requires_grad_(false); }, {"[requires_grad_]"});
}

TEST_CASE("a record of many thousand ops is destroyed without recursion") {
  const Tensor x = leaf({0});
  Tensor y = x;
  for (int i = 0; i < 20000; ++i)
    y = autograd::record("same", y.detach(), {y},
                         [](const Tensor& dy, autograd::Needs) { return autograd::Gradients{dy}; });
  SUBCASE("unused") { y = Tensor(); }
  SUBCASE("used") {
    y.backward();
    CHECK(x.grad().item() == 1.0f);
  }
}

TEST_CASE("an op's gradient of a wrong shape is an error that names the op") {
  const Tensor x = leaf({1, 2});
  const Tensor y = autograd::record("bad_op", x.detach(), {x},
                                    [](const Tensor&, autograd::Needs) { return autograd::Gradients{zeros({3})}; });
  check_error([&] { sum(y).backward(); }, {"[bad_op]", "(3)", "(2)"});
}

TEST_CASE("elements move to other memory, and views of them follow") {
  const Tensor x = leaf({1, 2, 3}), view = x.detach()[Slice(1, 3)], arena = zeros({64});
  const Tensor y = x * x;
  CHECK(can_move_elements(x));
  CHECK_FALSE(can_move_elements(view));
  move_elements(x, make_slice_of_arena(arena, 16, {3}));
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(arena.to_vector<float>()[17] == 2.0f);
  ops::fill_into(arena, 7);
  CHECK(view.to_vector<float>() == std::vector<float>{7, 7});
  sum(y).backward();  // The move itself is no change of the elements.
  CHECK(x.grad().defined());
}

TEST_CASE("who keeps a tensor at a place of an arena gets memory of its own") {
  const Tensor arena = full({64}, 5);
  Tensor place = make_slice_of_arena(arena, 16, {3});
  place = take_place(place);
  CHECK(place.offset() == 0);
  const Tensor kept = place;
  place = take_place(place);
  CHECK(place.impl() != kept.impl());
  ops::fill_into(place, 1);
  CHECK(kept.to_vector<float>() == std::vector<float>{5, 5, 5});
  CHECK(arena.to_vector<float>()[17] == 1.0f);
}

TEST_CASE("gradients of views and copies") {
  const Tensor x = testing::tensor_of(testing::random_values(1, 24), {2, 3, 4});
  const auto check = [&](const std::function<Tensor(const Tensor&)>& f) {
    testing::check_gradients([&](const std::vector<Tensor>& in) { return f(in[0]); }, {x});
  };
  check([](const Tensor& t) { return t.reshape({6, 4}); });
  check([](const Tensor& t) { return t.transpose(0, 2).reshape({24}); });
  check([](const Tensor& t) { return t.permute({2, 0, 1}); });
  check([](const Tensor& t) { return t.narrow(1, 1, 2); });
  check([](const Tensor& t) { return t.select(2, 3); });
  check([](const Tensor& t) { return t.flatten(0, 1); });
  check([](const Tensor& t) { return t.unsqueeze(0).expand({5, 2, 3, 4}); });
  check([](const Tensor& t) { return t.narrow(0, 0, 1).squeeze(0).expand({2, 3, 4}); });
  check([](const Tensor& t) { return t.transpose(0, 1).contiguous() * t.clone().transpose(0, 1); });
}
