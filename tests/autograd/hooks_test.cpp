// Hooks on tensors: the gradients that they see and replace, and the time at which they run.
#include <string>

#include "crisol/autograd.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using crisol::testing::check_error;

namespace {

using Values = std::vector<float>;

Tensor leaf(const Values& values) { return from_vector(values).requires_grad_(); }

// Passes x on and notes in `order` when its gradient runs.
Tensor noted(const Tensor& x, const std::string& name, std::string& order) {
  return custom_function(
      name, {x}, [](const std::vector<Tensor>& in) { return in[0].clone(); },
      [&order, name](const Tensor& dy, const std::vector<Tensor>&, const Tensor&) {
        order += name + ' ';
        return std::vector<Tensor>{dy};
      });
}

}  // namespace

TEST_CASE("a hook sees the whole gradient of a result and may replace it") {
  const Tensor x = leaf({2, 3});
  Values seen;
  int calls = 0;
  HookHandle handle;
  const auto loss = [&](bool hooked) {
    const Tensor h = x * 2;
    if (hooked) {
      handle = h.register_hook([&](const Tensor& gradient) {
        ++calls;
        seen = gradient.to_vector<float>();
      });
      h.register_hook([](const Tensor& gradient) { return gradient * 10; });
    }
    return sum(h * h + h);  // The handle h is gone when backward runs.
  };
  loss(true).backward();
  CHECK(calls == 1);
  CHECK(seen == Values{9, 13});
  CHECK(x.grad().to_vector<float>() == Values{180, 260});
  loss(false).backward();
  CHECK(calls == 1);
}

TEST_CASE("a hook on a leaf runs once on the sum of its uses, and is removed by its handle") {
  const Tensor x = leaf({3});
  int calls = 0;
  HookHandle handle = x.register_hook([&](const Tensor& gradient) {
    ++calls;
    CHECK(gradient.item() == 7.0f);
    return gradient * 2;
  });
  (x * x + x).backward();
  CHECK(calls == 1);
  CHECK(x.grad().item() == 14.0f);
  CHECK(grad({x * x + x}, {x})[0].item() == 14.0f);
  CHECK(calls == 2);
  handle.remove();
  handle.remove();
  (x * x + x).backward();
  CHECK(calls == 2);
  CHECK(x.grad().item() == 21.0f);
}

TEST_CASE("a hook that gives another shape, or an empty one, is refused") {
  const Tensor x = leaf({1, 2});
  check_error([&] { x.register_hook(GradientHook()); }, {"[register_hook]", "empty"});
  check_error([] { zeros({1}).register_hook([](const Tensor&) {}); }, {"[register_hook]", "wants no gradient"});
  const HookHandle handle = x.register_hook([](const Tensor&) { return ones({3}); });
  check_error([&] { sum(x * 2).backward(); }, {"[backward]", "a hook", "(3)", "(2)"});
}

TEST_CASE("retain_grad keeps the gradient of a result") {
  const Tensor x = leaf({2, 3});
  Tensor h = x * 2;
  h.register_hook([](const Tensor& gradient) { return gradient * 10; });
  h.retain_grad();
  const Tensor y = sum(h * h);
  y.backward(Tensor(), true);
  CHECK(h.grad().to_vector<float>() == Values{80, 120});
  y.backward();
  CHECK(h.grad().to_vector<float>() == Values{160, 240});
  CHECK(Tensor(x).retain_grad().is_leaf());
  check_error([] { zeros({1}).retain_grad(); }, {"[retain_grad]", "wants no gradient"});
}

TEST_CASE("post-accumulate hooks run as soon as the gradient of their leaf is final") {
  std::string order;
  const Tensor first = leaf({1}), shared = leaf({2}), last = leaf({3});
  const auto note = [&](const char* name) {
    return [&order, name](const Tensor& leaf) {
      order += name + std::to_string(static_cast<int>(leaf.grad().item())) + ' ';
    };
  };
  const HookHandle handles[] = {first.register_post_accumulate_grad_hook(note("first")),
                                shared.register_post_accumulate_grad_hook(note("shared")),
                                last.register_post_accumulate_grad_hook(note("last"))};
  const Tensor a = noted(first * shared, "a", order);
  const Tensor b = noted(a + shared, "b", order);
  const Tensor y = noted(b * last, "y", order);
  y.backward(Tensor(), true);
  // `shared` is used by two ops: its hook runs once, after the second.
  CHECK(order == "y last4 b a first6 shared6 ");
  order.clear();
  grad({y}, {first}, {.retain_graph = true});
  CHECK(order == "y b a ");
  order.clear();
  y.backward();
  CHECK(order == "y last8 b a first12 shared12 ");
}

TEST_CASE("post-accumulate hooks see the gradient where an optimiser wants it, and may step") {
  const Tensor a = leaf({1}), b = leaf({2});
  optim::SGD optimizer({a, b}, {1.0});
  int calls = 0;
  const HookHandle handle = b.register_post_accumulate_grad_hook([&](const Tensor& leaf) {
    ++calls;
    CHECK(leaf.grad().item() == 3.0f);
  });
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    sum(b * 3 + a).backward();
    optimizer.step();
  }
  CHECK(calls == 2);
  CHECK(b.item() == -4.0f);
  check_error([&] { (a * 2).register_post_accumulate_grad_hook([](const Tensor&) {}); },
              {"[register_post_accumulate_grad_hook]", "not a leaf"});
}
