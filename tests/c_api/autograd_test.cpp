// The C interface: gradients of lists of tensors, hooks, and the search for anomalies.
#include "c_api/handle.h"

using namespace crisol::testing::c_api;

namespace {

crisol_operand operand(const Handle& x) {
  crisol_operand made{};
  made.tensor = x.get();
  return made;
}

void product(const Handle& a, const Handle& b, Handle& y) {
  const crisol_operand inputs[] = {operand(a), operand(b)};
  OK(crisol_pointwise("mul", 2, inputs, 0, nullptr, y.place()));
}

struct Calls {
  int hooks = 0, leaves = 0, released = 0;
  bool fails = false;
  float seen = 0;
};

void release(void* data) { ++static_cast<Calls*>(data)->released; }

int doubles(void* data, const crisol_tensor* gradient, crisol_tensor** replacement) {
  Calls& calls = *static_cast<Calls*>(data);
  ++calls.hooks;
  calls.seen = values_of(gradient)[0];
  crisol_operand inputs[2] = {};
  inputs[0].tensor = inputs[1].tensor = gradient;
  OK(crisol_pointwise("add", 2, inputs, 0, nullptr, replacement));
  return calls.fails ? 7 : 0;
}

int sees_leaf(void* data, const crisol_tensor* leaf) {
  Calls& calls = *static_cast<Calls*>(data);
  ++calls.leaves;
  Handle gradient;
  OK(crisol_grad(leaf, gradient.place()));
  calls.seen = values_of(gradient.get())[0];
  return calls.fails ? 8 : 0;
}

int squares(void* data, int count, const crisol_tensor* const* inputs, crisol_tensor** result) {
  Calls& calls = *static_cast<Calls*>(data);
  CHECK(count == 1);
  ++calls.hooks;
  crisol_operand input{};
  input.tensor = inputs[0];
  OK(crisol_pointwise("square", 1, &input, 0, nullptr, result));
  return calls.fails ? 5 : 0;
}

int fourth_power(void* data, int count, const crisol_tensor* const* inputs, crisol_tensor** result) {
  Handle square;
  const int failed = squares(data, count, inputs, square.place());
  const crisol_tensor* const between[] = {square.get()};
  return failed != 0 ? failed : squares(data, 1, between, result);
}

/// A gradient that differs from the derivative: three times the gradient of the result.
int triples(void* data, const crisol_tensor* gradient, int count, const crisol_tensor* const* inputs,
            const crisol_tensor* result, crisol_tensor** gradients) {
  Calls& calls = *static_cast<Calls*>(data);
  CHECK(count == 1);
  calls.seen = values_of(inputs[0])[0] + values_of(result)[0];
  crisol_operand factors[2] = {};
  factors[0].tensor = gradient;
  factors[1].number = 3;
  OK(crisol_pointwise("mul", 2, factors, 0, nullptr, &gradients[0]));
  return calls.fails ? 6 : 0;
}

}  // namespace

TEST_CASE("C: gradients of lists, and gradients of gradients") {
  Handle x({3}, {1}), unused({1}, {1}), square, cube, slope, curvature;
  OK(crisol_set_requires_grad(x.get(), 1));
  OK(crisol_set_requires_grad(unused.get(), 1));
  product(x, x, square);
  product(square, x, cube);
  const crisol_tensor* outputs[] = {cube.get()};
  const crisol_tensor* inputs[] = {x.get(), unused.get()};
  crisol_tensor* results[2] = {};
  refused(crisol_gradients(1, outputs, nullptr, 2, inputs, nullptr, results), CRISOL_INVALID_ARGUMENT,
          {"[grad]", "input 1"});
  crisol_grad_options options{};
  options.create_graph = options.allow_unused = 1;
  Handle weight({2}, {1});
  const crisol_tensor* weights[] = {weight.get()};
  OK(crisol_gradients(1, outputs, weights, 2, inputs, &options, results));
  *slope.place() = results[0];
  CHECK(results[1] == nullptr);
  CHECK(values_of(slope.get()) == Floats{54});  // 2 · 3 x²
  OK(crisol_backward_with(slope.get(), nullptr, nullptr));
  OK(crisol_grad(x.get(), curvature.place()));
  CHECK(values_of(curvature.get()) == Floats{36});  // 2 · 6 x
  refused(crisol_gradients(1, outputs, nullptr, 1, inputs, nullptr, nullptr), CRISOL_INVALID_ARGUMENT,
          {"[gradients]", "results is null"});
}

TEST_CASE("C: hooks see and replace gradients, and retain_grad keeps them") {
  Calls calls;
  {
    Handle x({3}, {1}), y, z, gradient;
    OK(crisol_set_requires_grad(x.get(), 1));
    crisol_hook *hook = nullptr, *on_leaf = nullptr;
    OK(crisol_register_post_accumulate_grad_hook(x.get(), sees_leaf, &calls, release, &on_leaf));
    product(x, x, y);
    OK(crisol_register_hook(y.get(), doubles, &calls, release, &hook));
    OK(crisol_retain_grad(y.get()));
    product(y, x, z);
    OK(crisol_backward(z.get(), nullptr, 1));
    CHECK(calls.hooks == 1);
    CHECK(calls.leaves == 1);
    CHECK(calls.seen == 45.0f);  // x² + 2 x · 2 x
    OK(crisol_grad(y.get(), gradient.place()));
    CHECK(values_of(gradient.get()) == Floats{6});
    calls.fails = true;
    refused(crisol_backward(z.get(), nullptr, 1), CRISOL_INVALID_ARGUMENT, {"[backward]", "a hook failed", "7"});
    OK(crisol_hook_remove(hook));
    CHECK(calls.released == 1);
    refused(crisol_backward(z.get(), nullptr, 1), CRISOL_INVALID_ARGUMENT, {"[backward]", "a hook failed", "8"});
    CHECK(calls.hooks == 2);
    crisol_hook_destroy(hook);
    crisol_hook_destroy(on_leaf);
    crisol_hook* none = nullptr;
    refused(crisol_register_hook(nullptr, doubles, &calls, release, &none), CRISOL_INVALID_ARGUMENT,
            {"[register_hook]", "x is null"});
    CHECK(calls.released == 2);
    refused(crisol_hook_remove(nullptr), CRISOL_INVALID_ARGUMENT, {"[hook_remove]", "hook is null"});
  }
  CHECK(calls.released == 3);
}

TEST_CASE("C: a function of the caller has its own gradient") {
  Calls calls;
  {
    Handle x({3}, {1}), y, gradient;
    OK(crisol_set_requires_grad(x.get(), 1));
    const crisol_tensor* inputs[] = {x.get()};
    OK(crisol_custom_function("mine", 1, inputs, squares, triples, &calls, release, y.place()));
    CHECK(values_of(y.get()) == Floats{9});
    CHECK(calls.released == 0);
    OK(crisol_backward(y.get(), nullptr, 1));
    CHECK(calls.seen == 12.0f);
    OK(crisol_grad(x.get(), gradient.place()));
    CHECK(values_of(gradient.get()) == Floats{3});
    calls.fails = true;
    refused(crisol_backward(y.get(), nullptr, 1), CRISOL_INVALID_ARGUMENT, {"[mine]", "backward", "result 6"});
    refused(crisol_custom_function("mine", 1, inputs, squares, triples, &calls, release, gradient.place()),
            CRISOL_INVALID_ARGUMENT, {"[mine]", "result 5"});
    refused(crisol_custom_function("mine", 1, inputs, squares, nullptr, &calls, release, gradient.place()),
            CRISOL_INVALID_ARGUMENT, {"backward is null"});
    CHECK(calls.released == 2);
  }
  CHECK(calls.released == 3);
}

TEST_CASE("C: a function runs again in backward") {
  Calls calls;
  {
    Handle x({3}, {1}), y, gradient, none;
    OK(crisol_set_requires_grad(x.get(), 1));
    const crisol_tensor* inputs[] = {x.get()};
    OK(crisol_recompute(1, inputs, fourth_power, &calls, release, y.place()));
    CHECK(values_of(y.get()) == Floats{81});
    CHECK(calls.hooks == 2);
    OK(crisol_backward(y.get(), nullptr, 0));
    CHECK(calls.hooks == 4);  // Backward needs the square, which was not kept.
    OK(crisol_grad(x.get(), gradient.place()));
    CHECK(values_of(gradient.get()) == Floats{108});
    calls.released = 0;
    refused(crisol_recompute(1, inputs, nullptr, &calls, release, none.place()), CRISOL_INVALID_ARGUMENT,
            {"function is null"});
    CHECK(calls.released == 1);
    calls.fails = true;
    refused(crisol_recompute(1, inputs, fourth_power, &calls, release, none.place()), CRISOL_INVALID_ARGUMENT,
            {"[recompute]", "result 5"});
    CHECK(calls.released == 2);
  }
}

TEST_CASE("C: anomalies are named") {
  Handle x({-1}, {1}), y;
  const crisol_operand input = operand(x);
  crisol_set_detect_anomaly(1);
  refused(crisol_pointwise("log", 1, &input, 0, nullptr, y.place()), CRISOL_INVALID_ARGUMENT,
          {"[log]", "NaN or infinity"});
  crisol_set_detect_anomaly(0);
  OK(crisol_pointwise("log", 1, &input, 0, nullptr, y.place()));
}
