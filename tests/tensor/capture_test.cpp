// Captured work gives the same results as a direct call of the work.
#include "crisol/capture.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/text.h"
#include "crisol/crisol.h"
#include "crisol/replay_calls.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr ReplayBy ways[] = {ReplayBy::launches, ReplayBy::command_buffer};

// Wine's OpenCL.dll lists the extensions of the drivers, and gives out none of their functions.
bool has_command_buffers() {
#ifdef _WIN32
  return false;
#else
  return Device().info().has_extension("cl_khr_command_buffer");
#endif
}

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
                     nn::MaxPool2d(2),    nn::Flatten(),      nn::Linear(36, 3)};
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

Outcome train_captured(ReplayBy by) {
  std::vector<CapturedGraph> graphs;
  return train([&](Training& training, int batch) {
    if (batch == 0) training.step();
    if (batch == 1) graphs.push_back(capture([&] { training.step(); }, Device(), by));
    if (batch < 2) return;
    CHECK(graphs[0].in_command_buffer() == (by == ReplayBy::command_buffer));
    graphs[0].replay();
  });
}

}  // namespace

TEST_CASE("capture: training gives the bits of ordinary steps") {
  const Outcome expected = train([](Training& training, int) { training.step(); });
  by_each_way([&](ReplayBy by) { CHECK(train_captured(by) == expected); });
}

TEST_CASE("capture: replays read what lies in the tensors, one after another without waiting") {
  by_each_way([](ReplayBy by) {
    Tensor x = tensor_of({1, 2, 3}, {3}), total = zeros({3});
    const CapturedGraph graph = capture([&] { total.add_(mul(x, 2)); }, Device(), by);
    CHECK(graph.size() == 2);
    check_close(total, {2, 4, 6}, {0});
    for (int i = 0; i < 3; ++i) graph.replay();
    x.copy_from(tensor_of({0, 0, 10}, {3}));
    graph.replay();
    check_close(total, {8, 16, 44}, {0});
  });
}

TEST_CASE("capture: copies and fills of every size are commands") {
  by_each_way([](ReplayBy by) {
    const std::int64_t large = slow_device() ? 40 : 30000;
    Tensor x = full({large}, 3), small, copy, filled;
    const auto work = [&] {
      small = full({5}, 7);
      filled = full({large}, 2);
      copy = x.clone();
    };
    const CapturedGraph graph = capture(work, Device(), by);
    for (Tensor* t : {&small, &filled, &copy}) t->fill_(-1);
    x.fill_(4);
    graph.replay();
    const auto all = [](const Tensor& t, double value) {
      const std::vector<double> values = values_of(t);
      return std::all_of(values.begin(), values.end(), [&](double v) { return v == value; });
    };
    CHECK(all(small, 7));
    CHECK(all(filled, 2));
    CHECK(all(copy, 4));
  });
}

TEST_CASE("capture: its memory is used again inside it, by nobody else, and given back") {
  const Device device;
  device.release_cached_memory();
  const std::uint64_t in_use = device.memory_stats().in_use;
  constexpr std::int64_t count = 3000;
  {
    const Tensor x = ones({count});
    const std::uint64_t one = device.memory_stats().in_use;
    Tensor y;
    const CapturedGraph graph = capture([&] {
      y = x;
      for (int i = 0; i < 8; ++i) y = add(y, 1);  // Each result replaces the one before.
    });
    const MemoryStats after = device.memory_stats();
    CHECK(after.in_use == in_use + 2 * (one - in_use));
    CHECK(after.captured > 0);
    CHECK(after.captured <= 2 * (one - in_use));  // Less than eight tensors need.
    std::vector<Tensor> others;
    for (int i = 0; i < 8; ++i) others.push_back(full({count}, -5));
    graph.replay();
    for (const Tensor& other : others) CHECK(other.to_vector<float>()[count - 1] == -5);
    CHECK(y.to_vector<float>()[count - 1] == 9);
    y = Tensor();
    graph.replay();  // No tensor uses its result.
  }
  CHECK(device.memory_stats().in_use == in_use);
  CHECK(device.memory_stats().captured == 0);
}

TEST_CASE("capture: a tensor that the work lets go of, and did not make, is there for each replay") {
  by_each_way([](ReplayBy by) {
    Tensor x = full({3000}, 2), y, z;
    const CapturedGraph graph = capture(
        [&] {
          y = add(x, 1);
          x = Tensor();
          for (int i = 0; i < 4; ++i) z = full({3000}, 50);  // Takes memory that is free.
        },
        Device(), by);
    for (int i = 0; i < 2; ++i) {
      graph.replay();
      CHECK(y.to_vector<float>()[2999] == 3);
      CHECK(z.to_vector<float>()[2999] == 50);
    }
  });
}

TEST_CASE("capture: a kept copy of a weight is relied on until the weight is written") {
  manual_seed(3);
  nn::Sequential net{nn::Linear(40, 30), nn::ReLU(), nn::Linear(30, 2)};
  const Tensor x = tensor_of(random_values(1, 160), {4, 40});
  const NoGrad no_grad;
  Tensor y;
  const auto work = [&] { y = net(x); };
  for (int i = 0; i < 3; ++i) work();  // Weights that are used again are packed permanently.
  const CapturedGraph graph = capture(work);
  const std::vector<double> expected = values_of(y);
  y.fill_(0);
  graph.replay();
  CHECK(values_of(y) == expected);

  Tensor weight = net.parameters()[0];
  weight.mul_(2);
  const std::vector<double> now = values_of(net(x));
  const reference::Tolerance close{64};
  try {
    graph.replay();
    // If nothing was packed, the replay reads the weight itself.
    check_close(y, {4, 2}, now, close);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(std::string(error.what()).find("[replay] a weight was written since it was captured") == 0);
  }
  const CapturedGraph again = capture(work);
  y.fill_(0);
  again.replay();
  check_close(y, {4, 2}, now, close);
}

TEST_CASE("capture: ordinary work sees the weights that a replay wrote") {
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
  const CapturedGraph graph = capture(step);
  const NoGrad no_grad;
  std::vector<double> before;
  for (int i = 0; i < 3; ++i) before = values_of(layer(x));  // Creates packed copies.
  graph.replay();
  const std::vector<double> after = values_of(layer(x));
  CHECK(after != before);
  check_close(layer(x), {4, 30}, values_of(matmul(x, layer.weight.transpose(0, 1)) + layer.bias), {100});
}

TEST_CASE("capture: what cannot be repeated is refused, and ordinary work goes on") {
  Tensor x = ones({3});
  const auto refused = [&](const char* text, const std::function<void()>& work) {
    CAPTURE(text);
    try {
      capture(work);
      FAIL("it was captured");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      CHECK(std::string(error.what()).find(text) != std::string::npos);
    }
    CHECK(sum(x).item() == 3);  // This thread no longer captures.
  };
  refused("the host reads the values of a tensor", [&] { x.to_vector<float>(); });
  refused("values of the host's are written to a tensor", [&] { from_vector<float>({1, 2}); });
  refused("this thread is capturing already", [&] { capture([] {}); });
  refused("there is no work", nullptr);
  CHECK_THROWS_AS(capture([] { throw std::string("the work's own"); }), std::string);
  CHECK(sum(x).item() == 3);
  for (const Device other : devices())
    if (other != Device() && other.info().has_compiler)
      refused("is captured", [&] { full({3}, 1, DType::f32, other); });
  if (!has_command_buffers())
    CHECK_THROWS_WITH_AS(capture([&] { x.add_(0); }, Device(), ReplayBy::command_buffer),
                         doctest::Contains("cl_khr_command_buffer"), Error);
}

TEST_CASE("capture: a profile sees each kernel of a replay") {
  Tensor x = ones({3});
  const CapturedGraph graph = capture([&] { x.add_(1); });
  const Profile profile;
  graph.replay();
  graph.replay();
  CHECK(sum(x).item() == 12);
  std::int64_t launches = 0;
  for (const ProfileRow& row : profile.rows()) launches += row.launches;
  CHECK(launches >= 3);
}

TEST_CASE("capture: nothing captured is nothing replayed") {
  const CapturedGraph graph = capture([] {});
  CHECK(graph.size() == 0);
  graph.replay();
}

TEST_CASE("capture: a replay calls functions of the host between the commands") {
  by_each_way([](ReplayBy by) {
    Tensor x = ones({2});
    std::vector<std::string> seen;
    bool fails = false;
    const auto call = [&](std::exception_ptr error) {
      seen.push_back(error != nullptr ? "error" : std::to_string(static_cast<int>(x.to_vector<float>()[0])));
      if (fails && error == nullptr) fail(ErrorCode::io, "call", "no network");
    };
    const auto add = [&](double n) { x.add_(n); };
    const CapturedGraph graph = capture([&] { add(1), call_in_replays(call), add(10), call_in_replays(call); }, {}, by);
    graph.replay();
    CHECK(graph.size() == 2);
    CHECK(seen == std::vector<std::string>{"2", "12", "13", "23"});
    fails = true;
    check_error([&] { graph.replay(); }, {"[call] no network"}, ErrorCode::io);
    CHECK(seen == std::vector<std::string>{"2", "12", "13", "23", "24", "error", "error"});
    check_close(x, {24, 24}, {0});  // The work after the call was not queued.
  });
}
