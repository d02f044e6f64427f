// Training on several ranks against one process that sees all samples.
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "crisol/replay_calls.h"
#include "dist/parts.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct Net : nn::Module {
  nn::Linear first{12, 33}, second{33, 7}, third{7, 3};
  Net() {
    register_module("first", first);
    register_module("second", second);
    register_module("third", third);
  }
  Tensor forward(const Tensor& x) override { return third(relu(second(relu(first(x))))); }
};

constexpr std::int64_t samples = 22;

struct Data {
  Tensor x, labels;
};

// The same on every rank.
Data data() {
  manual_seed(5);
  Data all{randn({samples, 12}), zeros({samples}, DType::i64)};
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) labels.push_back(i % 3);
  all.labels.copy_from(labels);
  return all;
}

std::vector<float> weights_of(const nn::Module& module) {
  std::vector<float> all;
  for (const Tensor& p : module.parameters()) {
    const std::vector<float> own = p.to_vector<float>();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// This rank's part of the samples.
Data own_part(const Data& all) {
  const Part part(samples);
  return {part.of(all.x), part.of(all.labels)};
}

struct How {
  dist::DataParallelOptions options = {};
  bool arena = true;                     ///< The optimiser is made before the first backward.
  std::optional<ReplayBy> replays = {};  ///< From the second step on, the steps are replays of a captured one.
};

/// Weights after some steps of SGD with momentum on all ranks.
std::vector<float> train(const How& how, int steps) {
  manual_seed(17 + (dist::rank() == 0 ? 0 : 1));  // The other ranks start elsewhere, and get the weights of rank 0.
  Net net;
  const Data own = own_part(data());
  std::unique_ptr<optim::SGD> optimizer;
  const auto make = [&] {
    optimizer = std::make_unique<optim::SGD>(net.parameters(), optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
  };
  if (how.arena) make();
  dist::DataParallel model(net, how.options);
  model.set_weight(static_cast<double>(own.x.size(0)));
  const auto step = [&] {
    if (optimizer != nullptr) optimizer->zero_grad();
    cross_entropy(model(own.x), own.labels).backward();
    if (optimizer == nullptr) make();
    optimizer->step();
  };
  std::optional<CapturedGraph> graph;
  for (int i = 0; i < steps; ++i) {
    if (i == 0 || !how.replays)
      step();
    else if (i == 1)
      graph = capture(step, Device(), *how.replays);
    else
      graph->replay();
  }
  model.check_weights();
  return weights_of(net);
}

std::vector<float> train_alone(int steps) {
  manual_seed(17);
  Net net;
  const Data all = data();
  optim::SGD optimizer(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    cross_entropy(net(all.x), all.labels).backward();
    optimizer.step();
  }
  return weights_of(net);
}

}  // namespace

TEST_CASE("dist: training on all ranks gives the weights of one process, and the same bits each time") {
  const std::vector<float> alone = train_alone(20);
  const std::vector<float> together = train({}, 20);
  CHECK(difference(alone, together) < 1e-5);
  CHECK(difference(together, train({}, 20)) == 0);
  // A sum does not depend on the buckets.
  for (const bool overlap : {true, false})
    for (const bool arena : {true, false}) {
      CAPTURE(overlap);
      CAPTURE(arena);
      const How how{{.bucket_bytes = 1000, .first_bucket_bytes = 100, .overlap = overlap, .check_every = 3}, arena};
      CHECK(difference(together, train(how, 20)) == 0);
    }
}

TEST_CASE("dist: a captured step is cut at the buckets, and its replays give the bits of ordinary steps") {
  const std::vector<float> called = train({}, 9);
  const dist::DataParallelOptions small{.bucket_bytes = 1000, .first_bucket_bytes = 100, .check_every = 4};
  dist::DataParallelOptions late = small;
  late.overlap = false;
  std::vector<ReplayBy> ways{ReplayBy::launches};
  if (Device().info().has_extension("cl_khr_command_buffer")) ways.push_back(ReplayBy::command_buffer);
  for (const ReplayBy by : ways)
    for (const dist::DataParallelOptions& options : {dist::DataParallelOptions(), small, late})
      for (const bool arena : {true, false}) {
        CAPTURE(options.overlap);
        CAPTURE(options.bucket_bytes);
        CAPTURE(arena);
        CHECK(difference(called, train({options, arena, by}, 9)) == 0);
      }
}

TEST_CASE("dist: a replay sums the last layer's gradients before it queues the first layer's kernels") {
  Net net;
  optim::SGD optimizer(net.parameters(), 0.1);
  auto model = std::make_unique<dist::DataParallel>(
      net, dist::DataParallelOptions{.bucket_bytes = 2000, .first_bucket_bytes = 100});
  const Tensor factor = full({}, dist::rank() + 2.0), x = ones({1, 12});
  int summed = 0;
  double average = (dist::world() + 3) / 2.0;  // Of the ranks' gradients 2, 3, …
  const auto step = [&] {
    optimizer.zero_grad();
    const Tensor hidden = relu(net.first(x));
    hidden.register_hook([&](const Tensor&) {
      call_in_replays([&](const std::exception_ptr&) {
        const int before = summed;
        for (int i = 0; i < 60000 && summed == before; ++i) {
          if (std::abs(net.third.bias.grad().to_vector<float>()[2] - average) < 1e-6)
            ++summed;
          else
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
      return Tensor();
    });
    (sum(net.third(relu(net.second(hidden)))) * factor).backward();
  };
  step();
  const CapturedGraph graph = capture(step);
  CHECK(summed == 2);
  Tensor(factor).mul_(3.0);
  average *= 3;
  graph.replay();
  CHECK(summed == 3);
  CHECK(net.third.bias.grad().to_vector<float>()[0] == doctest::Approx(average));
  // A replay uses the weights of the present ranks.
  model->set_weight(dist::rank() == 0 ? 1 : 0);
  average = 6;
  graph.replay();
  CHECK(net.third.bias.grad().to_vector<float>()[0] == doctest::Approx(6));
  model.reset();
  check_error([&] { graph.replay(); }, {"[DataParallel] a captured step averages", "an object that was destroyed"});
}

TEST_CASE("dist: gradients are the weighted average, and stay so when several passes add up") {
  Net net;
  const dist::DataParallelOptions options{.bucket_bytes = 2000, .first_bucket_bytes = 200};
  dist::DataParallel model(net, options);
  CHECK(model.buckets() == 3);
  const auto pass = [&](double factor) { (sum(net.third.bias) * factor + 0.0 * sum(net(ones({1, 12})))).backward(); };
  const auto gradient = [&] { return net.third.bias.grad().to_vector<float>()[1]; };
  const int world = dist::world();
  const double mean = (world - 1) / 2.0;
  pass(dist::rank());
  CHECK(gradient() == doctest::Approx(mean));
  pass(dist::rank());
  CHECK(gradient() == doctest::Approx(2 * mean));
  net.zero_grad();
  model.set_sync(false);
  pass(dist::rank());
  CHECK(gradient() == doctest::Approx(dist::rank()));
  model.set_sync(true);
  pass(1);
  CHECK(gradient() == doctest::Approx(mean + 1));
  net.zero_grad();
  model.set_weight(dist::rank() + 1);
  pass(10);
  CHECK(gradient() == doctest::Approx(10));
  net.zero_grad();
  if (dist::rank() == 0 && world > 1) {
    model.backward_without_samples();
  } else {
    pass(4);
  }
  CHECK(gradient() == doctest::Approx(4));
  check_error([&] { model.set_weight(-1); }, {"the weight -1 must be 0 or more"});
}

TEST_CASE("dist: a parameter without a gradient on one rank is named on all") {
  if (dist::world() == 1) return;
  Net net;
  dist::DataParallel model(net);
  const Tensor x = ones({2, 12});
  check_error(
      [&] {
        Tensor loss = dist::rank() == 1 ? sum(net.second(net.first(x))) : sum(net(x));
        loss.backward();
      },
      {"[DataParallel] the parameter third.weight of shape (3, 7) got no gradient on rank 1, but on rank 0"});
  net.zero_grad();
  // Where no rank has a gradient, it is no error.
  sum(net.second(net.first(x))).backward();
  CHECK(!net.third.weight.grad().defined());
  CHECK(net.second.weight.grad().defined());
}

TEST_CASE("dist: the last layer's gradients are summed while backward goes on to the first layer") {
  Net net;
  optim::SGD optimizer(net.parameters(), 0.1);
  dist::DataParallel model(net, {.bucket_bytes = 2000, .first_bucket_bytes = 100});
  const Tensor hidden = relu(net.first(ones({1, 12})));
  const Tensor loss = sum(net.third(relu(net.second(hidden)))) * static_cast<double>(dist::rank() + 2);
  const double average = (dist::world() + 3) / 2.0;  // Of the ranks' gradients 2, 3, …
  bool summed = false;
  hidden.register_hook([&](const Tensor&) {
    // backward() has not computed the gradients of the first layer. It waits here until those of the last layer are
    // averaged.
    for (int i = 0; i < 60000 && !summed; ++i) {
      summed = std::abs(net.third.bias.grad().to_vector<float>()[2] - average) < 1e-6;
      if (!summed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(!net.first.weight.grad().defined());
  });
  loss.backward();
  CHECK(summed);
  CHECK(net.first.weight.grad().defined());
}

TEST_CASE("dist: other models, buckets and passes are refused") {
  if (dist::world() == 1) return;
  nn::Linear small(3, dist::rank() == 0 ? 4 : 5);
  check_error([&] { const dist::DataParallel model(small); },
              {"[DataParallel] the ranks differ in their parameters: rank 0: weight f32 (4, 3), bias f32 (4); rank "
               "1: weight f32 (5, 3)"});
  nn::Linear same(3, 4);
  check_error([&] { const dist::DataParallel model(same, {.bucket_bytes = 100 + dist::rank()}); },
              {"the ranks differ in their buckets: rank 0: 100 bytes"});
  dist::DataParallel model(same);
  if (dist::rank() == 1) {
    const NoGrad no_grad;
    Tensor(same.bias).fill_(3);
  }
  check_error([&] { model.check_weights(); }, {"the weights of the ranks differ from those of rank 0: bias of rank 1"});
  check_error(
      [&] {
        const dist::DataParallel nothing(NamedTensors{{"x", zeros({3})}}, {});
      },
      {"none of the 1 parameters wants a gradient"});
  check_error(
      [&] {
        const dist::DataParallel ints(NamedTensors{{"x", zeros({3}, DType::i32)}}, {});
      },
      {"the parameter x is no leaf of f32, f16"});
}

TEST_CASE("dist: gradients of f16 are summed in f32 and rounded once") {
  const int world = dist::world();
  std::vector<Tensor> of_ranks;
  for (int r = 0; r < world; ++r) of_ranks.push_back((arange(0, 40) / 1024.0 * (r + 1) + 1).to(DType::f16));
  Tensor mean = of_ranks[0].to(DType::f32);
  for (int r = 1; r < world; ++r) mean = mean + of_ranks[static_cast<std::size_t>(r)].to(DType::f32);
  mean = mean / static_cast<double>(world);
  const nn::Parameter w(zeros({40}, DType::f16));
  dist::DataParallel model(NamedTensors{{"w", w}}, {});
  (w * of_ranks[static_cast<std::size_t>(dist::rank())]).sum().backward();
  CHECK(w.grad().dtype() == DType::f16);
  CHECK(difference(w.grad().to(DType::f32).to_vector<float>(), mean.to_vector<float>()) <= 0.51 / 1024);
  model.check_weights();
}

TEST_CASE("dist: gradients of f64 are summed in f64, in and outside of an arena") {
  if (!Device().info().fp64) return;
  for (const bool in_arena : {false, true}) {
    CAPTURE(in_arena);
    const nn::Parameter w(ones({3}, DType::f64)), b(ones({2}));
    std::unique_ptr<optim::SGD> optimizer;
    if (in_arena) optimizer = std::make_unique<optim::SGD>(std::vector<Tensor>{w, b}, 1.0);
    dist::DataParallel model(NamedTensors{{"w", w}, {"b", b}}, {});
    model.set_weight(dist::rank() + 1);
    // f32 would lose the second term.
    (sum(w) * (1 + dist::rank() * 1e-12) + sum(b) * dist::rank()).backward();
    double weights = 0, mean = 0;
    for (int r = 0; r < dist::world(); ++r) weights += r + 1;
    for (int r = 0; r < dist::world(); ++r) mean += (r + 1) / weights * r;
    CHECK(w.grad().dtype() == DType::f64);
    CHECK(std::abs(w.grad().to_vector<double>()[2] - 1 - mean * 1e-12) < 1e-15);
    CHECK(b.grad().to_vector<float>()[1] == doctest::Approx(mean));
    if (in_arena) optimizer->step();
    model.check_weights();
  }
}

TEST_CASE("dist: buffers come from rank 0") {
  nn::BatchNorm2d norm(4);
  norm.running_mean.fill_(dist::rank() + 1.0);
  dist::DataParallel model(norm);
  CHECK(norm.running_mean.to_vector<float>()[3] == 1);
  norm.running_var.fill_(dist::rank() + 5.0);
  model.sync_buffers();
  CHECK(norm.running_var.to_vector<float>()[0] == 5);
}

TEST_CASE("dist: the samplers of all ranks together read each sample once, in the batches of one process") {
  for (const std::int64_t count : {0, 1, 5, 64, 130, 257})
    for (const int world : {1, 2, 3, 5}) {
      const auto whole = std::make_shared<io::RandomSampler>(count, 9);
      const std::vector<std::int64_t> expected = whole->order(3);
      const std::int64_t batch = 16;
      std::vector<std::set<std::int64_t>> batches(static_cast<std::size_t>((count + batch - 1) / batch));
      std::int64_t total = 0;
      for (int r = 0; r < world; ++r) {
        const io::ShardedSampler own(whole, batch, r, world);
        const std::vector<std::int64_t> order = own.order(3);
        CHECK(static_cast<std::int64_t>(order.size()) == own.size());
        CHECK(own.batches() == static_cast<std::int64_t>(batches.size()));
        total += own.size();
        for (std::size_t i = 0; i < order.size(); ++i)
          CHECK(batches[i / static_cast<std::size_t>(own.local_batch_size())].insert(order[i]).second);
      }
      CHECK(total == count);
      for (std::size_t b = 0; b < batches.size(); ++b) {
        const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(b * 16);
        const auto end = expected.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(b * 16 + 16), count);
        CHECK(batches[b] == std::set<std::int64_t>(begin, end));
      }
    }
  check_error([] { io::ShardedSampler(std::make_shared<io::SequentialSampler>(9), 2, 0, 3); },
              {"[ShardedSampler] a batch of 2 samples cannot be cut into 3 parts"});
}
