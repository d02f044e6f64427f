// The C interface: models and optimizers.
#include <cmath>
#include <limits>
#include <string>

#include "c_api/handle.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing::c_api;

TEST_CASE("C: a model trains, is saved and loaded") {
  if (testing::slow_device()) CRISOL_SKIP("a training takes too long here");
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/model.safetensors";
  OK(crisol_manual_seed(2));
  crisol_model *model = nullptr, *other = nullptr;
  OK(crisol_model_create("row_lstm", 3, here, &model));
  OK(crisol_model_create("row_lstm", 3, here, &other));
  std::int32_t count = 0;
  OK(crisol_model_parameter_count(model, &count));
  CHECK(count == 6);
  std::vector<crisol_tensor*> parameters;
  for (std::int32_t i = 0; i < count; ++i) {
    crisol_tensor* parameter = nullptr;
    const char* name = nullptr;
    OK(crisol_model_parameter(model, i, &name, &parameter));
    CHECK(std::string(name).find('.') != std::string::npos);
    parameters.push_back(parameter);
  }
  refused(crisol_model_parameter(model, count, nullptr, nullptr), CRISOL_INVALID_ARGUMENT, {"parameter 6 of 6"});
  crisol_optimizer* adam = nullptr;
  OK(crisol_adam(count, parameters.data(), 0.01, 0.9, 0.999, 1e-8, 0, &adam));
  Handle x(Floats(2 * 28 * 28, 0.5f), {2, 1, 28, 28}), labels(Longs{2, 2}), logits, loss, norm, gradient;
  double first = 0, last = 0;
  for (int step = 0; step < 5; ++step) {
    OK(crisol_model_forward(model, x.get(), logits.place()));
    OK(crisol_cross_entropy(logits.get(), labels.get(), CRISOL_MEAN, 0, -100, loss.place()));
    OK(crisol_optimizer_zero_grad(adam));
    OK(crisol_backward(loss.get(), nullptr, 0));
    OK(crisol_clip_grad_norm(count, parameters.data(), 1, norm.place()));
    OK(crisol_optimizer_step(adam));
    OK(crisol_tensor_item(loss.get(), step == 0 ? &first : &last));
  }
  CHECK(last < first);
  OK(crisol_optimizer_zero_grad_in_place(adam));
  OK(crisol_grad(parameters.back(), gradient.place()));
  CHECK(values_of(gradient.get()) == Floats(3, 0));
  OK(crisol_optimizer_set_lr(adam, 0.001));
  refused(crisol_optimizer_set_lr(adam, -1), CRISOL_INVALID_ARGUMENT, {"-1"});
  OK(crisol_model_save(model, file.c_str()));
  OK(crisol_model_load(other, file.c_str()));
  OK(crisol_model_train(model, 0));
  OK(crisol_model_train(other, 0));
  OK(crisol_model_forward(model, x.get(), logits.place()));
  const Floats expected = values_of(logits.get());
  OK(crisol_model_forward(other, x.get(), logits.place()));
  CHECK(values_of(logits.get()) == expected);
  OK(crisol_load_tensor(file.c_str(), "fc.bias", here, x.place()));
  CHECK(sizes_of(x.get()) == Longs{3});
  refused(crisol_load_tensor(file.c_str(), "nonsense", here, x.place()), CRISOL_INVALID_ARGUMENT, {"'nonsense'"});
  crisol_optimizer_destroy(adam);
  for (crisol_tensor* parameter : parameters) crisol_tensor_destroy(parameter);
  crisol_model_destroy(model);
  crisol_model_destroy(other);
}

TEST_CASE("C: a compiled model shares the parameters of its model") {
  crisol_model *model = nullptr, *compiled = nullptr, *copy = nullptr;
  OK(crisol_model_create("simple_cnn", 3, here, &model));
  OK(crisol_model_train(model, 0));
  const Handle x(Floats(28 * 28, 0.5f), {1, 1, 28, 28}), two(Floats(2 * 28 * 28, 0.25f), {2, 1, 28, 28});
  OK(crisol_model_compile(model, x.get(), &compiled));
  crisol_set_grad_enabled(0);
  const auto check = [&](const Handle& input) {
    Handle y, expected;
    OK(crisol_model_forward(compiled, input.get(), y.place()));
    OK(crisol_model_forward(model, input.get(), expected.place()));
    const Floats found = values_of(y.get()), wanted = values_of(expected.get());
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - wanted[i]) < 1e-4f);
    return wanted;
  };
  const Floats before = check(x);
  check(two);
  refused(crisol_model_clone(compiled, &copy), CRISOL_INVALID_ARGUMENT, {"a compiled model has no copy"});
  refused(crisol_model_compile(model, nullptr, &copy), CRISOL_INVALID_ARGUMENT, {"example is null"});
  crisol_model_destroy(model);
  Handle y;
  OK(crisol_model_forward(compiled, x.get(), y.place()));
  CHECK(values_of(y.get()).size() == before.size());
  crisol_set_grad_enabled(1);
  crisol_model_destroy(compiled);
}

TEST_CASE("C: a model is cloned, printed and loaded in part") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/other.safetensors";
  crisol_model *model = nullptr, *copy = nullptr;
  OK(crisol_model_create("row_lstm", 3, here, &model));
  OK(crisol_model_clone(model, &copy));
  Handle x(Floats(28 * 28, 0.5f), {1, 1, 28, 28}), logits, bias;
  OK(crisol_model_forward(model, x.get(), logits.place()));
  const Floats expected = values_of(logits.get());
  OK(crisol_model_forward(copy, x.get(), logits.place()));
  CHECK(values_of(logits.get()) == expected);
  OK(crisol_model_parameter(copy, 5, nullptr, bias.place()));
  Handle ones({1, 1, 1}, {3});
  const char* name = "fc.bias";
  const crisol_tensor* value = ones.get();
  OK(crisol_save_tensors(file.c_str(), 1, &name, &value));
  std::int32_t missing = 0, unexpected = -1;
  OK(crisol_model_load_partial(copy, file.c_str(), &missing, &unexpected));
  CHECK(missing == 5);
  CHECK(unexpected == 0);
  CHECK(values_of(bias.get()) == Floats{1, 1, 1});
  OK(crisol_model_forward(model, x.get(), logits.place()));
  CHECK(values_of(logits.get()) == expected);
  const char* text = nullptr;
  OK(crisol_model_text(model, &text));
  CHECK(std::string(text).find("(fc): Linear(in_features=128, out_features=3, bias=true)") != std::string::npos);
  refused(crisol_model_clone(nullptr, &copy), CRISOL_INVALID_ARGUMENT, {"model is null"});
  crisol_model_destroy(model);
  crisol_model_destroy(copy);
}

TEST_CASE("C: the other optimizers take a step as theirs") {
  const auto step_of = [](const auto& make) {
    Handle p({1, 2}, {2}), loss;
    OK(crisol_set_requires_grad(p.get(), 1));
    crisol_optimizer* optimizer = nullptr;
    crisol_tensor* list[] = {p.get()};
    OK(make(list, &optimizer));
    OK(crisol_reduce("sum", p.get(), 0, nullptr, 0, 0, loss.place()));
    OK(crisol_backward(loss.get(), nullptr, 0));
    OK(crisol_optimizer_step(optimizer));
    crisol_optimizer_destroy(optimizer);
    return values_of(p.get())[0];
  };
  CHECK(step_of([](auto* p, auto* o) { return crisol_sgd(1, p, 0.5, 0, 0, 0, o); }) == 0.5f);
  CHECK(step_of([](auto* p, auto* o) { return crisol_adamw(1, p, 0.5, 0.9, 0.999, 1e-8, 0, o); }) ==
        doctest::Approx(0.5));
  CHECK(step_of([](auto* p, auto* o) { return crisol_rmsprop(1, p, 0.5, 0.75, 1e-8, 0, 0, 0, o); }) ==
        doctest::Approx(0));
}

namespace {

struct Trained {
  Handle p{{1, 2}, {2}}, q{{1, 2}, {2}}, loss, product;
  void give_gradients() {
    const crisol_operand inputs[] = {{p.get(), 0}, {q.get(), 0}};
    OK(crisol_pointwise("mul", 2, inputs, 0, nullptr, product.place()));
    OK(crisol_reduce("sum", product.get(), 0, nullptr, 0, 0, loss.place()));
    OK(crisol_backward(loss.get(), nullptr, 0));
  }
};

}  // namespace

TEST_CASE("C: groups of parameters have settings by name") {
  Trained t;
  OK(crisol_set_requires_grad(t.p.get(), 1));
  OK(crisol_set_requires_grad(t.q.get(), 1));
  const crisol_tensor *first[] = {t.p.get()}, *second[] = {t.q.get()};
  crisol_optimizer* optimizer = nullptr;
  const crisol_setting settings[] = {{"lr", 0.5}, {"momentum", 0.25}};
  OK(crisol_optimizer_create("sgd", 1, first, 2, settings, &optimizer));
  const crisol_setting maximize[] = {{"maximize", 1}};
  OK(crisol_optimizer_add_param_group(optimizer, 1, second, 1, maximize));
  std::int32_t groups = 0;
  OK(crisol_optimizer_group_count(optimizer, &groups));
  CHECK(groups == 2);
  double value = 0;
  OK(crisol_optimizer_get(optimizer, 1, "momentum", &value));
  CHECK(value == 0.25);
  OK(crisol_optimizer_get(optimizer, 1, "maximize", &value));
  CHECK(value == 1);
  const crisol_setting slower[] = {{"lr", 0.25}};
  OK(crisol_optimizer_set(optimizer, 1, 1, slower));
  t.give_gradients();
  OK(crisol_clip_grad_value(1, first, 0.5));
  OK(crisol_optimizer_step(optimizer));
  CHECK(values_of(t.p.get()) == Floats{0.75f, 1.75f});
  CHECK(values_of(t.q.get()) == Floats{1.25f, 2.5f});

  const crisol_setting unknown[] = {{"nonsense", 1}}, of_adam[] = {{"beta1", 0.5}};
  crisol_optimizer* none = nullptr;
  refused(crisol_optimizer_create("sgdd", 1, first, 0, nullptr, &none), CRISOL_INVALID_ARGUMENT, {"'sgdd'", "lion"});
  refused(crisol_optimizer_create("sgd", 1, first, 1, unknown, &none), CRISOL_INVALID_ARGUMENT, {"'nonsense'"});
  refused(crisol_optimizer_set(optimizer, 2, 1, slower), CRISOL_INVALID_ARGUMENT, {"group 2 of 2"});
  refused(crisol_optimizer_set(optimizer, 0, 1, of_adam), CRISOL_INVALID_ARGUMENT, {"no setting beta1"});
  refused(crisol_optimizer_get(optimizer, 0, "beta1", &value), CRISOL_INVALID_ARGUMENT, {"'beta1'"});
  CHECK(none == nullptr);
  crisol_optimizer_destroy(optimizer);
}

TEST_CASE("C: schedules set rates") {
  Handle p({1, 2}, {2});
  const crisol_tensor* list[] = {p.get()};
  crisol_optimizer* sgd = nullptr;
  OK(crisol_sgd(1, list, 1, 0, 0, 0, &sgd));
  // Returns the rates at step 0 and after two steps, from the rate 1.
  const auto rates = [&](const auto& make) {
    crisol_schedule* schedule = nullptr;
    std::vector<double> all(2);
    OK(crisol_optimizer_set_lr(sgd, 1));
    OK(make(&schedule));
    OK(crisol_schedule_last_lr(schedule, 0, &all[0]));
    OK(crisol_schedule_step(schedule));
    OK(crisol_schedule_step(schedule));
    OK(crisol_schedule_last_lr(schedule, 0, &all[1]));
    refused(crisol_schedule_step_metric(schedule, 1), CRISOL_INVALID_ARGUMENT, {"takes no metric"});
    refused(crisol_schedule_last_lr(schedule, 1, &all[0]), CRISOL_INVALID_ARGUMENT, {"group 1 of 1"});
    crisol_schedule_destroy(schedule);
    return all;
  };
  using Rates = std::vector<double>;
  const std::int64_t milestones[] = {1, 2};
  const auto power = [](std::int64_t steps, void* base) {
    double result = 1;
    for (std::int64_t i = 0; i < steps; ++i) result *= *static_cast<double*>(base);
    return result;
  };
  double base = 0.5;
  CHECK(rates([&](auto* s) { return crisol_lambda_lr(sgd, power, &base, s); }) == Rates{1, 0.25});
  CHECK(rates([&](auto* s) { return crisol_step_lr(sgd, 2, 0.5, s); }) == Rates{1, 0.5});
  CHECK(rates([&](auto* s) { return crisol_multi_step_lr(sgd, 2, milestones, 0.5, s); }) == Rates{1, 0.25});
  CHECK(rates([&](auto* s) { return crisol_exponential_lr(sgd, 0.5, s); }) == Rates{1, 0.25});
  CHECK(rates([&](auto* s) { return crisol_constant_lr(sgd, 0.5, 2, s); }) == Rates{0.5, 1});
  CHECK(rates([&](auto* s) { return crisol_linear_lr(sgd, 0.5, 1, 4, s); }) == Rates{0.5, 0.75});
  CHECK(rates([&](auto* s) { return crisol_cosine_annealing_lr(sgd, 2, 0.25, s); }) == Rates{1, 0.25});
  CHECK(rates([&](auto* s) { return crisol_cosine_annealing_warm_restarts(sgd, 2, 1, 0, s); }) == Rates{1, 1});
  crisol_schedule *parts[2] = {nullptr, nullptr}, *plateau = nullptr;
  OK(crisol_constant_lr(sgd, 0.5, 2, &parts[0]));
  OK(crisol_exponential_lr(sgd, 0.5, &parts[1]));
  CHECK(rates([&](auto* s) { return crisol_sequential_lr(sgd, 2, parts, milestones, s); }) == Rates{0.5, 0.5});
  // It sets the base rate too, so it comes last.
  CHECK(rates([&](auto* s) { return crisol_one_cycle_lr(sgd, 2, 3, 1, 0, s); })[1] == doctest::Approx(2));
  OK(crisol_optimizer_set_lr(sgd, 1));
  OK(crisol_reduce_lr_on_plateau(sgd, 0, 0.5, 0, 0, 1, 0, 0, &plateau));
  OK(crisol_schedule_step_metric(plateau, 3));
  OK(crisol_schedule_step_metric(plateau, 3));
  double rate = 0;
  OK(crisol_schedule_last_lr(plateau, 0, &rate));
  CHECK(rate == 0.5);
  refused(crisol_schedule_step(plateau), CRISOL_INVALID_ARGUMENT, {"takes a metric"});
  refused(crisol_step_lr(sgd, 0, 0.5, &parts[0]), CRISOL_INVALID_ARGUMENT, {"step_size 0"});
  refused(crisol_step_lr(nullptr, 1, 0.5, &parts[0]), CRISOL_INVALID_ARGUMENT, {"optimizer is null"});
  crisol_schedule_destroy(plateau);
  crisol_schedule_destroy(parts[0]);
  crisol_schedule_destroy(parts[1]);
  crisol_optimizer_destroy(sgd);
}

TEST_CASE("C: a step in mixed precision, whose overflow is skipped") {
  Handle p({1, 2}, {2}), x({3, 4}, {2}), infinite({std::numeric_limits<float>::infinity(), 1}, {2});
  OK(crisol_set_requires_grad(p.get(), 1));
  const crisol_tensor* list[] = {p.get()};
  crisol_optimizer* sgd = nullptr;
  OK(crisol_optimizer_create("sgd", 1, list, 0, nullptr, &sgd));
  OK(crisol_optimizer_set_lr(sgd, 0.5));
  crisol_grad_scaler* scaler = nullptr;
  crisol_device device = -1;
  OK(crisol_default_device(&device));
  OK(crisol_grad_scaler_create(device, 8, 2, 0.5, 1, &scaler));
  for (const Handle* factor : {&x, &infinite}) {
    int before = 2;
    OK(crisol_set_autocast(1, CRISOL_F16, &before));
    CHECK(before == 0);
    Handle loss, scaled;
    OK(crisol_matmul(p.get(), factor->get(), loss.place()));
    OK(crisol_set_autocast(0, CRISOL_F16, &before));
    CHECK(before == 1);
    OK(crisol_grad_scaler_scale(scaler, loss.get(), scaled.place()));
    OK(crisol_optimizer_zero_grad(sgd));
    OK(crisol_backward(scaled.get(), nullptr, 0));
    OK(crisol_grad_scaler_unscale(scaler, sgd));
    OK(crisol_grad_scaler_step(scaler, sgd));
    OK(crisol_grad_scaler_update(scaler));
    CHECK(values_of(p.get()) == Floats{-0.5f, 0});
  }
  double scale = 0;
  OK(crisol_grad_scaler_get_scale(scaler, &scale));
  CHECK(scale == 8);  // It grew once, and shrank once.
  crisol_named_tensors* state = nullptr;
  OK(crisol_grad_scaler_state_dict(scaler, &state));
  OK(crisol_grad_scaler_load_state_dict(scaler, state));
  crisol_named_tensors_destroy(state);
  refused(crisol_grad_scaler_update(scaler), CRISOL_INVALID_ARGUMENT, {"unscaled"});
  refused(crisol_set_autocast(1, CRISOL_F32, nullptr), CRISOL_INVALID_ARGUMENT, {"f32"});
  crisol_grad_scaler_destroy(scaler);
  crisol_optimizer_destroy(sgd);
}

TEST_CASE("C: an average of parameters is applied and taken back") {
  Handle p({1, 2}, {2}), other({3, 6}, {2});
  const crisol_tensor* list[] = {p.get()};
  crisol_ema* ema = nullptr;
  OK(crisol_ema_create(1, list, 0.75, &ema));
  OK(crisol_ema_update(ema));
  OK(crisol_tensor_copy(p.get(), other.get()));
  OK(crisol_ema_update(ema));
  OK(crisol_ema_apply(ema));
  CHECK(values_of(p.get()) == Floats{1.5f, 3});
  refused(crisol_ema_update(ema), CRISOL_INVALID_ARGUMENT, {"restore() first"});
  OK(crisol_ema_restore(ema));
  CHECK(values_of(p.get()) == Floats{3, 6});
  crisol_ema_destroy(ema);
}
