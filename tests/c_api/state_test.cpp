// The C interface: tensors by name, states of optimizers, schedules and averages, and files of them.
#include <cstring>
#include <fstream>
#include <string>

#include "c_api/handle.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing::c_api;

namespace {

/// A list that releases itself.
class State {
 public:
  ~State() { crisol_named_tensors_destroy(list_); }
  crisol_named_tensors* get() const noexcept { return list_; }
  crisol_named_tensors** place() noexcept {
    crisol_named_tensors_destroy(list_);
    list_ = nullptr;
    return &list_;
  }
  Floats values(const char* name) const {
    Handle x;
    OK(crisol_named_tensors_get(list_, name, x.place()));
    return values_of(x.get());
  }

 private:
  crisol_named_tensors* list_ = nullptr;
};

/// A parameter that Adam pulls to 0, with a schedule and an average.
struct Training {
  Handle p{{1, 2}, {2}}, square, loss;
  crisol_optimizer* adam = nullptr;
  crisol_schedule* schedule = nullptr;
  crisol_ema* ema = nullptr;

  Training() {
    OK(crisol_set_requires_grad(p.get(), 1));
    const crisol_tensor* list[] = {p.get()};
    OK(crisol_adam(1, list, 0.1, 0.9, 0.999, 1e-8, 0, &adam));
    OK(crisol_exponential_lr(adam, 0.5, &schedule));
    OK(crisol_ema_create(1, list, 0.75, &ema));
  }
  ~Training() {
    crisol_ema_destroy(ema);
    crisol_schedule_destroy(schedule);
    crisol_optimizer_destroy(adam);
  }
  void step() {
    const crisol_operand input{p.get(), 0};
    OK(crisol_pointwise("square", 1, &input, 0, nullptr, square.place()));
    OK(crisol_reduce("sum", square.get(), 0, nullptr, 0, 0, loss.place()));
    OK(crisol_optimizer_zero_grad(adam));
    OK(crisol_backward(loss.get(), nullptr, 0));
    OK(crisol_optimizer_step(adam));
    OK(crisol_schedule_step(schedule));
    OK(crisol_ema_update(ema));
  }
};

}  // namespace

TEST_CASE("C: tensors by name") {
  State state;
  OK(crisol_named_tensors_create(state.place()));
  Handle x({1, 2, 3}, {3}), found;
  OK(crisol_named_tensors_add(state.get(), "b", x.get()));
  OK(crisol_named_tensors_add(state.get(), "a", x.get()));
  refused(crisol_named_tensors_add(state.get(), "b", x.get()), CRISOL_INVALID_ARGUMENT, {"'b' already"});
  refused(crisol_named_tensors_add(state.get(), nullptr, x.get()), CRISOL_INVALID_ARGUMENT, {"name is null"});
  std::int32_t count = 0;
  OK(crisol_named_tensors_count(state.get(), &count));
  CHECK(count == 2);
  const char* name = nullptr;
  OK(crisol_named_tensors_item(state.get(), 1, &name, found.place()));
  CHECK(std::string(name) == "a");
  CHECK(values_of(found.get()) == Floats{1, 2, 3});
  OK(crisol_named_tensors_item(state.get(), 0, &name, nullptr));
  CHECK(std::string(name) == "b");
  refused(crisol_named_tensors_item(state.get(), 2, &name, nullptr), CRISOL_INVALID_ARGUMENT, {"tensor 2 of 2"});
  CHECK(state.values("b") == Floats{1, 2, 3});
  refused(crisol_named_tensors_get(state.get(), "c", found.place()), CRISOL_INVALID_ARGUMENT,
          {"no tensor 'c'", "there are 2: 'b', 'a'"});
}

TEST_CASE("C: states of an optimizer, a schedule and an average go on") {
  Training first, second;
  first.step();
  first.step();
  State optimizer, schedule, ema, none;
  OK(crisol_optimizer_state_dict(first.adam, optimizer.place()));
  OK(crisol_schedule_state_dict(first.schedule, schedule.place()));
  OK(crisol_ema_state_dict(first.ema, ema.place()));
  CHECK(optimizer.values("exp_avg.0").size() == 2);
  crisol_set_grad_enabled(0);
  OK(crisol_tensor_copy(second.p.get(), first.p.get()));
  crisol_set_grad_enabled(1);
  OK(crisol_optimizer_load_state_dict(second.adam, optimizer.get()));
  OK(crisol_schedule_load_state_dict(second.schedule, schedule.get()));
  OK(crisol_ema_load_state_dict(second.ema, ema.get()));
  double rate = 0;
  OK(crisol_schedule_last_lr(second.schedule, 0, &rate));
  CHECK(rate == 0.025);
  first.step();
  second.step();
  CHECK(values_of(first.p.get()) == values_of(second.p.get()));
  OK(crisol_ema_apply(first.ema));
  OK(crisol_ema_apply(second.ema));
  CHECK(values_of(first.p.get()) == values_of(second.p.get()));

  OK(crisol_named_tensors_create(none.place()));
  const Floats before = values_of(second.p.get());
  refused(crisol_optimizer_load_state_dict(second.adam, none.get()), CRISOL_INVALID_ARGUMENT, {"missing: exp_avg.0"});
  refused(crisol_schedule_load_state_dict(second.schedule, none.get()), CRISOL_INVALID_ARGUMENT, {"missing: steps"});
  OK(crisol_ema_restore(second.ema));
  refused(crisol_ema_load_state_dict(second.ema, none.get()), CRISOL_INVALID_ARGUMENT, {"missing: average.0"});
  refused(crisol_ema_load_state_dict(second.ema, nullptr), CRISOL_INVALID_ARGUMENT, {"state is null"});
  refused(crisol_optimizer_state_dict(nullptr, none.place()), CRISOL_INVALID_ARGUMENT, {"optimizer is null"});
}

TEST_CASE("C: the state of a schedule with a metric") {
  Training training;
  crisol_schedule *first = nullptr, *second = nullptr;
  OK(crisol_reduce_lr_on_plateau(training.adam, 0, 0.5, 0, 0, 1, 0, 0, &first));
  OK(crisol_reduce_lr_on_plateau(training.adam, 0, 0.5, 0, 0, 1, 0, 0, &second));
  OK(crisol_schedule_step_metric(first, 3));
  State state;
  OK(crisol_schedule_state_dict(first, state.place()));
  OK(crisol_schedule_load_state_dict(second, state.get()));
  OK(crisol_schedule_step_metric(second, 3));  // No better than the 3 in the state.
  double rate = 0;
  OK(crisol_schedule_last_lr(second, 0, &rate));
  CHECK(rate == 0.05);
  crisol_schedule_destroy(first);
  crisol_schedule_destroy(second);
}

TEST_CASE("C: the state of a model") {
  crisol_model *first = nullptr, *second = nullptr;
  OK(crisol_model_create("row_lstm", 3, here, &first));
  OK(crisol_model_create("row_lstm", 3, here, &second));
  State state, part;
  OK(crisol_model_state_dict(first, state.place()));
  OK(crisol_model_load_state_dict(second, state.get(), 1, nullptr, nullptr));
  State same;
  OK(crisol_model_state_dict(second, same.place()));
  CHECK(same.values("fc.bias") == state.values("fc.bias"));
  OK(crisol_named_tensors_create(part.place()));
  Handle ones({1, 1, 1}, {3});
  OK(crisol_named_tensors_add(part.get(), "fc.bias", ones.get()));
  OK(crisol_named_tensors_add(part.get(), "nonsense", ones.get()));
  refused(crisol_model_load_state_dict(second, part.get(), 1, nullptr, nullptr), CRISOL_INVALID_ARGUMENT,
          {"unexpected", "nonsense"});
  CHECK(same.values("fc.bias") == state.values("fc.bias"));
  std::int32_t missing = 0, unexpected = 0;
  OK(crisol_model_load_state_dict(second, part.get(), 0, &missing, &unexpected));
  CHECK(missing == 5);
  CHECK(unexpected == 1);
  CHECK(same.values("fc.bias") == Floats{1, 1, 1});  // The state is over the model's memory.
  crisol_model_destroy(first);
  crisol_model_destroy(second);
}

TEST_CASE("C: texts by name, and files with them") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/state.safetensors";
  crisol_metadata *texts = nullptr, *read = nullptr;
  OK(crisol_metadata_create(&texts));
  OK(crisol_metadata_set(texts, "b", "1"));
  OK(crisol_metadata_set(texts, "a", "2"));
  OK(crisol_metadata_set(texts, "b", "3"));
  refused(crisol_metadata_set(texts, "c", nullptr), CRISOL_INVALID_ARGUMENT, {"text is null"});
  State state, loaded;
  OK(crisol_named_tensors_create(state.place()));
  Handle x({1, 2, 3}, {3});
  OK(crisol_named_tensors_add(state.get(), "x", x.get()));
  OK(crisol_save_named_tensors(file.c_str(), state.get(), texts));
  OK(crisol_load_named_tensors(file.c_str(), here, loaded.place(), &read));
  CHECK(loaded.values("x") == Floats{1, 2, 3});
  std::int32_t count = 0;
  OK(crisol_metadata_count(read, &count));
  CHECK(count == 2);
  const char *name = nullptr, *text = nullptr;
  OK(crisol_metadata_item(read, 1, &name, &text));
  CHECK(std::string(name) == "b");
  CHECK(std::string(text) == "3");
  refused(crisol_metadata_item(read, 2, &name, nullptr), CRISOL_INVALID_ARGUMENT, {"text 2 of 2"});
  OK(crisol_metadata_get(read, "a", &text));
  CHECK(std::string(text) == "2");
  OK(crisol_metadata_get(read, "c", &text));
  CHECK(text == nullptr);
  OK(crisol_load_named_tensors(file.c_str(), here, loaded.place(), nullptr));
  refused(crisol_load_named_tensors("/nowhere/state.safetensors", here, loaded.place(), nullptr), CRISOL_IO,
          {"/nowhere/state.safetensors"});
  refused(crisol_save_named_tensors(file.c_str(), nullptr, nullptr), CRISOL_INVALID_ARGUMENT, {"tensors is null"});
  crisol_metadata_destroy(texts);
  crisol_metadata_destroy(read);
}

TEST_CASE("C: a checkpoint of a training") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/checkpoint.safetensors";
  OK(crisol_manual_seed(9));
  Training training;
  training.step();
  State state;
  Handle random;
  const std::int64_t five = 5;
  OK(crisol_tensor_rand(here, 1, &five, random.place()));
  std::uint64_t seed = 0, counter = 0;
  OK(crisol_generator_state(here, &seed, &counter));
  CHECK(seed == 9);
  CHECK(counter == 2);
  crisol_checkpoint *saved = nullptr, *loaded = nullptr;
  crisol_metadata* texts = nullptr;
  OK(crisol_checkpoint_create(&saved));
  OK(crisol_optimizer_state_dict(training.adam, state.place()));
  OK(crisol_checkpoint_set(saved, "optimizer", state.get()));
  refused(crisol_checkpoint_set(saved, "optimiser", state.get()), CRISOL_INVALID_ARGUMENT,
          {"no part 'optimiser'", "model, optimizer, schedule, carried, data"});
  OK(crisol_checkpoint_set_generator(saved, seed, counter));
  OK(crisol_metadata_create(&texts));
  OK(crisol_metadata_set(texts, "epoch", "3"));
  OK(crisol_checkpoint_set_metadata(saved, texts));
  OK(crisol_checkpoint_save(saved, file.c_str()));

  OK(crisol_tensor_rand(here, 1, &five, random.place()));
  const Floats expected = values_of(random.get());
  OK(crisol_checkpoint_load(file.c_str(), here, &loaded));
  State optimizer, empty;
  OK(crisol_checkpoint_get(loaded, "optimizer", optimizer.place()));
  CHECK(optimizer.values("exp_avg.0") == state.values("exp_avg.0"));
  OK(crisol_checkpoint_get(loaded, "data", empty.place()));
  std::int32_t count = -1;
  OK(crisol_named_tensors_count(empty.get(), &count));
  CHECK(count == 0);
  seed = counter = 0;
  OK(crisol_checkpoint_generator(loaded, &seed, &counter));
  OK(crisol_set_generator_state(here, seed, counter));
  OK(crisol_tensor_rand(here, 1, &five, random.place()));
  CHECK(values_of(random.get()) == expected);
  crisol_metadata* read = nullptr;
  OK(crisol_checkpoint_metadata(loaded, &read));
  const char* text = nullptr;
  OK(crisol_metadata_get(read, "epoch", &text));
  CHECK(std::string(text) == "3");

  crisol_checkpoint* none = nullptr;
  refused(crisol_checkpoint_load((folder.path() + "/none").c_str(), here, &none), CRISOL_IO, {"/none"});
  refused(crisol_checkpoint_save(nullptr, file.c_str()), CRISOL_INVALID_ARGUMENT, {"checkpoint is null"});
  refused(crisol_generator_state(here, nullptr, &counter), CRISOL_INVALID_ARGUMENT, {"seed is null"});
  CHECK(none == nullptr);
  crisol_metadata_destroy(read);
  crisol_metadata_destroy(texts);
  crisol_checkpoint_destroy(saved);
  crisol_checkpoint_destroy(loaded);
}

TEST_CASE("C: arrays of NumPy") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/x.npy";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  header += '\n';
  const float values[] = {1.5f, -2};
  std::string bytes(sizeof values, '\0');
  std::memcpy(bytes.data(), values, sizeof values);
  std::ofstream(file, std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << bytes;
  Handle x;
  OK(crisol_load_npy(file.c_str(), here, x.place()));
  CHECK(values_of(x.get()) == Floats{1.5f, -2});
  State arrays;
  refused(crisol_load_npz(file.c_str(), here, arrays.place()), CRISOL_IO, {"[load_npz]"});
  refused(crisol_load_npy("/nowhere/x.npy", here, x.place()), CRISOL_IO, {"/nowhere/x.npy"});
}
