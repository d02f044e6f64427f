// Ops in place while ops are recorded: each write of the interface, on whole tensors and on views.
#include "crisol/autograd.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/reduce.h"
#include "crisol/host_access.h"
#include "crisol/nn/linear.h"
#include "crisol/opencl_interop.h"
#include "crisol/random.h"
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

struct Write {
  const char* name;
  /// Writes to x (2, 3), with w (2, 3).
  std::function<void(Tensor& x, const Tensor& w)> to;
  bool reads_w = true;
};

std::vector<Write> writes() {
  const auto positions = [] { return from_vector(std::vector<std::int64_t>{1, 0}); };
  const auto mask = [] { return from_vector(std::vector<bool>{true, false, false, false, true, true}, {2, 3}); };
  return {
      {"fill_", [](Tensor& x, const Tensor&) { x.fill_(2); }, false},
      {"zero_", [](Tensor& x, const Tensor&) { x.zero_(); }, false},
      {"copy_from", [](Tensor& x, const Tensor& w) { x.copy_from(w); }},
      {"copy_from broadcasts", [](Tensor& x, const Tensor& w) { x.copy_from(w[0]); }},
      {"copy_from values",
       [](Tensor& x, const Tensor&) {
         x.copy_from(Values{1, 2, 3, 4, 5, 6});
       },
       false},
      {"+=", [](Tensor& x, const Tensor& w) { x += w; }},
      {"-=", [](Tensor& x, const Tensor& w) { x -= w[1]; }},
      {"*=", [](Tensor& x, const Tensor& w) { x *= w; }},
      {"*= itself", [](Tensor& x, const Tensor&) { x *= x; }, false},
      {"/=", [](Tensor& x, const Tensor& w) { x /= w; }},
      {"x[i] = w", [](Tensor& x, const Tensor& w) { x[0] = w[1] * 2; }},
      {"x[i] = number", [](Tensor& x, const Tensor&) { x[1] = 3; }, false},
      {"x[slice] = w",
       [](Tensor& x, const Tensor& w) {
         x[{Ellipsis, Slice(0, 2)}] = w[{Ellipsis, Slice(1, 3)}];
       }},
      {"x[backwards] = w",
       [](Tensor& x, const Tensor& w) {
         x[{Ellipsis, Slice({}, {}, -1)}] = w;
       }},
      {"x[backwards] = number",
       [](Tensor& x, const Tensor&) {
         x[{Ellipsis, Slice({}, 0, -1)}] = 4;
       },
       false},
      {"x[positions] = w", [=](Tensor& x, const Tensor& w) { x[positions()] = w; }},
      {"x[mask] = number", [=](Tensor& x, const Tensor&) { x[mask()] = -1; }, false},
      {"x[mask] = w", [=](Tensor& x, const Tensor& w) { x[mask()] = w[0]; }},
      {"index_put_", [=](Tensor& x, const Tensor& w) { x.index_put_({positions()}, w); }},
      {"index_put_ accumulates", [=](Tensor& x, const Tensor& w) { x.index_put_({positions()}, w, true); }},
      {"a part of a part",
       [](Tensor& x, const Tensor& w) {
         x[0][Slice(1, 3)].mul_(w[{1, Slice(0, 2)}]);
       }},
      {"one after the other",
       [](Tensor& x, const Tensor& w) {
         x.mul_(w);
         x[0].add_(w[1]);
         x.square_();
         x[1] = x[0] + w[0];
       }},
  };
}

Tensor leaf(const Values& values) { return from_vector(values).requires_grad_(); }

}  // namespace

TEST_CASE("writes in place are recorded, on whole tensors and on views") {
  const Tensor a = random_tensor(1, {2, 3}, 0.5, 1.5), w = random_tensor(2, {2, 3}, 0.5, 1.5);
  const Tensor larger = random_tensor(3, {3, 4, 2}, 0.5, 1.5);
  const GradcheckOptions options{.elements = 3};
  for (const Write& write : writes()) {
    CAPTURE(write.name);
    check_gradients(
        [&](const Inputs& in) {
          Tensor x = in[0] * 2;
          write.to(x, in[1]);
          return x * 3 + in[1];
        },
        {a, w}, options);
    check_gradients(
        [&](const Inputs& in) {
          const Tensor whole = in[0] * 2;
          const Tensor before = whole[{1, Slice(0, 2)}];  // A view that overlaps the part.
          Tensor part = whole[{Slice(1, 3), Slice(0, 3), 1}];
          write.to(part, in[1]);
          return sum(whole * whole) + sum(part) + sum(before * 3) + sum(in[1]);
        },
        {larger, w}, options);
  }
}

TEST_CASE("values that want a gradient can be written to a tensor that wanted none") {
  const Tensor w = leaf({1, 1, 1});
  const Tensor rows = zeros({2, 3});
  for (int i = 0; i < 2; ++i) rows[i].copy_from(w * (i + 1));
  (sum(rows * rows) + 0 * sum(w)).backward();
  CHECK(w.grad().to_vector<float>() == Values{10, 10, 10});

  for (const Write& write : writes()) {
    CAPTURE(write.name);
    const Tensor wanted = ones({2, 3}).requires_grad_();
    Tensor x = ones({2, 3}), whole = ones({4, 3}), part = whole[Slice(1, 3)];
    write.to(x, wanted * 1);
    write.to(part, wanted * 1);
    CHECK(x.requires_grad() == write.reads_w);
    CHECK(whole.requires_grad() == write.reads_w);
    CHECK(part.requires_grad() == write.reads_w);
  }
}

TEST_CASE("every pointwise function in place has the gradient of the function" * doctest::test_suite("long")) {
  for (std::size_t r = 0; r < table_rows().size(); ++r) {
    const auto& [row, reference] = table_rows()[r];
    const PointwiseCalls& calls = pointwise_calls()[r];
    if (!calls.in_place || row->is_predicate() || row->is_condition(0)) continue;
    CAPTURE(row->name);
    Inputs inputs;
    for (std::size_t i = 0; i < row->input_count; ++i) {
      if (row->is_condition(i))
        inputs.push_back(tensor_of({1, 0, 0, 1, 1, 0}, {2, 3}, DType::boolean));
      else
        inputs.push_back(random_tensor(static_cast<unsigned>(i) + 1, {2, 3}, reference->low, reference->high));
    }
    if (!is_floating(calls.raw(inputs, reference->scalars).dtype())) continue;
    const auto gradients = [&](bool in_place) {
      Inputs leaves, own;
      for (const Tensor& x : inputs) {
        leaves.push_back(x.clone());
        if (is_floating(x.dtype())) leaves.back().requires_grad_();
        own.push_back(is_floating(x.dtype()) ? leaves.back() * 1 : x);
      }
      Tensor y = in_place ? own[0] : calls.differentiable(own, reference->scalars);
      if (in_place) calls.in_place(own, reference->scalars);
      std::vector<std::vector<float>> all{y.to_vector<float>()};
      sum(y * 2).backward();
      for (const Tensor& x : leaves) all.push_back(x.grad().defined() ? x.grad().to_vector<float>() : Values());
      return all;
    };
    const auto wanted = gradients(false), found = gradients(true);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      check_close(from_vector(found[i]), std::vector<double>(wanted[i].begin(), wanted[i].end()), {1e-6});
  }
}

TEST_CASE("views follow a write to the tensor, and other tensors do not") {
  const Tensor w = leaf({2, 3});
  Tensor x = ones({2, 2});
  const Tensor row = x[1], column = x.t()[0], repeated = x[0].expand({3, 2}), detached = x.detach();
  x.mul_(w);
  CHECK(row.requires_grad());
  CHECK_FALSE(detached.requires_grad());
  CHECK(repeated.to_vector<float>() == Values{2, 3, 2, 3, 2, 3});
  CHECK(grad({sum(row)}, {w}, {.retain_graph = true})[0].to_vector<float>() == Values{1, 1});
  CHECK(grad({sum(column)}, {w}, {.retain_graph = true})[0].to_vector<float>() == Values{2, 0});
  CHECK(grad({sum(repeated)}, {w}, {.retain_graph = true})[0].to_vector<float>() == Values{3, 3});
  // A write to a view of a detached tensor stays outside the graph.
  detached[0].fill_(5);
  CHECK(x.to_vector<float>() == Values{5, 5, 2, 3});
  CHECK(x.requires_grad());
}

TEST_CASE("a write to the transposed tensor") {
  check_gradients(
      [](const Inputs& in) {
        const Tensor x = in[0] * 2, turned = x.t();
        turned[1].mul_(in[1]);
        return x * x;
      },
      {random_tensor(1, {3, 2}), random_tensor(2, {3})});
}

TEST_CASE("gradients of gradients through writes") {
  check_gradients_of_gradients(
      [](const Inputs& in) {
        Tensor x = in[0] * in[0];
        x[0].mul_(in[1]);
        x.add_(in[1]);
        x[1] = in[1] * in[1];
        return x * x[1];
      },
      {random_tensor(1, {2, 3}, 0.5, 1.5), random_tensor(2, {3}, 0.5, 1.5)});
}

TEST_CASE("elements that backward needs are not overwritten without an error") {
  const Tensor w = leaf({1, 2});
  Tensor y = exp(w);
  y.add_(1);  // The gradient of exp needs its result.
  check_error([&] { sum(y).backward(); }, {"[backward]", "changed in place"});
  Tensor factor = w * 1;
  const Tensor product = factor * factor;
  factor[0] = 5;
  check_error([&] { sum(product).backward(); }, {"[backward]", "changed in place"});
  // The write itself keeps what it needs.
  Tensor x = w * 3;
  x.mul_(x);
  x.exp_();
  x.mul_(w);
  sum(x).backward();
  CHECK(w.grad().defined());
}

TEST_CASE("a checkpoint refuses elements that were overwritten after they were kept") {
  const Tensor w = leaf({1, 2});
  const auto f = [](const std::vector<Tensor>& in) {
    Tensor x = in[0] * 2;
    Tensor y = x * in[0];
    x.add_(1);
    return sum(y) + sum(x);
  };
  const Tensor y = checkpoint(ForwardFunction(f), {w});
  check_error([&] { y.backward(); }, {"[backward]", "changed in place"});
  const Tensor z = checkpoint(ForwardFunction([](const std::vector<Tensor>& in) {
                                Tensor x = in[0] * 2;
                                x.mul_(in[0]);
                                return sum(x);
                              }),
                              {w});
  z.backward();
  CHECK(w.grad().to_vector<float>() == Values{4, 8});
}

TEST_CASE("leaves that want a gradient, and their views, are not written while ops are recorded") {
  for (const Write& write : writes()) {
    CAPTURE(write.name);
    Tensor p = ones({2, 3}).requires_grad_(), whole = ones({4, 3}).requires_grad_(), part = whole[Slice(1, 3)];
    check_error([&] { write.to(p, ones({2, 3})); }, {"leaf that wants a gradient", "NoGrad"});
    check_error([&] { write.to(part, ones({2, 3})); }, {"leaf that wants a gradient", "NoGrad"});
    CHECK(p.to_vector<float>() == Values(6, 1));
    const NoGrad no_grad;
    write.to(p, ones({2, 3}));
  }
  Tensor view;
  const Tensor w = leaf({1, 2, 3});
  Tensor x = zeros({2, 3});
  {
    const NoGrad no_grad;
    view = x[0];
  }
  check_error([&] { view.copy_from(w); }, {"[copy_from]", "made under crisol::NoGrad"});
}

TEST_CASE("one of several views from one function is not written while ops are recorded") {
  const Tensor leaf = randn({4, 3}).requires_grad_();
  Tensor x = leaf * 2;
  std::vector<Tensor> parts = x.split(2, 0);
  check_error([&] { parts[0].mul_(2); }, {"[mul_]", "among several", "clone()"});
  Tensor row = parts[1].select(0, 0);
  check_error([&] { row.fill_(1); }, {"[fill_]", "among several"});
  x.narrow(0, 0, 2).mul_(2);  // A single view may be written.
  {
    const NoGrad no_grad;
    parts[0].mul_(1);
  }
  std::vector<Tensor> plain = zeros({4}).split(2, 0);
  plain[0].fill_(3);
  CHECK(plain[0].to_vector<float>() == std::vector<float>{3, 3});
}

TEST_CASE("writes that are not recorded refuse tensors of the graph, and views of them") {
  const Tensor w = ones({4}).requires_grad_();
  Tensor x = w * 1, part = x[Slice(0, 2)];
  for (Tensor* target : {&x, &part}) {
    check_error([&] { uniform_(*target); }, {"wants a gradient", "NoGrad"});
    check_error([&] { normal_(*target); }, {"wants a gradient", "NoGrad"});
    check_error([&] { opencl_buffer_for_writing(*target); }, {"wants a gradient", "NoGrad"});
    check_error(
        [&] {
          HostAccess access(*target);
          access.begin(true);
          access.wait();
          access.end(true);
        },
        {"wants a gradient", "NoGrad"});
  }
}

TEST_CASE("retain_grad and hooks after a write") {
  const Tensor w = leaf({1, 2});
  Tensor x = w * 2;
  x.retain_grad();
  x.mul_(3);
  sum(x * x).backward();
  CHECK(x.grad().to_vector<float>() == Values{12, 24});
  CHECK(w.grad().to_vector<float>() == Values{72, 144});
}

TEST_CASE("a residual sum and a total in place") {
  const Tensor w = leaf({1, 2});
  Tensor total = zeros({});
  for (int i = 0; i < 3; ++i) total += sum(w * static_cast<float>(i));
  total.backward();
  CHECK(w.grad().to_vector<float>() == Values{3, 3});
}
