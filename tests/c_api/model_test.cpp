// The C interface: models and optimizers.
#include <string>

#include "c_api/handle.h"
#include "support/skip.h"
#include "support/subprocess.h"

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
  CHECK(std::string(text).find("(fc): Linear(in_features=128, out_features=3, bias=true), 387 parameters") !=
        std::string::npos);
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
