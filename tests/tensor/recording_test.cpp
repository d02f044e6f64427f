// Recorded work gives the same results as a direct call of the work.
#include "crisol/recording.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr ReplayBy ways[] = {ReplayBy::launches, ReplayBy::command_buffer};

bool has_command_buffers() { return Device().info().has_extension("cl_khr_command_buffer"); }

/// Runs `check` with each replay method of the device.
template <class Check>
void by_each_way(const Check& check) {
  for (const ReplayBy by : ways) {
    if (by == ReplayBy::command_buffer && !has_command_buffers()) continue;
    CAPTURE(by == ReplayBy::command_buffer);
    check(by);
  }
}

/// A small network with every layer that has a state, its optimiser, and the storage of its batches.
struct Training {
  nn::Sequential net{nn::Conv2d(1, 4, 3), nn::BatchNorm2d(4), nn::ReLU(),       nn::Dropout(0.3),
                     nn::MaxPool2d({2}),  nn::Flatten(),      nn::Linear(36, 3)};
  optim::Adam optimizer{net.parameters(), {0.01}};
  Tensor images = zeros({2, 1, 8, 8}), labels = zeros({2}, DType::i64), loss;

  void step() {
    loss = cross_entropy(net(images), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  void load(int batch) {
    images.copy_from(tensor_of(random_values(static_cast<std::uint64_t>(batch), 128), {2, 1, 8, 8}));
    labels.copy_from(from_vector<std::int64_t>({batch % 3, (batch + 1) % 3}));
  }
};

/// The losses of all steps, and the state after them.
struct Outcome {
  std::vector<float> values;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class Step>
Outcome train(const Step& step_of) {
  manual_seed(5);
  Training training;
  Outcome outcome;
  for (int batch = 0; batch < (slow_device() ? 4 : 6); ++batch) {
    training.load(batch);
    if (batch == 3) training.optimizer.set_lr(0.002);
    step_of(training, batch);
    outcome.values.push_back(static_cast<float>(training.loss.item()));
  }
  for (const auto& [name, tensor] : training.net.state_dict())
    for (const double value : values_of(tensor)) outcome.values.push_back(static_cast<float>(value));
  return outcome;
}

Outcome train_recorded(ReplayBy by) {
  std::vector<Recording> recordings;
  return train([&](Training& training, int batch) {
    if (batch == 0) training.step();
    if (batch == 1) recordings.push_back(record([&] { training.step(); }, Device(), by));
    if (batch < 2) return;
    CHECK(recordings[0].in_command_buffer() == (by == ReplayBy::command_buffer));
    recordings[0].replay();
  });
}

}  // namespace

TEST_CASE("recording: training gives the bits of ordinary steps") {
  const Outcome expected = train([](Training& training, int) { training.step(); });
  by_each_way([&](ReplayBy by) { CHECK(train_recorded(by) == expected); });
}

TEST_CASE("recording: replays read what lies in the tensors, one after another without waiting") {
  by_each_way([](ReplayBy by) {
    Tensor x = tensor_of({1, 2, 3}, {3}), total = zeros({3});
    const Recording recording = record([&] { total.add_(mul(x, 2)); }, Device(), by);
    CHECK(recording.size() == 2);
    check_close(total, {2, 4, 6}, {0});
    for (int i = 0; i < 3; ++i) recording.replay();
    x.copy_from(tensor_of({0, 0, 10}, {3}));
    recording.replay();
    check_close(total, {8, 16, 44}, {0});
  });
}

TEST_CASE("recording: copies and fills of every size are commands") {
  by_each_way([](ReplayBy by) {
    const std::int64_t large = slow_device() ? 40 : 30000;
    Tensor x = full({large}, 3), small, copy, filled;
    const auto work = [&] {
      small = full({5}, 7);
      filled = full({large}, 2);
      copy = x.clone();
    };
    const Recording recording = record(work, Device(), by);
    for (Tensor* t : {&small, &filled, &copy}) t->fill_(-1);
    x.fill_(4);
    recording.replay();
    const auto all = [](const Tensor& t, double value) {
      const std::vector<double> values = values_of(t);
      return std::all_of(values.begin(), values.end(), [&](double v) { return v == value; });
    };
    CHECK(all(small, 7));
    CHECK(all(filled, 2));
    CHECK(all(copy, 4));
  });
}

TEST_CASE("recording: its memory is used again inside it, by nobody else, and given back") {
  const Device device;
  device.release_cached_memory();
  const std::uint64_t in_use = device.memory_stats().in_use;
  constexpr std::int64_t count = 3000;
  {
    const Tensor x = ones({count});
    const std::uint64_t one = device.memory_stats().in_use;
    Tensor y;
    const Recording recording = record([&] {
      y = x;
      for (int i = 0; i < 8; ++i) y = add(y, 1);  // Each result replaces the one before.
    });
    const MemoryStats after = device.memory_stats();
    CHECK(after.in_use == in_use + 2 * (one - in_use));
    CHECK(after.recorded > 0);
    CHECK(after.recorded <= 2 * (one - in_use));  // Less than eight tensors need.
    std::vector<Tensor> others;
    for (int i = 0; i < 8; ++i) others.push_back(full({count}, -5));
    recording.replay();
    for (const Tensor& other : others) CHECK(other.to_vector<float>()[count - 1] == -5);
    CHECK(y.to_vector<float>()[count - 1] == 9);
    y = Tensor();
    recording.replay();  // No tensor uses its result.
  }
  CHECK(device.memory_stats().in_use == in_use);
  CHECK(device.memory_stats().recorded == 0);
}

TEST_CASE("recording: a tensor that the work lets go of, and did not make, is there for each replay") {
  by_each_way([](ReplayBy by) {
    Tensor x = full({3000}, 2), y, z;
    const Recording recording = record(
        [&] {
          y = add(x, 1);
          x = Tensor();
          for (int i = 0; i < 4; ++i) z = full({3000}, 50);  // Takes memory that is free.
        },
        Device(), by);
    for (int i = 0; i < 2; ++i) {
      recording.replay();
      CHECK(y.to_vector<float>()[2999] == 3);
      CHECK(z.to_vector<float>()[2999] == 50);
    }
  });
}

TEST_CASE("recording: a kept copy of a weight is relied on until the weight is written") {
  manual_seed(3);
  nn::Sequential net{nn::Linear(40, 30), nn::ReLU(), nn::Linear(30, 2)};
  const Tensor x = tensor_of(random_values(1, 160), {4, 40});
  const NoGrad no_grad;
  Tensor y;
  const auto work = [&] { y = net(x); };
  for (int i = 0; i < 3; ++i) work();  // Weights that are used again are packed permanently.
  const Recording recording = record(work);
  const std::vector<double> expected = values_of(y);
  y.fill_(0);
  recording.replay();
  CHECK(values_of(y) == expected);

  Tensor weight = net.parameters()[0];
  weight.mul_(2);
  const std::vector<double> now = values_of(net(x));
  // CLBlast cannot be recorded, so the recorded products may come from another variant than those of `now`.
  const reference::Tolerance close{64};
  try {
    recording.replay();
    // If nothing was packed, the replay reads the weight itself.
    check_close(y, {4, 2}, now, close);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(std::string(error.what()).find("[replay] a weight was written since it was recorded") == 0);
  }
  const Recording again = record(work);
  y.fill_(0);
  again.replay();
  check_close(y, {4, 2}, now, close);
}

TEST_CASE("recording: ordinary work sees the weights that a replay wrote") {
  manual_seed(4);
  const Tensor x = tensor_of(random_values(1, 160), {4, 40}), target = zeros({4, 30});
  nn::Linear layer(40, 30);
  optim::SGD optimizer(layer.parameters(), {0.1});
  const auto step = [&] {
    optimizer.zero_grad();
    mse_loss(layer(x), target).backward();
    optimizer.step();
  };
  step();
  const Recording recording = record(step);
  const NoGrad no_grad;
  std::vector<double> before;
  for (int i = 0; i < 3; ++i) before = values_of(layer(x));  // Creates packed copies.
  recording.replay();
  const std::vector<double> after = values_of(layer(x));
  CHECK(after != before);
  check_close(layer(x), {4, 30}, values_of(matmul(x, layer.weight.transpose(0, 1)) + layer.bias), {100});
}

TEST_CASE("recording: what cannot be repeated is refused, and ordinary work goes on") {
  Tensor x = ones({3});
  const auto refused = [&](const char* text, const std::function<void()>& work) {
    CAPTURE(text);
    try {
      record(work);
      FAIL("it was recorded");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      CHECK(std::string(error.what()).find(text) != std::string::npos);
    }
    CHECK(sum(x).item() == 3);  // This thread no longer records.
  };
  refused("the host reads the values of a tensor", [&] { x.to_vector<float>(); });
  refused("values of the host's are written to a tensor", [&] { from_vector<float>({1, 2}); });
  refused("this thread is recording already", [&] { record([] {}); });
  refused("there is no work", nullptr);
  CHECK_THROWS_AS(record([] { throw std::string("the work's own"); }), std::string);
  CHECK(sum(x).item() == 3);
  for (const Device other : devices())
    if (other != Device() && other.info().has_compiler)
      refused("is recorded", [&] { full({3}, 1, DType::f32, other); });
  if (!has_command_buffers())
    CHECK_THROWS_WITH_AS(record([&] { x.add_(0); }, Device(), ReplayBy::command_buffer),
                         doctest::Contains("cl_khr_command_buffer"), Error);
}

TEST_CASE("recording: a profile sees each kernel of a replay") {
  Tensor x = ones({3});
  const Recording recording = record([&] { x.add_(1); });
  const Profile profile;
  recording.replay();
  recording.replay();
  CHECK(sum(x).item() == 12);
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows()) launches += row.launches;
  CHECK(launches >= 3);
}

TEST_CASE("recording: nothing recorded is nothing replayed") {
  const Recording recording = record([] {});
  CHECK(recording.size() == 0);
  recording.replay();
}
