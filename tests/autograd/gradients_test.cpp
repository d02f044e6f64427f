// Functions for libraries that exchange gradients: the end of backward(), and gradients from elsewhere.
#include "crisol/gradients.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"

using namespace crisol;

TEST_CASE("gradients: a function is called after the last op of backward") {
  const Tensor a = ones({3}).requires_grad_(), b = ones({3}).requires_grad_();
  std::vector<std::string> order;
  const auto note = [&](const char* text) { return [&order, text](const Tensor&) { order.emplace_back(text); }; };
  const HookHandle first = b.register_post_accumulate_grad_hook([&](const Tensor&) {
    order.emplace_back("b");
    call_after_backward([&](const std::exception_ptr& error) {
      CHECK(error == nullptr);
      CHECK(a.grad().defined());
      order.emplace_back("end");
    });
  });
  const HookHandle second = a.register_post_accumulate_grad_hook(note("a"));
  sum(relu(a * 2) * b).backward();
  CHECK(order == std::vector<std::string>{"b", "a", "end"});
  CHECK_THROWS_WITH_AS(call_after_backward([](const std::exception_ptr&) {}),
                       doctest::Contains("[call_after_backward] no backward() runs on this thread"), Error);
}

TEST_CASE("gradients: the function gets the error of backward, and an error of its own leaves backward") {
  const Tensor a = ones({3}).requires_grad_(), b = ones({3}).requires_grad_();
  bool got_error = false, throws = false;
  const HookHandle hook = b.register_post_accumulate_grad_hook([&](const Tensor&) {
    call_after_backward([&](const std::exception_ptr& error) {
      got_error = error != nullptr;
      if (throws) throw std::runtime_error("from the end");
    });
  });
  const HookHandle bad = a.register_hook([&](const Tensor&) {
    if (!throws) throw std::runtime_error("from a hook");
  });
  CHECK_THROWS_WITH(sum(relu(a * 2) * b).backward(), "from a hook");
  CHECK(got_error);
  throws = true;
  CHECK_THROWS_WITH(sum(relu(a * 2) * b).backward(), "from the end");
  CHECK(!got_error);
}

TEST_CASE("gradients: the outer backward calls the function") {
  const Tensor a = ones({2}).requires_grad_(), inner = ones({2}).requires_grad_();
  std::vector<std::string> order;
  const HookHandle inner_hook = inner.register_post_accumulate_grad_hook(
      [&](const Tensor&) { call_after_backward([&](const std::exception_ptr&) { order.emplace_back("end"); }); });
  const HookHandle hook = a.register_post_accumulate_grad_hook([&](const Tensor&) {
    const EnableGrad enable;
    sum(inner * 2).backward();
    order.emplace_back("outer goes on");
  });
  sum(a).backward();
  CHECK(order == std::vector<std::string>{"outer goes on", "end"});
}

TEST_CASE("gradients: set_grad replaces a gradient") {
  Tensor w = ones({2, 3}).requires_grad_();
  const Tensor given = full({2, 3}, 4);
  set_grad(w, given);
  CHECK(w.grad().sum().item() == 24);
  sum(w).backward();
  CHECK(w.grad().sum().item() == 30);
  CHECK(given.sum().item() == 24);
  optim::SGD optimizer({w}, {.lr = 1});
  set_grad(w, given);
  optimizer.step();
  CHECK(w.sum().item() == 6 - 24);
  set_grad(w, w.grad());
  CHECK(w.grad().sum().item() == 24);
  set_grad(w, Tensor());
  CHECK(!w.grad().defined());
  set_grad(w, given);
  w.requires_grad_(false);
  set_grad(w, Tensor());
  CHECK(!w.grad().defined());
  w.requires_grad_();
  CHECK_THROWS_WITH_AS(set_grad(w, ones({3})), doctest::Contains("[set_grad] the gradient has shape (3)"), Error);
  CHECK_THROWS_WITH_AS(set_grad(ones({3}), ones({3})), doctest::Contains("no leaf that wants a gradient"), Error);
  CHECK_THROWS_AS(set_grad(w * 2, ones({2, 3})), Error);
}
