// Functions for libraries that exchange gradients: the end of backward(), and gradients from elsewhere.
#include "crisol/gradients.h"

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/graph_parts.h"
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

TEST_CASE("gradients: watch_gradients passes the gradients of several tensors through one function") {
  Tensor a = ones({2}).requires_grad_(), b = ones({2}).requires_grad_();
  int calls = 0;
  const std::vector<Tensor> watched = watch_gradients({a, ones({2}), b}, [&](const std::vector<Tensor>& gradients) {
    ++calls;
    CHECK(gradients[0].sum().item() == 6);
    CHECK(gradients[2].sum().item() == 10);
    return std::vector<Tensor>{gradients[0] * 2, Tensor(), gradients[2]};
  });
  sum(watched[0] * 3 + watched[1] + watched[2] * 5).backward();
  CHECK(calls == 1);
  CHECK(a.grad().sum().item() == 12);
  CHECK(b.grad().sum().item() == 10);
  const std::vector<Tensor> fewer = watch_gradients({a}, [](const auto&) { return std::vector<Tensor>(); });
  CHECK_THROWS_WITH_AS(sum(fewer[0]).backward(), doctest::Contains("gave 0 gradients for 1 tensors"), Error);
}

namespace {

class Counter : public FunctionVisitor {
 public:
  void hook(const GradientHook&) override { text += 'h'; }
  void leaf_hook(const std::function<void(const Tensor&)>&) override { text += 'l'; }
  void backward(const BackwardFunction&) override { text += 'b'; }
  void watch(const GradientsFunction&) override { text += 'w'; }
  std::string text;
};

std::string functions_of(const Tensor& tensor, std::int64_t handles = 1) {
  Counter counter;
  visit_functions(tensor, handles, counter);
  return counter.text;
}

}  // namespace

TEST_CASE("gradients: visit_functions finds what lives only because of a tensor") {
  Tensor leaf = ones({2}).requires_grad_();
  leaf.register_hook([](const Tensor& gradient) { return gradient; });
  leaf.register_post_accumulate_grad_hook([](const Tensor&) {});
  CHECK(functions_of(leaf) == "hl");
  const auto second = std::make_unique<Tensor>(leaf);
  CHECK(functions_of(leaf).empty());
  CHECK(functions_of(leaf, 2) == "hl");
  const auto identity = [](const std::vector<Tensor>& x) { return x[0]; };
  const auto pass = [](const Tensor& dy, const std::vector<Tensor>&, const Tensor&) { return std::vector<Tensor>{dy}; };
  Tensor y =
      watch_gradients({custom_function("identity", {leaf}, identity, pass)}, [](const auto& dx) { return dx; })[0];
  CHECK(functions_of(leaf, 2).empty());  // The graph keeps the leaf's slot too.
  CHECK(functions_of(y) == "wb");
  const Tensor z = y * 2;
  CHECK(functions_of(y).empty());
  y = Tensor();
  CHECK(functions_of(z) == "wb");
  sum(z).backward();
  CHECK(functions_of(z).empty());  // The functions were used and freed.
  CHECK(functions_of(Tensor()).empty());
}

TEST_CASE("gradients: visit_functions goes on where all owners live because of the tensor") {
  const auto pass = [](const auto& dx) { return dx; };
  const Tensor x = ones({2}).requires_grad_();
  Tensor y = watch_gradients({x * 2}, pass)[0];
  y.register_hook([](const Tensor& gradient) { return gradient; });
  // Three ops use y, and two of them save it.
  Tensor z = watch_gradients({y * x + exp(y) * tanh(y)}, pass)[0] * y, other = y * 3;
  CHECK(functions_of(z) == "w");  // The handle owns y too.
  y = Tensor();
  CHECK(functions_of(z) == "w");  // So does the other graph.
  other = Tensor();
  CHECK(functions_of(z) == "whw");
  std::vector<Tensor> parts = split(z, 1, 0);
  z = Tensor();
  CHECK(functions_of(parts[0]).empty());
  parts.pop_back();
  CHECK(functions_of(parts[0]) == "whw");
}

namespace {

// The functions and the shared parts below a part, with the owners of each part that the walk met.
class PartCounter : public PartVisitor {
 public:
  void hook(const GradientHook&) override { text += 'h'; }
  void leaf_hook(const std::function<void(const Tensor&)>&) override { text += 'l'; }
  void backward(const BackwardFunction&) override { text += 'b'; }
  void watch(const GradientsFunction&) override { text += 'w'; }
  void shared(const GraphPart& part, std::int64_t owners) override {
    names.insert("tpoc"[static_cast<int>(part.kind)] + std::to_string(owners));
    parts.push_back(part);
  }
  std::string text;
  std::set<std::string>
      names;  ///< A letter for the kind of each part (tensor, place, op, checkpoint), and the number of its owners.
  std::vector<GraphPart> parts;
};

PartCounter parts_of(const GraphPart& part, std::int64_t owners) {
  PartCounter counter;
  visit_part(part, owners, counter);
  for (const std::string& name : counter.names) counter.text += name;
  return counter;
}
PartCounter parts_of(const Tensor& tensor) { return parts_of({GraphPart::Kind::tensor, tensor.impl()}, 1); }

}  // namespace

TEST_CASE("gradients: visit_part tells which parts have further owners") {
  const auto pass = [](const auto& dx) { return dx; };
  const Tensor x = ones({2}).requires_grad_();
  x.register_hook([](const Tensor& gradient) { return gradient; });
  Tensor y = watch_gradients({x * x}, pass)[0];
  CHECK(parts_of(ones({2})).text.empty());
  const PartCounter below = parts_of(y);
  // The product has two edges to the place of x, and saved x twice.
  CHECK(below.text == "wp4");
  CHECK(parts_of(x).text == "p1");
  REQUIRE(below.parts.size() == 1);
  CHECK(parts_of(below.parts[0], below.parts[0].part.use_count()).text == "h");
  std::vector<Tensor> views = split(y, 1, 0);
  y = Tensor();
  CHECK(parts_of(views[0]).text == "o1t1");
  const Tensor second = views[1];
  CHECK(parts_of(second).text == "t1");
  CHECK(parts_of({GraphPart::Kind::tensor, second.impl()}, 2).text == "o1t1");
  views.clear();
  CHECK(parts_of(second).text == "wp4");
}

TEST_CASE("gradients: visit_functions finds what fused functions and epilogues save") {
  const auto pass = [](const auto& dx) { return dx; };
  const Tensor x = ones({2, 2}).requires_grad_(), weight = ones({2, 2}).requires_grad_();
  const auto gated = fuse([](Expr a, Expr b) { return a * tanh(b * a); });
  Tensor y = watch_gradients({x * 2}, pass)[0];
  const Tensor z = gated(y, y * 3);
  y = Tensor();
  CHECK(functions_of(z) == "w");
  y = watch_gradients({x * 3}, pass)[0];
  const Tensor b = linear(y, weight, Tensor(), relu_epilogue());
  y = Tensor();
  CHECK(functions_of(b) == "w");
}
